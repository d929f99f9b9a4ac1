"""Writes PostgreSQL's answers into the files given: `answers.py "psql -X -h … -d …" file.txt …`.

Every file starts in an empty database; see ../queries.rs for the format. Answers of `schema/*.txt` have an error's details, too.
"""

import re
import subprocess
import sys

MARK = "===next==="
EMPTY = """DO $$ DECLARE s name; BEGIN
  FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|information_schema' LOOP
    EXECUTE format('DROP SCHEMA %I CASCADE', s);
  END LOOP; CREATE SCHEMA public; END $$;"""


def main():
    psql, files = sys.argv[1].split(), sys.argv[2:]
    for name in files:
        blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", open(name).read()) if block.strip()]
        script = ["\\set VERBOSITY verbose", "\\pset null NULL", "\\pset format unaligned", "\\pset tuples_only on"]
        script += ["SET client_min_messages = error;", EMPTY]
        for block in blocks:
            script += [f"\\echo {MARK}", statement(block).rstrip(";") + ";"]
        done = subprocess.run(psql, input="\n".join(script), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        answers = done.stdout.split(MARK + "\n")[1:]
        with open(name, "w") as out:
            for block, answer in zip(blocks, answers):
                comments = [line for line in block.split("\n") if line.startswith("#")]
                out.write("\n".join([*comments, statement(block), "=>", *shown(answer, "schema" in name)]).rstrip() + "\n\n")


def statement(block):
    lines = [line for line in block.split("\n=>")[0].split("\n") if not line.startswith("#")]
    return "\n".join(lines)


def shown(answer, details):
    error = re.search(r"ERROR:  (\w{5}): (.*)", answer)
    if error:
        more = re.findall(r"^(?:DETAIL|HINT):  .*(?:\n(?![A-Z ]+:  ).*)*", answer, re.M) if details else []
        return [f"ERROR {error.group(1)}: {error.group(2)}", *more]
    lines = answer.rstrip("\n").split("\n")
    # Rows that a change returns are followed by its tag.
    return lines[:-1] if len(lines) > 1 and re.fullmatch(r"INSERT 0 \d+|(?:UPDATE|DELETE|MERGE) \d+", lines[-1]) else lines


main()
