"""What the services share: connections, clients that work at the same time, and the variant that is asked for."""

import os
import sys
import threading

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "buggy"


def connect(**options):
    import psycopg  # not every service uses it

    return psycopg.connect(os.environ["DATABASE_URL"], **options)


def setup(sql):
    with connect() as db:
        db.execute(sql)


def rows(query):
    with connect() as db:
        return db.execute(query).fetchall()


def together(*clients, **options):
    """Each client has a connection of its own; all start at the same time."""
    connections = [connect(**options) for _ in clients]
    try:
        return at_once(*[lambda client=client, db=db: client(db) for client, db in zip(clients, connections)])
    finally:
        [connection.close() for connection in connections]


def at_once(*works):
    """Each piece of work has a thread of its own; all start at the same time. Returns what they return."""
    results, start = [None] * len(works), threading.Barrier(len(works))

    def run(at):
        start.wait()
        try:
            results[at] = works[at]()
        except Exception as error:
            results[at] = error

    threads = [threading.Thread(target=run, args=[at]) for at in range(len(works))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results
