"""Read in one transaction, write in the next one: without BEGIN every statement is a transaction."""

from service import VARIANT, rows, setup, together

setup("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL); INSERT INTO account VALUES (1, 100)")


def deposit(amount):
    def work(db):
        if VARIANT == "right":
            db.execute("UPDATE account SET balance = balance + %s WHERE id = 1", [amount])
            return
        [balance] = db.execute("SELECT balance FROM account WHERE id = 1").fetchone()
        if VARIANT == "wrong":  # the write is in a transaction, the read is not
            with db.transaction():
                db.execute("UPDATE account SET balance = %s WHERE id = 1", [balance + amount])
        else:
            db.execute("UPDATE account SET balance = %s WHERE id = 1", [balance + amount])
    return work


together(deposit(10), deposit(20), autocommit=True)
[(balance,)] = rows("SELECT balance FROM account")
assert balance == 130, f"10 and 20 were added to 100: {balance}"
