"""update_or_create loses somebody else's update.

Django's ticket 29499: update_or_create locks the row that it finds. If there is none it inserts one; if that fails with a
duplicate key it reads the row again, this time without a lock, and saves all of its columns. What others have written to
the row in between is gone: a lost update at READ COMMITTED, in a function that was made to prevent it. At SERIALIZABLE
one of them is refused and starts again.
"""

from bugs import rows, setup, together, transaction
from psycopg.errors import UniqueViolation

BREAKS = {"read-committed": "lost-update"}
RIGHT = ["serializable"]

setup("CREATE TABLE profiles (name text PRIMARY KEY, email text, visits int NOT NULL)")


def save(db, name, email, visits):
    """As an ORM does: all columns."""
    db.execute("UPDATE profiles SET email = %s, visits = %s WHERE name = %s", [email, visits, name])


def update_or_create(db, name, email):
    row = db.execute("SELECT email, visits FROM profiles WHERE name = %s FOR UPDATE", [name]).fetchone()
    if row is None:
        try:
            with db.transaction():  # a savepoint
                db.execute("INSERT INTO profiles VALUES (%s, %s, 0)", [name, email])
                return
        except UniqueViolation:
            row = db.execute("SELECT email, visits FROM profiles WHERE name = %s", [name]).fetchone()
    save(db, name, email, row[1])


def visit(db, name):
    db.execute("UPDATE profiles SET visits = visits + 1 WHERE name = %s", [name])


def first_visit(db):
    transaction(db, update_or_create, "ada", "ada@example.org")
    transaction(db, visit, "ada")


together(first_visit, lambda db: transaction(db, update_or_create, "ada", "ada@example.com"))
[(visits,)] = rows("SELECT visits FROM profiles WHERE name = 'ada'")
assert visits == 1, f"ada came once, and {visits} visits were counted"
