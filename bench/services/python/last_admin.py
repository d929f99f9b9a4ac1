"""Two admins resign at the same time, and none is left. Each of them also says who wrote the row last, which nobody minds."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE member (name text PRIMARY KEY, is_admin boolean NOT NULL);
    CREATE TABLE team (id int PRIMARY KEY, updated_by text);
    INSERT INTO member VALUES ('ada', true), ('bob', true);
    INSERT INTO team VALUES (1, NULL);
""")


def resign(name):
    def work(db):
        with db.transaction():
            if VARIANT == "right":
                db.execute("SELECT 1 FROM team WHERE id = 1 FOR UPDATE")
            if VARIANT == "wrong":  # its own row only
                db.execute("SELECT 1 FROM member WHERE name = %s FOR UPDATE", [name])
            [admins] = db.execute("SELECT count(*) FROM member WHERE is_admin").fetchone()
            if admins > 1:
                db.execute("UPDATE member SET is_admin = false WHERE name = %s", [name])
            db.execute("UPDATE team SET updated_by = %s WHERE id = 1", [name])
    return work


together(resign("ada"), resign("bob"))
[(admins,)] = rows("SELECT count(*) FROM member WHERE is_admin")
assert admins >= 1, "no admin is left"
