"""A weak PostgreSQL for tests: the `skew` binary, started and driven from Python."""

from .server import Server, SkewError, binary

__all__ = ["Server", "SkewError", "binary"]
