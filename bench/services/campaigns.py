"""Campaigns of one service: what `skew test` found, how fast, and what it said."""

import json
import pathlib
import subprocess
import tempfile
import time

# A correct service gets all runs with the first seed, and so many with the other ones.
RUNS_OF_OTHER_SEEDS = 10


def of_service(command, truth, options):
    """What the campaigns of all variants found. Only the first campaign of the buggy service is explained by experiments:
    the others show in which run a failure comes."""
    seeds = range(1, options.seeds + 1)
    return {
        "buggy": [campaign(command, "buggy", seed, truth, options, options.runs, seed == 1) for seed in seeds],
        "wrong": [campaign(command, "wrong", seed, truth, options, options.runs, False) for seed in seeds],
        "right": [campaign(command, "right", seed, truth, options, options.runs if seed == 1 else RUNS_OF_OTHER_SEEDS, False)
                  for seed in seeds],
    }


def campaign(command, variant, seed, truth, options, runs, is_explained):
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.json"
        level = ["-i", truth["level"]] if truth["level"] else []
        words = [options.skew, "test", *level, "-n", runs, "-x", "--seed", seed, "--json", results, "--out", folder,
                 *(["--tries", options.tries] if is_explained else ["--repeats", "0"]), "--", *command, variant]
        started = time.time()
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        seconds = time.time() - started
        if not results.exists():
            return {"seed": seed, "seconds": seconds, "found": None, "runs": 0, "ms": [], "code": done.returncode,
                    "trouble": (done.stderr.splitlines() or ["?"])[0]}
        told = json.loads(results.read_text())
    failure = told["failure"]
    return {
        "seed": seed, "seconds": round(seconds, 2), "code": done.returncode, "runs": len(told["runs"]),
        "ms": [run["ms"] for run in told["runs"]], "found": failure and failure["run"]["number"],
        **(told_of(told) if failure and is_explained else {}),
    }


def told_of(told):
    """What the explanation says: the cause in a few words, its cells, and the changes that are advised."""
    why = told["failure"]["why"]
    cause = told["causes"][0]["cause"] if told["causes"] else why["kind"]
    kind, _, cells = cause.partition(" of ")
    fixes = [" ".join([fix["fix"], *fix["sql"]]) for fix in why.get("tried", [])]
    return {"cause": kind, "cells": [cell.strip() for cell in cells.split(",") if cell], "fixes": fixes,
            "tried": [fix["runs"] or f"explored {fix.get('explored')}" for fix in why.get("tried", [])]}
