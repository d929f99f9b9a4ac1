"""A page is opened: its author is paid, and its views are counted. Nobody minds a lost view; a lost credit is money."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE page (id int PRIMARY KEY, views int NOT NULL);
    CREATE TABLE author (id int PRIMARY KEY, credit int NOT NULL);
    INSERT INTO page VALUES (1, 0);
    INSERT INTO author VALUES (7, 100);
""")


def open_page(amount):
    def work(db):
        with db.transaction():
            [views] = db.execute("SELECT views FROM page WHERE id = 1").fetchone()
            if VARIANT == "right":
                db.execute("UPDATE author SET credit = credit + %s WHERE id = 7", [amount])
            else:
                [credit] = db.execute("SELECT credit FROM author WHERE id = 7").fetchone()
                if VARIANT == "wrong":  # looks again, which is not a lock
                    [credit] = db.execute("SELECT credit FROM author WHERE id = 7").fetchone()
                db.execute("UPDATE author SET credit = %s WHERE id = 7", [credit + amount])
            db.execute("UPDATE page SET views = %s WHERE id = 1", [views + 1])
    return work


together(open_page(5), open_page(10))
[(credit,)] = rows("SELECT credit FROM author")
assert credit == 115, f"5 and 10 were added to 100: {credit}"
