--
-- PostgreSQL database dump
--

\restrict RmDdnn7FYzYzThcwiMjxqLBpuXL5nv4zIqyLg4DroVH8VoKxuI7LypgOFqNeseF

-- Dumped from database version 15.18
-- Dumped by pg_dump version 15.18

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: audit; Type: SCHEMA; Schema: -; Owner: postgres
--

CREATE SCHEMA audit;


ALTER SCHEMA audit OWNER TO postgres;

--
-- Name: email; Type: DOMAIN; Schema: public; Owner: postgres
--

CREATE DOMAIN public.email AS text
	CONSTRAINT email_check CHECK ((VALUE ~ '^[^@]+@[^@]+$'::text));


ALTER DOMAIN public.email OWNER TO postgres;

--
-- Name: mood; Type: TYPE; Schema: public; Owner: postgres
--

CREATE TYPE public.mood AS ENUM (
    'sad',
    'ok',
    'happy'
);


ALTER TYPE public.mood OWNER TO postgres;

--
-- Name: point2; Type: TYPE; Schema: public; Owner: postgres
--

CREATE TYPE public.point2 AS (
	x double precision,
	y double precision
);


ALTER TYPE public.point2 OWNER TO postgres;

--
-- Name: logged(); Type: FUNCTION; Schema: audit; Owner: postgres
--

CREATE FUNCTION audit.logged() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public'
    AS $$
DECLARE
  o jsonb; n jsonb;
BEGIN
  IF TG_OP <> 'INSERT' THEN o := to_jsonb(OLD); END IF;
  IF TG_OP <> 'DELETE' THEN n := to_jsonb(NEW); END IF;
  INSERT INTO audit.log(what, old, new) VALUES (TG_TABLE_NAME || ':' || TG_OP, o, n);
  RETURN COALESCE(NEW, OLD);
END;
$$;


ALTER FUNCTION audit.logged() OWNER TO postgres;

--
-- Name: close_order(bigint); Type: PROCEDURE; Schema: public; Owner: postgres
--

CREATE PROCEDURE public.close_order(IN o bigint)
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE public.orders SET state = 'closed' WHERE id = o;
  IF NOT FOUND THEN RAISE EXCEPTION 'no order %', o USING ERRCODE = 'P0002'; END IF;
END $$;


ALTER PROCEDURE public.close_order(IN o bigint) OWNER TO postgres;

--
-- Name: keep_total(); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.keep_total() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE public.orders SET total = public.order_total(NEW.order_id) WHERE id = NEW.order_id;
  RETURN NEW;
END;
$$;


ALTER FUNCTION public.keep_total() OWNER TO postgres;

--
-- Name: order_total(bigint); Type: FUNCTION; Schema: public; Owner: postgres
--

CREATE FUNCTION public.order_total(o bigint) RETURNS numeric
    LANGUAGE sql STABLE
    AS $$
  SELECT coalesce(sum(l.quantity * p.price), 0) FROM public.order_line l JOIN public.product p ON p.id = l.product_id WHERE l.order_id = o
$$;


ALTER FUNCTION public.order_total(o bigint) OWNER TO postgres;

--
-- Name: FUNCTION order_total(o bigint); Type: COMMENT; Schema: public; Owner: postgres
--

COMMENT ON FUNCTION public.order_total(o bigint) IS 'sum of the lines';


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: log; Type: TABLE; Schema: audit; Owner: postgres
--

CREATE TABLE audit.log (
    at timestamp with time zone DEFAULT now(),
    who name DEFAULT CURRENT_USER,
    what text,
    old jsonb,
    new jsonb
);


ALTER TABLE audit.log OWNER TO postgres;

--
-- Name: customer; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.customer (
    id integer NOT NULL,
    name character varying(100) NOT NULL,
    mail public.email,
    mood public.mood DEFAULT 'ok'::public.mood NOT NULL,
    born date,
    tags text[] DEFAULT '{}'::text[],
    data jsonb,
    balance numeric(12,2) DEFAULT 0.00,
    created timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT customer_balance_check CHECK ((balance >= (0)::numeric)),
    CONSTRAINT name_not_blank CHECK ((length(btrim((name)::text)) > 0))
);


ALTER TABLE public.customer OWNER TO postgres;

--
-- Name: COLUMN customer.mood; Type: COMMENT; Schema: public; Owner: postgres
--

