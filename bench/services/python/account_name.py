"""A name is taken twice: look for it, then insert it."""

from service import VARIANT, rows, setup, together

setup("CREATE TABLE login (id serial PRIMARY KEY, name text NOT NULL" + (" UNIQUE" if VARIANT == "right" else "") + ")")


def sign_up(db):
    with db.transaction():
        if VARIANT == "right":
            db.execute("INSERT INTO login (name) VALUES ('ada') ON CONFLICT DO NOTHING")
            return
        lock = " FOR UPDATE" if VARIANT == "wrong" else ""  # there is nothing to lock yet
        if db.execute("SELECT id FROM login WHERE name = 'ada'" + lock).fetchone() is None:
            db.execute("INSERT INTO login (name) VALUES ('ada')")


together(sign_up, sign_up)
[(count,)] = rows("SELECT count(*) FROM login WHERE name = 'ada'")
assert count == 1, f"{count} logins of one name"
