#!/usr/bin/env python3
"""Runs `skew test` on every service here, buggy, fixed rightly and fixed wrongly, and compares with `truth.json`; beside it,
the same commands in a loop on a real PostgreSQL.

    bench/services/run.py --skew target/release/skew --python PYTHON --node-modules FOLDER --go BINARY [--save] [name ...]

`install.sh` here gets what the services need. `--save` keeps what was measured in `bench/results/services.json`, service by
service, and writes the table of all that is kept to `bench/results/services.md`; `--table` only prints it. Ends with 1 if a
goal is missed.
"""

import argparse
import json
import os
import pathlib
import sys

import campaigns
import postgres
import table

HERE = pathlib.Path(__file__).resolve().parent
KEPT = HERE.parent / "results" / "services.json"


def main():
    options = arguments()
    truth = json.loads((HERE / "truth.json").read_text())
    kept = json.loads(KEPT.read_text()) if KEPT.exists() and (options.save or options.table) else {}
    if not options.table:
        measure(truth, kept, options)
    kept = {name: kept[name] for name in truth if name in kept}
    text, missed = table.of(kept, truth)
    print(text)
    if options.save:
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        KEPT.with_suffix(".md").write_text(text)
    sys.exit(1 if missed else 0)


def arguments():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--skew", default="skew")
    options.add_argument("--python", default=sys.executable, help="a Python with the packages of install.sh")
    options.add_argument("--node-modules", help="a folder with pg, postgres and knex")
    options.add_argument("--go", help="the Go services, built: go build -o FILE")
    options.add_argument("--runs", type=int, default=30, help="runs of a campaign")
    options.add_argument("--tries", type=int, default=20, help="runs with a change, before it is advised")
    options.add_argument("--seeds", type=int, default=3, help="campaigns of each variant")
    options.add_argument("--no-postgres", action="store_true", help="leave PostgreSQL out")
    options.add_argument("--save", action="store_true")
    options.add_argument("--table", action="store_true", help="print what is kept, and measure nothing")
    options.add_argument("names", nargs="*", help="services, by a part of their names")
    return options.parse_args()


def measure(truth, kept, options):
    os.environ["NODE_PATH"] = options.node_modules or ""
    names = [name for name in truth if not options.names or any(part in name for part in options.names)]
    with postgres.server(options.no_postgres) as url:
        for name in names:
            command = command_of(name, options)
            if command is None:
                print(f"{name}: left out, its language is not given")
                continue
            kept[name] = campaigns.of_service(command, truth[name], options)
            if url:
                kept[name]["postgres"] = postgres.loop(command, url, kept[name]["buggy"][0]["seconds"])
            print(table.line(name, kept[name], truth[name]), flush=True)
            if options.save:
                KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def command_of(name, options):
    language, file = name.split("/")
    if language == "python":
        return [options.python, str(HERE / name)]
    if language == "node" and options.node_modules:
        return ["node", str(HERE / name)]
    if language == "go" and options.go:
        return [options.go, file]
    return None


if __name__ == "__main__":
    main()