COMMENT ON COLUMN public.customer.mood IS 'how they feel';


--
-- Name: invoice_numbers; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.invoice_numbers
    START WITH 1000
    INCREMENT BY 10
    MINVALUE 1000
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.invoice_numbers OWNER TO postgres;

--
-- Name: orders; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.orders (
    id bigint NOT NULL,
    customer_id integer NOT NULL,
    number integer DEFAULT nextval('public.invoice_numbers'::regclass) NOT NULL,
    state text DEFAULT 'open'::text NOT NULL,
    total numeric DEFAULT 0,
    placed timestamp without time zone DEFAULT CURRENT_TIMESTAMP
);


ALTER TABLE public.orders OWNER TO postgres;

--
-- Name: TABLE orders; Type: COMMENT; Schema: public; Owner: postgres
--

COMMENT ON TABLE public.orders IS 'what people ordered; "quotes" and ''more''';


--
-- Name: big_orders; Type: VIEW; Schema: public; Owner: postgres
--

CREATE VIEW public.big_orders AS
 SELECT o.id,
    c.name,
    o.total
   FROM (public.orders o
     JOIN public.customer c ON ((c.id = o.customer_id)))
  WHERE (o.total > (100)::numeric);


ALTER TABLE public.big_orders OWNER TO postgres;

--
-- Name: customer_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

CREATE SEQUENCE public.customer_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


ALTER TABLE public.customer_id_seq OWNER TO postgres;

--
-- Name: customer_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: postgres
--

ALTER SEQUENCE public.customer_id_seq OWNED BY public.customer.id;


--
-- Name: order_line; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.order_line (
    order_id bigint NOT NULL,
    line smallint NOT NULL,
    product_id bigint NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT order_line_quantity_check CHECK ((quantity > 0))
);


ALTER TABLE public.order_line OWNER TO postgres;

--
-- Name: orders_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

ALTER TABLE public.orders ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.orders_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: product; Type: TABLE; Schema: public; Owner: postgres
--

CREATE TABLE public.product (
    id bigint NOT NULL,
    sku character(8) NOT NULL,
    title text NOT NULL,
    price numeric(10,2) NOT NULL,
    taxed numeric GENERATED ALWAYS AS ((price * 1.2)) STORED,
    picture bytea,
    weight real,
    span interval,
    uid uuid DEFAULT gen_random_uuid()
);


ALTER TABLE public.product OWNER TO postgres;

--
-- Name: product_id_seq; Type: SEQUENCE; Schema: public; Owner: postgres
--

ALTER TABLE public.product ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.product_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Name: totals; Type: MATERIALIZED VIEW; Schema: public; Owner: postgres
--

CREATE MATERIALIZED VIEW public.totals AS
 SELECT orders.customer_id,
    sum(orders.total) AS total
   FROM public.orders
  GROUP BY orders.customer_id
  WITH NO DATA;


ALTER TABLE public.totals OWNER TO postgres;

--
-- Name: customer id; Type: DEFAULT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.customer ALTER COLUMN id SET DEFAULT nextval('public.customer_id_seq'::regclass);


--
-- Data for Name: log; Type: TABLE DATA; Schema: audit; Owner: postgres
--

COPY audit.log (at, who, what, old, new) FROM stdin;
2026-11-15 18:03:59.396249+00	postgres	customer:INSERT	\N	{"id": 1, "born": "1990-02-28", "data": {"k": [1, 2, {"x": null}]}, "mail": "ann@example.com", "mood": "happy", "name": "Ann", "tags": ["a", "b c", null], "balance": 10.50, "created": "2026-11-15T18:03:59.396249+00:00"}
2026-11-15 18:03:59.396249+00	postgres	customer:INSERT	\N	{"id": 2, "born": null, "data": null, "mail": null, "mood": "sad", "name": "Bob\\tTab\\nLine \\\\ back", "tags": null, "balance": 0.00, "created": "2026-11-15T18:03:59.396249+00:00"}
2026-11-15 18:03:59.396249+00	postgres	customer:INSERT	\N	{"id": 3, "born": "2000-12-31", "data": [], "mail": "c@d", "mood": "ok", "name": "Çelik 日本", "tags": [], "balance": 99999.99, "created": "2026-11-15T18:03:59.396249+00:00"}
\.


