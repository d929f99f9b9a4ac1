-- TPC-C by district (tpcc_by_district.sql) with three more programs: a product, a customer and a warehouse are added.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, section 8.
-- Published: serializable at SI, by movers; the method of Nagar and Jagannathan, CONCUR 2018, does not show it: add_warehouse
--   depends on how many customers and warehouses there are.
-- Two add_warehouse that do not see each other choose one number, and one of them fails. What add_customer adds in between
-- never makes the other one decide against a warehouse. A dependency graph shows neither.
-- Customers are found by number only. By last name, a payment that misses a new namesake and an order_status that sees the
-- namesake, but not the payment, are in no serial order.
CREATE TABLE warehouse (
  w_id int PRIMARY KEY,
  w_name varchar(10) NOT NULL,
  w_street_1 varchar(20) NOT NULL DEFAULT '',
  w_street_2 varchar(20) NOT NULL DEFAULT '',
  w_city varchar(20) NOT NULL DEFAULT '',
  w_state char(2) NOT NULL DEFAULT '',
  w_zip char(9) NOT NULL DEFAULT '',
  w_tax numeric(4, 4) NOT NULL,
  w_ytd numeric(12, 2) NOT NULL
);

CREATE TABLE district (
  d_w_id int REFERENCES warehouse,
  d_id int,
  d_name varchar(10) NOT NULL,
  d_street_1 varchar(20) NOT NULL DEFAULT '',
  d_street_2 varchar(20) NOT NULL DEFAULT '',
  d_city varchar(20) NOT NULL DEFAULT '',
  d_state char(2) NOT NULL DEFAULT '',
  d_zip char(9) NOT NULL DEFAULT '',
  d_tax numeric(4, 4) NOT NULL,
  d_ytd numeric(12, 2) NOT NULL,
  d_next_o_id int NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);

CREATE TABLE customer (
  c_w_id int,
  c_d_id int,
  c_id int,
  c_first varchar(16) NOT NULL,
  c_middle char(2) NOT NULL DEFAULT 'OE',
  c_last varchar(16) NOT NULL,
  c_street_1 varchar(20) NOT NULL DEFAULT '',
  c_street_2 varchar(20) NOT NULL DEFAULT '',
  c_city varchar(20) NOT NULL DEFAULT '',
  c_state char(2) NOT NULL DEFAULT '',
  c_zip char(9) NOT NULL DEFAULT '',
  c_phone char(16) NOT NULL DEFAULT '',
  c_since timestamp NOT NULL DEFAULT '2026-01-01',
  c_credit char(2) NOT NULL,
  c_credit_lim numeric(12, 2) NOT NULL DEFAULT 50000,
  c_discount numeric(4, 4) NOT NULL,
  c_balance numeric(12, 2) NOT NULL,
  c_ytd_payment numeric(12, 2) NOT NULL,
  c_payment_cnt int NOT NULL,
  c_delivery_cnt int NOT NULL,
  c_data varchar(500) NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id),
  FOREIGN KEY (c_w_id, c_d_id) REFERENCES district
);

CREATE TABLE history (
  h_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  h_c_id int NOT NULL,
  h_c_d_id int NOT NULL,
  h_c_w_id int NOT NULL,
  h_d_id int NOT NULL,
  h_w_id int NOT NULL,
  h_date timestamp NOT NULL,
  h_amount numeric(6, 2) NOT NULL,
  h_data varchar(24) NOT NULL,
  FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer,
  FOREIGN KEY (h_w_id, h_d_id) REFERENCES district
);

CREATE TABLE orders (
  o_w_id int,
  o_d_id int,
  o_id int,
  o_c_id int NOT NULL,
  o_entry_d timestamp NOT NULL,
  o_carrier_id int,
  o_ol_cnt int NOT NULL,
  o_all_local int NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id),
  FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES customer
);
CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

CREATE TABLE new_order (
  no_w_id int,
  no_d_id int,
  no_o_id int,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id),
  FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES orders
);

CREATE TABLE item (
  i_id int PRIMARY KEY,
  i_im_id int NOT NULL DEFAULT 1,
  i_name varchar(24) NOT NULL,
  i_price numeric(5, 2) NOT NULL,
  i_data varchar(50) NOT NULL
);

