"""Two workers take the same job."""

from service import VARIANT, rows, setup, together

setup("""
    CREATE TABLE job (id int PRIMARY KEY, state text NOT NULL, worker text);
    CREATE TABLE done (id serial PRIMARY KEY, job int NOT NULL, worker text NOT NULL);
    INSERT INTO job VALUES (1, 'new', NULL), (2, 'new', NULL);
""")


def claim(worker):
    def work(db):
        with db.transaction():
            lock = " FOR UPDATE SKIP LOCKED" if VARIANT == "right" else ""
            found = db.execute("SELECT id FROM job WHERE state = 'new' ORDER BY id LIMIT 1" + lock).fetchone()
            if found is None:
                return
            guard = " AND state = 'new'" if VARIANT == "wrong" else ""  # nobody looks at the count
            db.execute("UPDATE job SET state = 'taken', worker = %s WHERE id = %s" + guard, [worker, found[0]])
            db.execute("INSERT INTO done (job, worker) VALUES (%s, %s)", [found[0], worker])
    return work


together(claim("one"), claim("two"))
jobs = [job for (job,) in rows("SELECT job FROM done")]
assert len(jobs) == len(set(jobs)), f"a job was done twice: {jobs}"
