"""get_or_create that neither gets nor creates: right at READ COMMITTED, wrong one level up.

Django's ticket 13906 and openedx #12714: the row is not there, the insert fails with a duplicate key because somebody else
was quicker, and the code looks again. At READ COMMITTED the second look finds the row. At REPEATABLE READ it uses the
transaction's snapshot, which is older than the row: it is there, and cannot be seen. The history is serializable (nothing
wrong was committed); it is the duplicate key that tells what the snapshot hides.
"""

from bugs import setup, together, transaction
from psycopg.errors import UniqueViolation

BREAKS = {"repeatable-read": "refused"}
RIGHT = ["read-committed", "serializable"]

setup("CREATE TABLE tags (id serial PRIMARY KEY, name text UNIQUE NOT NULL)")


def get(db, name):
    return db.execute("SELECT id FROM tags WHERE name = %s", [name]).fetchone()


def get_or_create(db, name):
    if found := get(db, name):
        return found
    try:
        with db.transaction():  # a savepoint
            return db.execute("INSERT INTO tags (name) VALUES (%s) RETURNING id", [name]).fetchone()
    except UniqueViolation:
        return get(db, name)


found = together(*[lambda db: transaction(db, get_or_create, "rust")] * 2)
assert None not in found, f"somebody has just created the tag, and it does not exist: {found}"
assert found[0] == found[1], f"one tag has two ids: {found}"