CREATE TABLE stock (
  s_w_id int REFERENCES warehouse,
  s_i_id int REFERENCES item,
  s_quantity int NOT NULL,
  s_dist_01 char(24) NOT NULL DEFAULT 'one',
  s_dist_02 char(24) NOT NULL DEFAULT 'two',
  s_dist_03 char(24) NOT NULL DEFAULT 'three',
  s_dist_04 char(24) NOT NULL DEFAULT 'four',
  s_dist_05 char(24) NOT NULL DEFAULT 'five',
  s_dist_06 char(24) NOT NULL DEFAULT 'six',
  s_dist_07 char(24) NOT NULL DEFAULT 'seven',
  s_dist_08 char(24) NOT NULL DEFAULT 'eight',
  s_dist_09 char(24) NOT NULL DEFAULT 'nine',
  s_dist_10 char(24) NOT NULL DEFAULT 'ten',
  s_ytd int NOT NULL DEFAULT 0,
  s_order_cnt int NOT NULL DEFAULT 0,
  s_remote_cnt int NOT NULL DEFAULT 0,
  s_data varchar(50) NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);

CREATE TABLE order_line (
  ol_w_id int,
  ol_d_id int,
  ol_o_id int,
  ol_number int,
  ol_i_id int NOT NULL,
  ol_supply_w_id int NOT NULL,
  ol_delivery_d timestamp,
  ol_quantity int NOT NULL,
  ol_amount numeric(6, 2) NOT NULL,
  ol_dist_info char(24) NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number),
  FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES orders,
  FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES stock
);

-- An order of some items, each from a warehouse that supplies it. Clause 2.4.
CREATE PROCEDURE new_order(w int, d int, c int, entered timestamp, items int[], supplies int[], quantities int[])
LANGUAGE plpgsql AS $$
DECLARE
  w_tax_rate numeric;
  d_tax_rate numeric;
  discount numeric;
  last_name text;
  credit text;
  o int;
  all_local int := 1;
  price numeric;
  item_name text;
  item_data text;
  left_over int;
  dist_info text;
  stock_data text;
  total numeric := 0;
BEGIN
  FOR n IN 1 .. array_length(items, 1) LOOP
    IF supplies[n] <> w THEN
      all_local := 0;
    END IF;
  END LOOP;
  SELECT w_tax INTO w_tax_rate FROM warehouse WHERE w_id = w;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
    RETURNING d_next_o_id - 1, d_tax INTO o, d_tax_rate;
  IF w_tax_rate IS NULL OR d_tax_rate IS NULL THEN
    RAISE EXCEPTION 'warehouse % has no district %', w, d;
  END IF;
  SELECT c_discount, c_last, c_credit INTO discount, last_name, credit
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  IF credit IS NULL THEN
    RAISE EXCEPTION 'there is no such customer';
  END IF;
  INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (w, d, o, c, entered, NULL, array_length(items, 1), all_local);
  INSERT INTO new_order (no_w_id, no_d_id, no_o_id) VALUES (w, d, o);
  FOR n IN 1 .. array_length(items, 1) LOOP
    SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = items[n];
    IF price IS NULL THEN
      RAISE EXCEPTION 'Item number is not valid';
    END IF;
    UPDATE stock SET
        s_quantity = CASE WHEN s_quantity >= quantities[n] + 10 THEN s_quantity - quantities[n]
                          ELSE s_quantity - quantities[n] + 91 END,
        s_ytd = s_ytd + quantities[n],
        s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + CASE WHEN supplies[n] = w THEN 0 ELSE 1 END
      WHERE s_w_id = supplies[n] AND s_i_id = items[n]
      RETURNING s_quantity, s_data,
        CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
               WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
               WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
      INTO left_over, stock_data, dist_info;
    IF left_over IS NULL THEN
      RAISE EXCEPTION 'warehouse % does not have item %', supplies[n], items[n];
    END IF;
    INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity,
        ol_amount, ol_dist_info)
      VALUES (w, d, o, n, items[n], supplies[n], NULL, quantities[n], quantities[n] * price, dist_info);
    total := total + quantities[n] * price;
    RAISE NOTICE '% of %, %, % left', quantities[n], item_name,
      CASE WHEN item_data LIKE '%ORIGINAL%' AND stock_data LIKE '%ORIGINAL%' THEN 'brand' ELSE 'generic' END, left_over;
  END LOOP;
  RAISE NOTICE 'order % of % (%): %', o, last_name, credit,
    round(total * (1 - discount) * (1 + w_tax_rate + d_tax_rate), 2);
