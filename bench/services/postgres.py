"""The same commands in a loop on a real PostgreSQL."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

WITH_POSTGRES = pathlib.Path(__file__).resolve().parent.parent / "with-postgres.sh"
# Runs of the correct service, for the time that a run takes.
TIMED_RUNS = 12


@contextlib.contextmanager
def server(is_left_out):
    """A server of its own; gives its URL, or None."""
    if is_left_out:
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [WITH_POSTGRES, str(port), "sh", "-c", "echo ready; cat >/dev/null"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline().strip() != "ready":
            raise SystemExit("PostgreSQL did not start; --no-postgres leaves it out")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        process.stdin.close()


def loop(command, url, seconds):
    """Runs the buggy service for so many seconds, and the correct one a few times."""
    failed, runs, first, until = 0, 0, None, time.time() + seconds
    while time.time() < until:
        outcome, _ = run(command, "buggy", url)
        runs += 1
        if outcome != 0:
            failed += 1
            first = first or runs
    right = [run(command, "right", url) for _ in range(TIMED_RUNS)]
    return {"runs": runs, "failed": failed, "first": first, "seconds": round(seconds, 2), "ms": [ms for _, ms in right],
            "right_failed": sum(outcome != 0 for outcome, _ in right)}


def run(command, variant, url):
    """A run on an empty database: its exit code and how long it took, in milliseconds."""
    reset = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
    subprocess.run(["psql", "-qX", url, "-c", reset], check=True, capture_output=True)
    started = time.time()
    done = subprocess.run([*command, variant], env=dict(os.environ, DATABASE_URL=url, PGSSLMODE="disable"), capture_output=True)
    return done.returncode, round((time.time() - started) * 1000)
