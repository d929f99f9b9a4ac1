"""An object mapper reads a row and saves all of its columns: an owner that does not change, a count of visits that nobody
minds, and a balance."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE account (id int PRIMARY KEY, owner text NOT NULL, kind text NOT NULL, visits int NOT NULL,
                          balance int NOT NULL, note text);
    INSERT INTO account VALUES (1, 'ada', 'giro', 0, 100, NULL);
""")


def deposit(amount):
    def work(db):
        with db.transaction():
            lock = " FOR UPDATE" if VARIANT == "right" else " FOR KEY SHARE" if VARIANT == "wrong" else ""
            query = "SELECT id, owner, kind, visits, balance, note FROM account WHERE id = 1" + lock
            _, owner, kind, visits, balance, note = db.execute(query).fetchone()
            db.execute("UPDATE account SET owner = %s, kind = %s, visits = %s, balance = %s, note = %s WHERE id = 1",
                       [owner, kind, visits + 1, balance + amount, note])
    return work


together(deposit(10), deposit(20))
[(_, _, _, _, balance, _)] = rows("SELECT id, owner, kind, visits, balance, note FROM account")
assert balance == 130, f"10 and 20 were added to 100: {balance}"
