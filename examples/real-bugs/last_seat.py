"""The last seat is sold twice.

Seen in odoo (#252960), medusa (#16569) and eventyay (#1398): count the seats that are taken, and insert a booking if there
is one left. Each booking is a row of its own, so nobody overwrites anybody: a write skew, which survives snapshot isolation
(REPEATABLE READ). SERIALIZABLE prevents it, or a lock on the event while counting.
"""

from bugs import rows, setup, together, transaction

BREAKS = {"read-committed": "write-skew", "repeatable-read": "write-skew"}
RIGHT = ["serializable"]

setup("""
    CREATE TABLE events (id int PRIMARY KEY, seats int NOT NULL);
    CREATE TABLE bookings (event int NOT NULL REFERENCES events, guest text PRIMARY KEY);
    INSERT INTO events VALUES (1, 2);
    INSERT INTO bookings VALUES (1, 'zoe');
""")


def book(db, guest):
    [left] = db.execute("""
        SELECT seats - (SELECT count(*) FROM bookings WHERE event = events.id) FROM events WHERE id = 1
    """).fetchone()
    if left > 0:
        db.execute("INSERT INTO bookings VALUES (1, %s)", [guest])


together(lambda db: transaction(db, book, "ada"), lambda db: transaction(db, book, "bob"))
guests = [guest for (guest,) in rows("SELECT guest FROM bookings ORDER BY guest")]
assert len(guests) <= 2, f"two seats, {len(guests)} guests: {guests}"
