"""The last item is sold twice: look, then decrement."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE item (id int PRIMARY KEY, stock int NOT NULL);
    CREATE TABLE sale (id serial PRIMARY KEY, item int NOT NULL, buyer text NOT NULL);
    INSERT INTO item VALUES (1, 1);
""")


def buy(buyer):
    def work(db):
        with db.transaction():
            if VARIANT == "right":
                if db.execute("UPDATE item SET stock = stock - 1 WHERE id = 1 AND stock > 0").rowcount == 1:
                    db.execute("INSERT INTO sale (item, buyer) VALUES (1, %s)", [buyer])
                return
            [stock] = db.execute("SELECT stock FROM item WHERE id = 1").fetchone()
            if stock > 0:
                if VARIANT == "wrong":  # the arithmetic is right, the check is not
                    db.execute("UPDATE item SET stock = stock - 1 WHERE id = 1")
                else:
                    db.execute("UPDATE item SET stock = %s WHERE id = 1", [stock - 1])
                db.execute("INSERT INTO sale (item, buyer) VALUES (1, %s)", [buyer])
    return work


together(buy("ada"), buy("bob"))
buyers = [buyer for (buyer,) in rows("SELECT buyer FROM sale")]
assert len(buyers) <= 1, f"one item, sold to {buyers}"
