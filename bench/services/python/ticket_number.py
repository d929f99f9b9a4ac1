"""Tickets are numbered: the largest number and one."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE desk (id int PRIMARY KEY, name text NOT NULL);
    CREATE TABLE ticket (id serial PRIMARY KEY, desk int NOT NULL, number int NOT NULL);
    INSERT INTO desk VALUES (1, 'west');
    INSERT INTO ticket (desk, number) VALUES (1, 1);
""")


def draw(db):
    with db.transaction():
        lock = " FOR UPDATE" if VARIANT == "right" else " FOR SHARE" if VARIANT == "wrong" else ""
        db.execute("SELECT name FROM desk WHERE id = 1" + lock)
        [last] = db.execute("SELECT max(number) FROM ticket WHERE desk = 1").fetchone()
        db.execute("INSERT INTO ticket (desk, number) VALUES (1, %s)", [last + 1])


together(draw, draw)
numbers = [number for (number,) in rows("SELECT number FROM ticket")]
assert len(numbers) == len(set(numbers)), f"two tickets have one number: {numbers}"
