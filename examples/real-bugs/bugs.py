"""What the programs here share: tables, clients that work at the same time, and starting again."""

import os
import threading

import psycopg

# "Try again" in PostgreSQL's words.
TRY_AGAIN = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)


def connect():
    return psycopg.connect(os.environ["DATABASE_URL"])


def setup(sql):
    """Makes the tables."""
    with connect() as connection:
        connection.execute(sql)


def rows(query):
    """What a query finds when everything is over."""
    with connect() as connection:
        return connection.execute(query).fetchall()


def transaction(connection, work, *arguments):
    """Does the work in a transaction, and starts it again when the database asks for it."""
    while True:
        try:
            with connection.transaction():
                return work(connection, *arguments)
        except TRY_AGAIN:
            pass


def together(*clients):
    """Runs functions at the same time, each with a connection of its own. Returns what they return."""
    connections = [connect() for _ in clients]
    results = [None] * len(clients)
    start = threading.Barrier(len(clients))

    def run(at):
        start.wait()
        try:
            results[at] = clients[at](connections[at])
        except Exception as error:
            results[at] = error

    threads = [threading.Thread(target=run, args=[at]) for at in range(len(clients))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results
