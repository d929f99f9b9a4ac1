#!/usr/bin/env python3
"""Runs every program here on the weak database, at the level where it breaks and at the one where it does not.

    examples/real-bugs/run.py [--runs 50] [--skew target/release/skew] [name ...]

Prints a table and ends with 1 if something was found that should not be there, or was not found.
"""

import argparse
import ast
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PROGRAMS = ["overdraft", "voucher", "get_or_create", "update_or_create", "unique_name", "last_seat", "lying_report"]


def expectations(program):
    """(level, what breaks there or "passes"), from the constants at the program's top."""
    tree = ast.parse((HERE / f"{program}.py").read_text())
    constants = {node.targets[0].id: ast.literal_eval(node.value) for node in tree.body
                 if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("BREAKS", "RIGHT")}
    return [*constants["BREAKS"].items(), *[(level, "passes") for level in constants["RIGHT"]]]


def found(skew, program, level, runs, folder):
    """What `skew test` finds: an anomaly's id, "passes", or what went wrong; and how many runs failed."""
    results = pathlib.Path(folder) / "results.json"
    results.unlink(missing_ok=True)
    command = [skew, "test", "-i", level, "-n", str(runs), "-x", "--json", results, "--out", folder, "--",
               sys.executable, HERE / f"{program}.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not results.exists():
        return f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or ['?'])[0]}", ""
    campaign = json.loads(results.read_text())
    made = len(campaign["runs"])
    return what(campaign), f"run {made}" if done.returncode == 1 else f"{made} runs"


def what(campaign):
    failure = campaign.get("failure")
    if failure is None:
        return "passes"
    return failure["why"].get("anomaly") or failure["why"]["kind"]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--skew", default="skew", help="the skew binary")
    options.add_argument("--runs", type=int, default=50, help="at most so many runs at each level")
    options.add_argument("programs", nargs="*", default=PROGRAMS)
    options = options.parse_args()
    line = "{:<18}{:<18}{:<20}{:<20}{}"
    print(line.format("program", "level", "expected", "found", "after"))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in options.programs:
            for level, expected in expectations(program):
                result, after = found(options.skew, program, level, options.runs, folder)
                wrong += result != expected
                mark = "" if result == expected else "   <- not as expected"
                print(line.format(program, level, expected, result, after) + mark, flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
