#!/usr/bin/env python3
"""Runs `skew test` on every service here, buggy, fixed rightly and fixed wrongly, and compares with `truth.json`.

    bench/services/run.py --skew target/debug/skew --python PYTHON --node-modules FOLDER [--runs 30] [--repeat 1] [name ...]

Prints a table, and writes it to `bench/results/services.md` with `--save`. Ends with 1 if anything is not as it should be.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--skew", default="skew")
    options.add_argument("--python", default=sys.executable, help="a Python with psycopg")
    options.add_argument("--node-modules", help="a folder with node's `pg`")
    options.add_argument("--go", help="the Go services, built: go build -o FILE")
    options.add_argument("--runs", type=int, default=30)
    options.add_argument("--repeat", type=int, default=1, help="campaigns of each service")
    options.add_argument("--save", action="store_true")
    options.add_argument("names", nargs="*")
    options = options.parse_args()
    truth = json.loads((HERE / "truth.json").read_text())
    names = [name for name in truth if not options.names or any(part in name for part in options.names)]
    lines, totals = [], {"wrong": 0, "found": 0, "buggy": 0, "cause": 0, "fix": 0, "caught": 0, "traps": 0, "alarms": 0,
                         "first": []}
    line("service", "variant", "found in run", "seconds", "cause", "advice", lines)
    for name in names:
        command = command_of(name, options)
        if command is None:
            print(f"{name}: skipped, its language is not given")
            continue
        for variant in ["buggy", "wrong", "right"]:
            for seed in range(1, options.repeat + 1):
                test(name, variant, seed, command, truth[name], options, totals, lines)
        if options.save:
            save(lines, totals)
    print(summary_of(totals))
    sys.exit(1 if totals["wrong"] else 0)


def summary_of(totals):
    first = totals["first"]
    return (f"found {totals['found']} of {totals['buggy']} bugs; failures of buggy and wrongly fixed services on average in "
            f"run {sum(first) / max(len(first), 1):.1f}, {sum(number <= 10 for number in first)} of {len(first)} within 10 "
            f"runs; cause right {totals['cause']} of {totals['buggy']}; advice right {totals['fix']} of {totals['buggy']}; "
            f"wrong fixes caught {totals['caught']} of {totals['traps']}; false alarms {totals['alarms']}")


def save(lines, totals):
    results = HERE.parent / "results" / "services.md"
    head = "# Services: what `skew test` finds, explains and advises\n\nMade by `bench/services/run.py --save`.\n\n```\n"
    results.write_text(head + "\n".join(lines) + "\n```\n\n" + summary_of(totals) + "\n")


def command_of(name, options):
    language, file = name.split("/")
    if language == "python":
        return [options.python, HERE / name]
    if language == "node" and options.node_modules:
        return ["node", HERE / name]
    if language == "go" and options.go:
        return [options.go, file]
    return None


def test(name, variant, seed, command, truth, options, totals, lines):
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        arguments = [options.skew, "test", "-i", truth["level"], "-n", str(options.runs), "-x", "--seed", str(seed),
                     "--json", results, "--out", folder, "--", *command, variant]
        environment = dict(os.environ, NODE_PATH=options.node_modules or "")
        started = time.time()
        done = subprocess.run([str(word) for word in arguments], capture_output=True, text=True, env=environment)
        seconds = time.time() - started
        campaign = json.loads(results.read_text()) if results.exists() else None
    if campaign is None:
        totals["wrong"] += 1
        line(name, variant, f"exit code {done.returncode}", f"{seconds:.1f}", (done.stderr.splitlines() or ["?"])[0], "", lines)
        return
    failure, cause, advice = campaign["failure"], "", ""
    found = failure["run"]["number"] if failure else None
    if variant == "right":
        totals["alarms"] += failure is not None
        is_right = failure is None
    elif variant == "wrong":
        totals["traps"] += 1
        totals["caught"] += failure is not None
        is_right = failure is not None
    else:
        totals["buggy"] += 1
        totals["found"] += failure is not None
        is_right = failure is not None
    if failure:
        totals["first"].append(found)
        cause = campaign["causes"][0]["cause"] if campaign["causes"] else failure["why"]["kind"]
        tried = failure["why"].get("tried", [])
        advice = "; ".join(" | ".join(fix["sql"]) for fix in tried)
    if failure and variant == "buggy":
        story = json.dumps([failure["why"].get("headline"), failure["why"].get("edges")])
        cause_right = cause == truth["cause"] and not any(f"{word}" in story for word in truth["never"])
        fix_right = bool(tried) and all(any(word in " ".join(fix["sql"] + [fix["fix"]]) for word in truth["fix"])
                                        for fix in tried)
        totals["cause"] += cause_right
        totals["fix"] += fix_right
        is_right = is_right and cause_right and fix_right
        cause += "" if cause_right else f"   <- {truth['cause']}"
        advice += "" if fix_right else "   <- not as expected"
    totals["wrong"] += not is_right
    mark = "" if is_right else "   <- WRONG"
    line(name, variant, f"run {found}" if found else f"{len(campaign['runs'])} passed", f"{seconds:.1f}", cause + mark, advice,
         lines)


def line(name, variant, found, seconds, cause, advice, lines):
    text = f"{name:<32}{variant:<9}{found:<14}{seconds:<9}{cause:<44}{advice}".rstrip()
    lines.append(text)
    print(text, flush=True)


if __name__ == "__main__":
    main()
