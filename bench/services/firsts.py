#!/usr/bin/env python3
"""In which run `skew test` first breaks the examples of real bugs, at each level at which they are wrong, and other commands.

    bench/services/firsts.py --skew target/release/skew --python PYTHON [--seeds 5] [name ...] [-- COMMAND...]

A command after `--` is tried at READ COMMITTED: the shop's test, for example. Prints the run of each seed, the average and
the share within 10 runs; ends with 1 if the average is above 3 or the share below 95 %.
"""

import argparse
import ast
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

BUGS = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "real-bugs"
RUNS = 30


def first_failure(skew, command, level, seed):
    """The number of the first run that fails, or None. Nothing is explained."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        words = [skew, "test", "-i", level, "-n", str(RUNS), "-x", "--repeats", "0", "--seed", str(seed), "--json", results, "--out",
                 folder, "--", *command]
        done = subprocess.run(words, capture_output=True, text=True)
        if not results.exists():
            raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr}")
        failure = json.loads(results.read_text())["failure"]
        return failure and failure["run"]["number"]


def levels_of(program):
    """The levels at which an example is wrong."""
    for node in ast.parse(program.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "BREAKS":
            return list(ast.literal_eval(node.value))
    return []


def main():
    own, _, command = " ".join(sys.argv[1:]).partition(" -- ")
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--skew", default="skew")
    options.add_argument("--python", default=sys.executable, help="a Python with psycopg")
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("names", nargs="*", help="examples, by a part of their names")
    options = options.parse_args(own.split())
    programs = [path for path in sorted(BUGS.glob("*.py")) if not options.names or any(name in path.stem for name in options.names)]
    tried = [(f"{path.stem} at {level}", [options.python, path], level) for path in programs for level in levels_of(path)]
    if command:
        tried.append((command, command.split(), "read-committed"))
    found = []
    for name, words, level in tried:
        numbers = [first_failure(options.skew, words, level, seed) for seed in range(1, options.seeds + 1)]
        found += [number or RUNS + 1 for number in numbers]
        print(f"{name:<44}{', '.join(str(number or f'not in {RUNS}') for number in numbers)}", flush=True)
    average, within = statistics.mean(found), sum(number <= 10 for number in found)
    print(f"on average in run {average:.2f} (goal 3), {within} of {len(found)} within 10 runs (goal 95%)")
    sys.exit(0 if average <= 3 and within >= 0.95 * len(found) else 1)


if __name__ == "__main__":
    main()
