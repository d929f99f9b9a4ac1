"""A folder without open documents is archived while a document is put into it."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE folder (id int PRIMARY KEY, is_archived boolean NOT NULL);
    CREATE TABLE document (id serial PRIMARY KEY, folder int NOT NULL, title text NOT NULL);
    INSERT INTO folder VALUES (1, false);
""")


def archive(db):
    with db.transaction():
        if VARIANT != "buggy":  # the wrong fix locks here, and not in add
            db.execute("SELECT id FROM folder WHERE id = 1 FOR UPDATE")
        [documents] = db.execute("SELECT count(*) FROM document WHERE folder = 1").fetchone()
        if documents == 0:
            db.execute("UPDATE folder SET is_archived = true WHERE id = 1")


def add(db):
    with db.transaction():
        lock = " FOR SHARE" if VARIANT == "right" else ""
        [is_archived] = db.execute("SELECT is_archived FROM folder WHERE id = 1" + lock).fetchone()
        if not is_archived:
            db.execute("INSERT INTO document (folder, title) VALUES (1, 'letter')")


together(archive, add)
[(lost,)] = rows("SELECT count(*) FROM document JOIN folder ON folder.id = document.folder WHERE is_archived")
assert lost == 0, f"{lost} open document in an archived folder"
