"""Overdraft: an account pays out more than it holds.

Flexcoin lost 896 bitcoins in 2014 this way and closed: many withdrawals at once, each of which read the balance, found
it sufficient, and wrote balance - amount. It is a lost update. READ COMMITTED allows it; at REPEATABLE READ (snapshot
isolation) the second writer is refused and starts again.
"""

from bugs import rows, setup, together, transaction

BREAKS = {"read-committed": "lost-update"}
RIGHT = ["repeatable-read", "serializable"]

setup("""
    CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
    CREATE TABLE payouts (account int NOT NULL, amount int NOT NULL);
    INSERT INTO accounts VALUES (1, 100);
""")


def withdraw(db, amount):
    [balance] = db.execute("SELECT balance FROM accounts WHERE id = 1").fetchone()
    if balance >= amount:
        db.execute("UPDATE accounts SET balance = %s WHERE id = 1", [balance - amount])
        db.execute("INSERT INTO payouts VALUES (1, %s)", [amount])


together(lambda db: transaction(db, withdraw, 80), lambda db: transaction(db, withdraw, 70))
[(paid,)] = rows("SELECT sum(amount) FROM payouts")
assert paid <= 100, f"the account held 100 and paid out {paid}"
