-- Trades at a currency exchange, as they are placed, listed and looked at.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Brutschy and others, PLDI 2018).
-- Published: serializable at SI. Only save_trade writes.
CREATE TABLE trades (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  userid int NOT NULL,
  currency_from text NOT NULL,
  currency_to text NOT NULL,
  amount_sell numeric(12, 2) NOT NULL,
  amount_buy numeric(12, 2) NOT NULL,
  rate numeric(10, 4) NOT NULL,
  time_placed timestamp NOT NULL,
  country text NOT NULL
);
CREATE INDEX trades_time ON trades (time_placed);

CREATE PROCEDURE save_trade(who int, sold text, bought text, sell numeric, buy numeric, placed timestamp, origin text)
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trades (userid, currency_from, currency_to, amount_sell, amount_buy, rate, time_placed, country)
  VALUES (who, sold, bought, sell, buy, buy / sell, placed, origin);
END $$;

CREATE PROCEDURE list_trades(since timestamp) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT id, currency_from, currency_to, rate FROM trades WHERE time_placed >= since ORDER BY id LOOP
    RAISE NOTICE '%: % to % at %', one.id, one.currency_from, one.currency_to, one.rate;
  END LOOP;
END $$;

CREATE PROCEDURE view_trade(trade int) LANGUAGE plpgsql AS $$
DECLARE
  one trades%ROWTYPE;
BEGIN
  SELECT * INTO one FROM trades WHERE id = trade;
  RAISE NOTICE '% sells % % for % %', one.userid, one.amount_sell, one.currency_from, one.amount_buy, one.currency_to;
END $$;

CREATE PROCEDURE view_trade_user(trade int) LANGUAGE plpgsql AS $$
DECLARE
  who int;
BEGIN
  SELECT userid INTO who FROM trades WHERE id = trade;
  RAISE NOTICE '%', who;
END $$;

CREATE PROCEDURE count_trades() LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  SELECT count(*) INTO n FROM trades;
  RAISE NOTICE '%', n;
END $$;

CREATE PROCEDURE trade_time(trade int) LANGUAGE plpgsql AS $$
DECLARE
  placed timestamp;
BEGIN
  SELECT time_placed INTO placed FROM trades WHERE id = trade;
  RAISE NOTICE '%', placed;
END $$;

INSERT INTO trades (userid, currency_from, currency_to, amount_sell, amount_buy, rate, time_placed, country) VALUES
  (1, 'EUR', 'GBP', 1000.00, 747.10, 0.7471, '2026-01-24 10:27:44', 'FR'),
  (2, 'USD', 'EUR', 500.00, 460.00, 0.9200, '2026-01-25 09:00:00', 'US');