END $$;

-- A customer pays, at home or at another warehouse. Clause 2.5.
CREATE PROCEDURE payment(w int, d int, c_w int, c_d int, c int, amount numeric, paid timestamp)
LANGUAGE plpgsql AS $$
DECLARE
  w_info text;
  d_info text;
  credit text;
  old_data text;
  left_over numeric;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w RETURNING w_name INTO w_info;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d RETURNING d_name INTO d_info;
  IF w_info IS NULL OR d_info IS NULL THEN
    RAISE EXCEPTION 'warehouse % has no district %', w, d;
  END IF;
  UPDATE customer SET
      c_balance = c_balance - amount,
      c_ytd_payment = c_ytd_payment + amount,
      c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c
    RETURNING c_credit, c_data, c_balance INTO credit, old_data, left_over;
  IF credit IS NULL THEN
    RAISE EXCEPTION 'there is no such customer';
  END IF;
  IF credit = 'BC' THEN
    UPDATE customer SET c_data = left(concat_ws(' ', c, c_d, c_w, d, w, amount) || '|' || old_data, 500)
      WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, c_d, c_w, d, w, paid, amount, w_info || '    ' || d_info);
  RAISE NOTICE '% has %', c, left_over;
END $$;

-- The last order of a customer. Clause 2.6.
CREATE PROCEDURE order_status(w int, d int, c int) LANGUAGE plpgsql AS $$
DECLARE
  first_name text;
  balance numeric;
  o int;
  entered timestamp;
  carrier int;
  line record;
BEGIN
  SELECT c_first, c_balance INTO first_name, balance FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  IF first_name IS NULL THEN
    RAISE EXCEPTION 'there is no such customer';
  END IF;
  RAISE NOTICE '% % has %', c, first_name, balance;
  SELECT max(o_id) INTO o FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c;
  IF o IS NULL THEN
    RETURN;
  END IF;
  SELECT o_entry_d, o_carrier_id INTO entered, carrier FROM orders WHERE o_w_id = w AND o_d_id = d AND o_id = o;
  RAISE NOTICE 'order % of %, carrier %', o, entered, carrier;
  FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line
              WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o ORDER BY ol_number LOOP
    RAISE NOTICE '% of % from %, %, delivered %', line.ol_quantity, line.ol_i_id, line.ol_supply_w_id, line.ol_amount,
      line.ol_delivery_d;
  END LOOP;
END $$;

-- The oldest order of a district is delivered. Clause 2.7.
CREATE PROCEDURE delivery(w int, d int, carrier int, delivered timestamp) LANGUAGE plpgsql AS $$
DECLARE
  o int;
  c int;
  total numeric;
BEGIN
  SELECT min(no_o_id) INTO o FROM new_order WHERE no_w_id = w AND no_d_id = d;
  IF o IS NULL THEN
    RETURN;
  END IF;
  DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = o;
  SELECT o_c_id INTO c FROM orders WHERE o_w_id = w AND o_d_id = d AND o_id = o;
  UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = o;
  UPDATE order_line SET ol_delivery_d = delivered WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
  SELECT sum(ol_amount) INTO total FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = o;
  UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
    WHERE c_w_id = w AND c_d_id = d AND c_id = c;
END $$;

-- How many items of the last twenty orders are running out. Clause 2.8.
CREATE PROCEDURE stock_level(w int, d int, threshold int) LANGUAGE plpgsql AS $$
DECLARE
  next_o int;
  low int;
BEGIN
  SELECT d_next_o_id INTO next_o FROM district WHERE d_w_id = w AND d_id = d;
  IF next_o IS NULL THEN
    RAISE EXCEPTION 'warehouse % has no district %', w, d;
  END IF;
  SELECT count(DISTINCT s_i_id) INTO low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id >= next_o - 20 AND ol_o_id < next_o AND s_quantity < threshold;
  RAISE NOTICE '% items are below %', low, threshold;
END $$;

