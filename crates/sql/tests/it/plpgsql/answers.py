"""Writes PostgreSQL's answers into the files given: `answers.py "psql -X -h … -d …" file.txt …`.

Every file starts in an empty schema; see ../plpgsql.rs for the format.
"""

import re
import subprocess
import sys

MARK = "===next==="
FIELDS = {"DETAIL": "detail", "HINT": "hint", "CONTEXT": "context"}


def main():
    psql, files = sys.argv[1].split(), sys.argv[2:]
    for name in files:
        blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", open(name).read()) if block.strip()]
        script = ["\\set VERBOSITY verbose", "\\pset null NULL", "\\pset format unaligned", "\\pset tuples_only on"]
        script += ["SET client_min_messages = error;", "DROP SCHEMA IF EXISTS public, s CASCADE;", "CREATE SCHEMA public;"]
        script += ["SET client_min_messages = notice;"]
        for block in blocks:
            script += [f"\\echo {MARK}", statement(block).rstrip(";") + "\n;"]
        done = subprocess.run(
            psql, input="\n".join(script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        answers = done.stdout.split(MARK + "\n")[1:]
        with open(name, "w") as out:
            for block, answer in zip(blocks, answers):
                comments = [line for line in block.split("\n") if line.startswith("# ")]
                out.write("\n".join([*comments, statement(block), "=>", *shown(answer)]).rstrip() + "\n\n")


def statement(block):
    lines = [line for line in block.split("\n=>")[0].split("\n") if not line.startswith("# ")]
    return "\n".join(lines)


def shown(answer):
    """Messages become `SEVERITY state: text` with their fields below; places in the source are left out."""
    lines, field = [], None
    for line in answer.rstrip("\n").split("\n"):
        message = re.match(r"(ERROR|WARNING|NOTICE|INFO):  (\w{5}): (.*)", line)
        other = re.match(r"(DETAIL|HINT|CONTEXT|QUERY|LOCATION|LINE \d+|[A-Z]+ NAME):? ? ?(.*)", line)
        if message:
            lines.append(f"{message[1]} {message[2]}: {message[3]}")
            field = None
        elif other and lines:
            field = other[1]
            if field in FIELDS:
                lines.append(f"  {FIELDS[field]}: {other[2]}")
            if field == "LOCATION":
                field = None
        elif field == "CONTEXT":
            lines.append(f"  context: {line}")
        elif field is None:
            lines.append(line)
    return lines


main()
