"""The report that lies: the read-only anomaly of snapshot isolation (Fekete, O'Neil and O'Neil, 2004).

A deposit, a withdrawal that costs a penalty if it overdraws the two accounts, and a report that only reads. Deposit and
withdrawal alone are serializable (the withdrawal comes first, and pays the penalty). With the report nothing is: it shows
the deposit and not the withdrawal, so the withdrawal has to come last, and then there is no penalty. REPEATABLE READ allows
it; SERIALIZABLE does not.
"""

from bugs import rows, setup, together, transaction

BREAKS = {"repeatable-read": "read-only-anomaly"}
RIGHT = ["serializable"]

setup("""
    CREATE TABLE accounts (name text PRIMARY KEY, balance int NOT NULL);
    INSERT INTO accounts VALUES ('checking', 0), ('savings', 0);
""")


def balance(db, name):
    return db.execute("SELECT balance FROM accounts WHERE name = %s", [name]).fetchone()[0]


def deposit(db):
    db.execute("UPDATE accounts SET balance = 20 WHERE name = 'savings'")


def withdraw(db):
    checking, savings = balance(db, "checking"), balance(db, "savings")
    penalty = 1 if checking + savings < 10 else 0
    db.execute("UPDATE accounts SET balance = %s WHERE name = 'checking'", [checking - 10 - penalty])


def report(db):
    return balance(db, "checking"), balance(db, "savings")


parts = [deposit, withdraw, report]
_, _, (checking, savings) = together(*[lambda db, part=part: transaction(db, part) for part in parts])
at_the_end = dict(rows("SELECT name, balance FROM accounts"))
if (checking, savings) == (0, 20):
    assert at_the_end["checking"] == -10, f"reported: 0 and 20, enough for a withdrawal of 10; then: {at_the_end}"
