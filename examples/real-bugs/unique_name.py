"""Uniqueness that the application checks.

Rails' `validates uniqueness` without an index, and readthedocs #7727: look whether the name is taken, then insert. Two
requests that look at the same time both find it free: a write skew on rows that do not exist yet, at every level below
SERIALIZABLE. A unique index is the fix.
"""

from bugs import rows, setup, together, transaction

BREAKS = {"read-committed": "write-skew", "repeatable-read": "write-skew"}
RIGHT = ["serializable"]

setup("CREATE TABLE projects (id serial PRIMARY KEY, slug text NOT NULL)")


def create(db, slug):
    taken = db.execute("SELECT 1 FROM projects WHERE slug = %s LIMIT 1", [slug]).fetchone()
    if not taken:
        db.execute("INSERT INTO projects (slug) VALUES (%s)", [slug])


together(*[lambda db: transaction(db, create, "docs")] * 2)
projects = rows("SELECT id FROM projects WHERE slug = 'docs'")
assert len(projects) == 1, f"{len(projects)} projects are called docs"
