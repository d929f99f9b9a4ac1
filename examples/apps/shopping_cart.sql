-- The catalogue of a shop, and who its customers are.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Brutschy and others, PLDI 2018).
-- Published: serializable at SI, as nothing is written.
CREATE TABLE customers (username text PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL);
CREATE TABLE category (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE products (
  upc text PRIMARY KEY,
  category_id int NOT NULL REFERENCES category,
  title text NOT NULL,
  price numeric(8, 2) NOT NULL
);
CREATE INDEX products_category ON products (category_id);
CREATE TABLE stock (upc text PRIMARY KEY REFERENCES products, qty int NOT NULL);

CREATE PROCEDURE get_user(uname text) LANGUAGE plpgsql AS $$
DECLARE
  first text;
  last text;
BEGIN
  SELECT first_name, last_name INTO first, last FROM customers WHERE username = uname;
  RAISE NOTICE '% %', first, last;
END $$;

CREATE PROCEDURE products_by_category(kind int) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT upc, title, price FROM products WHERE category_id = kind ORDER BY upc LOOP
    RAISE NOTICE '% % %', one.upc, one.title, one.price;
  END LOOP;
END $$;

CREATE PROCEDURE product_by_upc(code text) LANGUAGE plpgsql AS $$
DECLARE
  what text;
  cost numeric;
  n int;
BEGIN
  SELECT title, price INTO what, cost FROM products WHERE upc = code;
  SELECT qty INTO n FROM stock WHERE upc = code;
  RAISE NOTICE '% for %, % left', what, cost, n;
END $$;

CREATE PROCEDURE categories() LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT id, name FROM category ORDER BY id LOOP
    RAISE NOTICE '% %', one.id, one.name;
  END LOOP;
END $$;

INSERT INTO customers VALUES ('ann', 'Ann', 'Smith');
INSERT INTO category VALUES (1, 'books'), (2, 'music');
INSERT INTO products VALUES ('b1', 1, 'Logic', 30.00), ('b2', 1, 'Sets', 25.50), ('m1', 2, 'Etudes', 12.00);
INSERT INTO stock VALUES ('b1', 3), ('b2', 0), ('m1', 7);
