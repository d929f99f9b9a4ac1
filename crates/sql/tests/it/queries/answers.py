"""Writes PostgreSQL's answers into the files given: `answers.py "psql -X -h … -d …" file.txt …`.

Every file starts in an empty database schema; see ../queries.rs for the format.
"""

import re
import subprocess
import sys

MARK = "===next==="


def main():
    psql, files = sys.argv[1].split(), sys.argv[2:]
    for name in files:
        blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", open(name).read()) if block.strip()]
        script = ["\\set VERBOSITY verbose", "\\pset null NULL", "\\pset format unaligned", "\\pset tuples_only on"]
        script += ["DROP SCHEMA IF EXISTS public CASCADE;", "CREATE SCHEMA public;", "SET client_min_messages = error;"]
        for block in blocks:
            script += [f"\\echo {MARK}", statement(block).rstrip(";") + ";"]
        done = subprocess.run(psql, input="\n".join(script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        answers = done.stdout.split(MARK + "\n")[1:]
        with open(name, "w") as out:
            for block, answer in zip(blocks, answers):
                comments = [line for line in block.split("\n") if line.startswith("#")]
                lines = shown(answer)
                # What RETURNING gives stands alone in the test.
                if "returning" in block.lower() and re.fullmatch(r"(INSERT 0|UPDATE|DELETE) \d+", lines[-1]):
                    lines.pop()
                out.write("\n".join([*comments, statement(block), "=>", *lines]).rstrip() + "\n\n")


def statement(block):
    lines = [line for line in block.split("\n=>")[0].split("\n") if not line.startswith("#")]
    return "\n".join(lines)


def shown(answer):
    error = re.search(r"ERROR:  (\w{5}): (.*)", answer)
    if error:
        return [f"ERROR {error.group(1)}: {error.group(2)}"]
    return answer.rstrip("\n").split("\n")


main()
