"""A voucher that is good for one order is used for two.

Seen in several shops (saleor #544, vendure #4660, shopware #11245): the checkout looks whether the voucher was applied to
an order before and, if not, applies it. Both look before either has written: a write skew on rows that do not exist yet.
Neither READ COMMITTED nor REPEATABLE READ prevents it, and no row is there to be locked. It takes SERIALIZABLE, a unique
key on the voucher, or a lock on something that both share.
"""

from bugs import rows, setup, together, transaction

BREAKS = {"read-committed": "write-skew", "repeatable-read": "write-skew"}
RIGHT = ["serializable"]

setup("CREATE TABLE applications (purchase int PRIMARY KEY, voucher text NOT NULL)")


def checkout(db, purchase):
    [used] = db.execute("SELECT count(*) FROM applications WHERE voucher = 'WELCOME'").fetchone()
    if used == 0:
        db.execute("INSERT INTO applications VALUES (%s, 'WELCOME')", [purchase])


together(lambda db: transaction(db, checkout, 1), lambda db: transaction(db, checkout, 2))
used = rows("SELECT purchase FROM applications WHERE voucher = 'WELCOME'")
assert len(used) == 1, f"the voucher was good for one order and was used for {len(used)}"
