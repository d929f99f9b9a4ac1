"""A shift needs a person: who is not alone on it may leave (psycopg's pool)."""

import os

from psycopg_pool import ConnectionPool

from service import VARIANT, at_once


def leave(pool, person):
    with pool.connection() as db:
        if VARIANT == "right":
            db.execute("SELECT id FROM shift WHERE id = 1 FOR UPDATE")
        if VARIANT == "wrong":  # its own row only
            db.execute("SELECT id FROM duty WHERE shift = 1 AND person = %s FOR UPDATE", [person])
        [people] = db.execute("SELECT count(*) FROM duty WHERE shift = 1").fetchone()
        if people > 1:
            db.execute("DELETE FROM duty WHERE shift = 1 AND person = %s", [person])


with ConnectionPool(os.environ["DATABASE_URL"], min_size=2, max_size=2) as pool:
    with pool.connection() as db:
        db.execute("""
            CREATE TABLE shift (id int PRIMARY KEY, day text NOT NULL);
            CREATE TABLE duty (id serial PRIMARY KEY, shift int NOT NULL REFERENCES shift, person text NOT NULL);
            INSERT INTO shift VALUES (1, 'monday');
            INSERT INTO duty (shift, person) VALUES (1, 'ada'), (1, 'bob');
        """)
    at_once(lambda: leave(pool, "ada"), lambda: leave(pool, "bob"))
    with pool.connection() as db:
        [people] = db.execute("SELECT count(*) FROM duty WHERE shift = 1").fetchone()
assert people >= 1, "the shift is empty"