-- A product that a warehouse has in stock.
CREATE PROCEDURE add_product(i int, label text, price numeric, w int, quantity int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO item (i_id, i_name, i_price, i_data) VALUES (i, label, price, 'plain');
  INSERT INTO stock (s_w_id, s_i_id, s_quantity, s_data) VALUES (w, i, quantity, 'plain');
END $$;

-- A customer of a district.
CREATE PROCEDURE add_customer(w int, d int, c int, first_name text, last_name text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO customer (c_w_id, c_d_id, c_id, c_first, c_last, c_credit, c_discount, c_balance, c_ytd_payment,
      c_payment_cnt, c_delivery_cnt, c_data)
    VALUES (w, d, c, first_name, last_name, 'GC', 0, 0, 0, 0, 0, '');
END $$;

-- Another warehouse with ten districts, if there are more than three customers for each one.
CREATE PROCEDURE add_warehouse(label text) LANGUAGE plpgsql AS $$
DECLARE
  customers int;
  warehouses int;
BEGIN
  SELECT count(*) INTO customers FROM customer;
  SELECT count(*) INTO warehouses FROM warehouse;
  IF customers > 3 * warehouses THEN
    INSERT INTO warehouse (w_id, w_name, w_tax, w_ytd) VALUES (warehouses + 1, label, 0, 0);
    FOR d IN 1 .. 10 LOOP
      INSERT INTO district (d_w_id, d_id, d_name, d_tax, d_ytd, d_next_o_id) VALUES (warehouses + 1, d, label, 0, 0, 1);
    END LOOP;
  END IF;
END $$;

INSERT INTO warehouse (w_id, w_name, w_tax, w_ytd) VALUES (1, 'north', 0.1, 60);
INSERT INTO district (d_w_id, d_id, d_name, d_tax, d_ytd, d_next_o_id) VALUES
  (1, 1, 'hill', 0.05, 30, 3), (1, 2, 'lake', 0.0725, 30, 2);
INSERT INTO customer (c_w_id, c_d_id, c_id, c_first, c_last, c_credit, c_discount, c_balance, c_ytd_payment, c_payment_cnt,
                      c_delivery_cnt, c_data) VALUES
  (1, 1, 1, 'ann', 'BARBARBAR', 'GC', 0.1, -10, 10, 1, 0, 'good'),
  (1, 1, 2, 'bob', 'BARBAROUGHT', 'BC', 0, -10, 10, 1, 0, 'bad'),
  (1, 1, 3, 'eve', 'BARBARBAR', 'GC', 0.25, -10, 10, 1, 0, 'good'),
  (1, 2, 1, 'joe', 'BARBARBAR', 'GC', 0.1, -10, 10, 1, 0, 'good'),
  (1, 2, 2, 'kim', 'BARBARBAR', 'GC', 0.1, -10, 10, 1, 0, 'good'),
  (1, 2, 3, 'lea', 'BARBARBAR', 'BC', 0.5, -10, 10, 1, 0, 'bad');
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) VALUES
  (1, 1, 1, 1, 1, '2026-01-01', 10, 'first'), (2, 1, 1, 1, 1, '2026-01-01', 10, 'first'),
  (3, 1, 1, 1, 1, '2026-01-01', 10, 'first'), (1, 2, 1, 2, 1, '2026-01-01', 10, 'first'),
  (2, 2, 1, 2, 1, '2026-01-01', 10, 'first'), (3, 2, 1, 2, 1, '2026-01-01', 10, 'first');
INSERT INTO item (i_id, i_name, i_price, i_data) VALUES
  (1, 'lamp', 20.00, 'ORIGINAL'), (2, 'chair', 35.50, 'plain'), (3, 'table', 99.99, 'ORIGINAL oak');
INSERT INTO stock (s_w_id, s_i_id, s_quantity, s_data) VALUES
  (1, 1, 30, 'ORIGINAL'), (1, 2, 12, 'ORIGINAL'), (1, 3, 50, 'plain');
INSERT INTO orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) VALUES
  (1, 1, 1, 1, '2026-01-02', 7, 2, 1), (1, 1, 2, 2, '2026-01-03', NULL, 1, 1), (1, 2, 1, 3, '2026-01-02', 7, 1, 1);
INSERT INTO new_order VALUES (1, 1, 2);
INSERT INTO order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity,
                        ol_amount, ol_dist_info) VALUES
  (1, 1, 1, 1, 1, 1, '2026-01-04', 5, 0, 'one'), (1, 1, 1, 2, 2, 1, '2026-01-04', 5, 0, 'one'),
  (1, 1, 2, 1, 3, 1, NULL, 5, 499.95, 'one'), (1, 2, 1, 1, 1, 1, '2026-01-04', 5, 0, 'two');