--
-- Data for Name: customer; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.customer (id, name, mail, mood, born, tags, data, balance, created) FROM stdin;
1	Ann	ann@example.com	happy	1990-02-28	{a,"b c",NULL}	{"k": [1, 2, {"x": null}]}	10.50	2026-11-15 18:03:59.396249+00
2	Bob\tTab\nLine \\ back	\N	sad	\N	\N	\N	0.00	2026-11-15 18:03:59.396249+00
3	Çelik 日本	c@d	ok	2000-12-31	{}	[]	99999.99	2026-11-15 18:03:59.396249+00
\.


--
-- Data for Name: order_line; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.order_line (order_id, line, product_id, quantity) FROM stdin;
1	1	1	3
1	2	2	1
2	1	1	1
\.


--
-- Data for Name: orders; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.orders (id, customer_id, number, state, total, placed) FROM stdin;
3	3	1020	open	0	2026-11-15 18:03:59.414082
1	1	1000	open	149.97	2026-11-15 18:03:59.414082
2	2	1010	closed	9.99	2026-11-15 18:03:59.414082
\.


--
-- Data for Name: product; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.product (id, sku, title, price, picture, weight, span, uid) FROM stdin;
1	AB-1    	Thing	9.99	\\x00ff10	1.5	1 day 02:03:04	c61f3b5c-2957-4125-b49d-8eae4061a920
2	AB-2    	Other; thing	120.00	\N	\N	\N	db8bbb1b-503f-4747-9eb5-7c16f35cc2a3
\.


--
-- Name: customer_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.customer_id_seq', 3, true);


--
-- Name: invoice_numbers; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.invoice_numbers', 1020, true);


--
-- Name: orders_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.orders_id_seq', 3, true);


--
-- Name: product_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.product_id_seq', 2, true);


--
-- Name: customer customer_mail_key; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_mail_key UNIQUE (mail);


--
-- Name: customer customer_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.customer
    ADD CONSTRAINT customer_pkey PRIMARY KEY (id);


--
-- Name: order_line order_line_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_pkey PRIMARY KEY (order_id, line);


--
-- Name: orders orders_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_pkey PRIMARY KEY (id);


--
-- Name: product product_pkey; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_pkey PRIMARY KEY (id);


--
-- Name: product product_sku_key; Type: CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.product
    ADD CONSTRAINT product_sku_key UNIQUE (sku);


--
-- Name: customer_lower; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX customer_lower ON public.customer USING btree (lower((mail)::text));


--
-- Name: one_open; Type: INDEX; Schema: public; Owner: postgres
--

CREATE UNIQUE INDEX one_open ON public.orders USING btree (customer_id) WHERE (state = 'open'::text);


--
-- Name: orders_customer; Type: INDEX; Schema: public; Owner: postgres
--

CREATE INDEX orders_customer ON public.orders USING btree (customer_id, placed DESC);


--
-- Name: customer customer_audit; Type: TRIGGER; Schema: public; Owner: postgres
--

CREATE TRIGGER customer_audit AFTER INSERT OR DELETE OR UPDATE ON public.customer FOR EACH ROW EXECUTE FUNCTION audit.logged();


--
-- Name: order_line lines_total; Type: TRIGGER; Schema: public; Owner: postgres
--

CREATE TRIGGER lines_total AFTER INSERT OR UPDATE ON public.order_line FOR EACH ROW EXECUTE FUNCTION public.keep_total();


--
-- Name: order_line order_line_order_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_order_id_fkey FOREIGN KEY (order_id) REFERENCES public.orders(id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;


--
-- Name: order_line order_line_product_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.order_line
    ADD CONSTRAINT order_line_product_id_fkey FOREIGN KEY (product_id) REFERENCES public.product(id);


--
-- Name: orders orders_customer_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: postgres
--

ALTER TABLE ONLY public.orders
    ADD CONSTRAINT orders_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES public.customer(id) ON DELETE CASCADE;


--
-- Name: TABLE orders; Type: ACL; Schema: public; Owner: postgres
--

GRANT SELECT,INSERT ON TABLE public.orders TO app_user;


--
-- Name: totals; Type: MATERIALIZED VIEW DATA; Schema: public; Owner: postgres
--

REFRESH MATERIALIZED VIEW public.totals;


--
-- PostgreSQL database dump complete
--

\unrestrict RmDdnn7FYzYzThcwiMjxqLBpuXL5nv4zIqyLg4DroVH8VoKxuI7LypgOFqNeseF

