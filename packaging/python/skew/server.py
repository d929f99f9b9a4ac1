"""The weak database as a child process that takes orders on its standard input."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path


class SkewError(Exception):
    """The database could not be started, or refused an order."""


def binary() -> str:
    """The `skew` binary: $SKEW_BINARY, the one that was installed with this package, or the one on the path."""
    named = os.environ.get("SKEW_BINARY")
    if named:
        return named
    name = "skew.exe" if sys.platform == "win32" else "skew"
    schemes = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    if hasattr(sysconfig, "get_preferred_scheme"):
        schemes.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for folder in schemes:
        path = Path(folder) / name
        if path.is_file():
            return str(path)
    found = shutil.which(name)
    if found is None:
        raise SkewError("there is no `skew` binary; set SKEW_BINARY to its path")
    return found


class Server:
    """A weak database. `url` is where clients connect; `reset(seed)` goes back to the state of the first reset."""

    def __init__(
        self,
        isolation: str | None = None,
        *,
        recency: str = "commit",
        hold: int | None = None,
        load: list[str] | None = None,
        database: str = "test",
    ) -> None:
        command = [binary(), "serve", "--port", "0", "--format", "json", "--stdin", "--seed", "1", "--recency", recency]
        if isolation is not None:
            command += ["--isolation", isolation]
        if hold is not None:
            command += ["--hold", str(hold)]
        for path in load or []:
            command += ["--load", path]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()
        line = self._process.stdout.readline()
        if not line:
            raise SkewError(self._process.stderr.read().strip() or "skew serve did not start")
        started = json.loads(line)
        self.host, self.port, self.database = started["host"], started["port"], database
        self.url = f"postgresql://postgres@{self.host}:{self.port}/{database}"

    def reset(self, seed: int) -> None:
        """Goes back to the checkpoint; the first time, what is there now becomes the checkpoint."""
        self._order(f"reset {seed}")

    def explain(self) -> str:
        """Why what happened since the last reset is not serializable, in the application's own SQL."""
        return self._order("explain")["text"]

    def coverage(self) -> dict:
        """Which overlaps there were since the first reset, as numbers and as a `text`."""
        return self._order("coverage")

    def history(self) -> dict:
        """What transactions did since the last reset, as `.hist` text for `skew check -`, by database."""
        return self._order("history")["histories"]

    @property
    def environment(self) -> dict:
        """The environment in which programs find the database."""
        return {
            "DATABASE_URL": self.url,
            "PGHOST": self.host,
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
            "PGDATABASE": self.database,
            "PGSSLMODE": "disable",
        }

    def close(self) -> None:
        """Ends the database. It also ends when this process does."""
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            stream.close()

    def _order(self, line: str) -> dict:
        with self._lock:
            try:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
            except (BrokenPipeError, ValueError) as error:
                raise SkewError("the database has ended") from error
        if not answer:
            raise SkewError(self._process.stderr.read().strip() or "the database has ended")
        told = json.loads(answer)
        if "error" in told:
            raise SkewError(told["error"])
        return told

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
