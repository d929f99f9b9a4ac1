"""What the services share: connections, clients that work at the same time, and the variant that is asked for."""

import os
import sys
import threading

import psycopg

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "buggy"


def connect(**options):
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
    results, start = [None] * len(clients), threading.Barrier(len(clients))

    def run(at):
        start.wait()
        try:
            results[at] = clients[at](connections[at])
        except Exception as error:
            results[at] = error

    threads = [threading.Thread(target=run, args=[at]) for at in range(len(clients))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    [connection.close() for connection in connections]
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results
