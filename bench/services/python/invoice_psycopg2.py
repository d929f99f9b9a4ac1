"""Invoices are numbered without gaps: a counter is read and written (psycopg2)."""

import os

import psycopg2

from service import VARIANT, at_once


def connect():
    return psycopg2.connect(os.environ["DATABASE_URL"])


def write_invoice(connection):
    with connection, connection.cursor() as db:
        if VARIANT == "right":
            db.execute("UPDATE counter SET next = next + 1 WHERE name = 'invoice' RETURNING next - 1")
            [number] = db.fetchone()
        else:
            db.execute("SELECT next FROM counter WHERE name = 'invoice'")
            [number] = db.fetchone()
            if VARIANT == "wrong":  # counts right, and uses the number that was read before
                db.execute("UPDATE counter SET next = next + 1 WHERE name = 'invoice'")
            else:
                db.execute("UPDATE counter SET next = %s WHERE name = 'invoice'", [number + 1])
        db.execute("INSERT INTO invoice (number) VALUES (%s)", [number])


first, second = connect(), connect()
with first, first.cursor() as db:
    db.execute("""
        CREATE TABLE counter (name text PRIMARY KEY, next int NOT NULL);
        CREATE TABLE invoice (id serial PRIMARY KEY, number int NOT NULL);
        INSERT INTO counter VALUES ('invoice', 1);
    """)
at_once(lambda: write_invoice(first), lambda: write_invoice(second))
with first, first.cursor() as db:
    db.execute("SELECT number FROM invoice ORDER BY number")
    numbers = [number for (number,) in db.fetchall()]
first.close()
second.close()
assert numbers == [1, 2], f"two invoices, numbered {numbers}"
