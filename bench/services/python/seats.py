"""A room is overbooked: count the bookings, insert one. The room itself is read first."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE room (id int PRIMARY KEY, seats int NOT NULL);
    CREATE TABLE booking (id serial PRIMARY KEY, room int NOT NULL REFERENCES room, guest text NOT NULL);
    INSERT INTO room VALUES (1, 1);
""")


def book(guest):
    def work(db):
        with db.transaction():
            lock = " FOR UPDATE" if VARIANT == "right" else ""
            [seats] = db.execute("SELECT seats FROM room WHERE id = 1" + lock).fetchone()
            if VARIANT == "wrong":  # locks bookings that are not there
                db.execute("SELECT id FROM booking WHERE room = 1 FOR UPDATE").fetchall()
            [taken] = db.execute("SELECT count(*) FROM booking WHERE room = 1").fetchone()
            if taken < seats:
                db.execute("INSERT INTO booking (room, guest) VALUES (1, %s)", [guest])
    return work


together(book("ada"), book("bob"))
guests = [guest for (guest,) in rows("SELECT guest FROM booking")]
assert len(guests) <= 1, f"one seat, {len(guests)} guests"
