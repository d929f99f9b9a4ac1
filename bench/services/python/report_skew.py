"""A report adds up two accounts while money moves between them."""

from service import VARIANT, setup, together

setup("""
    CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);
    INSERT INTO account VALUES (1, 50), (2, 50);
""")


def move(db):
    with db.transaction():
        db.execute("UPDATE account SET balance = balance - 10 WHERE id = 1")
        db.execute("UPDATE account SET balance = balance + 10 WHERE id = 2")


def report(db):
    with db.transaction():
        if VARIANT == "right":
            return db.execute("SELECT sum(balance) FROM account").fetchone()[0]
        if VARIANT == "wrong":  # keeps the rows from being deleted, not from being changed
            db.execute("SELECT id FROM account FOR KEY SHARE")
        [one] = db.execute("SELECT balance FROM account WHERE id = 1").fetchone()
        [two] = db.execute("SELECT balance FROM account WHERE id = 2").fetchone()
        return one + two


_, total = together(move, report)
assert total == 100, f"the accounts hold 100: {total}"
