#!/usr/bin/env python3
"""Where the fuzzers of SQL begin: the statements and function bodies of the tests, and their words as a dictionary.

Writes corpus/sql, corpus/plpgsql, corpus/pg_wire and corpus/sql.dict, next to this file.
"""

import re
import struct
from pathlib import Path

here = Path(__file__).parent
tests = here.parent / "crates"


def statements():
    for path in sorted(tests.glob("sql/tests/it/*/*.txt")):
        for case in path.read_text().split("\n\n"):
            yield case.split("\n=>")[0].strip()
    for path in sorted(tests.glob("server/tests/clients/psql/*.sql")):
        yield from (part.strip() for part in path.read_text().split(";\n"))


def write(folder, seeds):
    folder = here / "corpus" / folder
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"seed-{number:04}").write_bytes(seed if isinstance(seed, bytes) else seed.encode())


def message(kind, body):
    return kind + struct.pack(">i", len(body) + 4) + body


def conversation(sql):
    text = sql.encode() + b"\0"
    extended = message(b"P", b"s\0" + text + b"\0\0") + message(b"D", b"Ss\0")
    extended += message(b"B", b"p\0s\0\0\0\0\0\0\1\0\1") + message(b"E", b"p\0\0\0\0\1") + message(b"C", b"Pp\0")
    copy = message(b"d", b"1\t2\n") + message(b"c", b"")
    return b"\1" + message(b"Q", text) + copy + extended + message(b"H", b"") + message(b"S", b"") + message(b"X", b"")


found = sorted({sql for sql in statements() if 0 < len(sql) < 2000})
write("sql", found)
write("plpgsql", sorted({body for sql in found for body in re.findall(r"\$\$(.*?)\$\$", sql, re.S)}))
names = b"user\0ann\0database\0shop\0\0"
startup = struct.pack(">ii", 8 + len(names), 196608) + names
write("pg_wire", [b"\0" + startup, b"\4" + startup + message(b"p", b"secret\0")] + [conversation(sql) for sql in found[::7]])
words = sorted({word for sql in found for word in re.findall(r"[a-zA-Z_]{2,}|[^\w\s'\"]{1,3}", sql)})
quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in words if word.isascii())
(here / "corpus" / "sql.dict").write_text("".join(f'"{word}"\n' for word in quoted))
