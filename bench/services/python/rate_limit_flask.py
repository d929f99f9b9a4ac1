"""A customer is allowed a number of messages per hour (Flask, a connection per request). Each request is counted as well,
and a lost count does not matter."""

import os

import flask
import psycopg

from service import VARIANT, at_once, rows, setup

app = flask.Flask(__name__)


@app.post("/messages/<int:customer>")
def send(customer):
    with psycopg.connect(os.environ["DATABASE_URL"]) as db:
        lock = " FOR UPDATE" if VARIANT == "right" else ""
        found = db.execute("SELECT hourly, requests FROM customer WHERE id = %s" + lock, [customer]).fetchone()
        if VARIANT == "wrong":  # locks messages that are not there yet
            db.execute("SELECT id FROM message WHERE customer = %s FOR UPDATE", [customer])
        [sent] = db.execute("SELECT count(*) FROM message WHERE customer = %s", [customer]).fetchone()
        if sent < found[0]:
            db.execute("INSERT INTO message (customer, body) VALUES (%s, %s)", [customer, flask.request.get_data(as_text=True)])
        db.execute("UPDATE customer SET requests = %s WHERE id = %s", [found[1] + 1, customer])
    return ("", 204) if sent < found[0] else ("too many", 429)


setup("""
    CREATE TABLE customer (id int PRIMARY KEY, hourly int NOT NULL, requests int NOT NULL);
    CREATE TABLE message (id serial PRIMARY KEY, customer int NOT NULL, body text NOT NULL);
    INSERT INTO customer VALUES (1, 1, 0);
""")
at_once(*[lambda body=body: app.test_client().post("/messages/1", data=body) for body in ["first", "second"]])
[(sent,)] = rows("SELECT count(*) FROM message WHERE customer = 1")
assert sent <= 1, f"one message per hour, {sent} were sent"
