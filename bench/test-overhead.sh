#!/usr/bin/env bash
# What `skew test` adds to a command's own time: 1,000 runs of psql with fifty statements, two at a time.
#
#   bench/test-overhead.sh [skew] [runs]       target/release/skew and 1000 if not given
set -euo pipefail
skew="${1:-target/release/skew}" runs="${2:-1000}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
{
    echo "CREATE TABLE t (id int PRIMARY KEY, n int);"
    for id in $(seq 12); do
        echo "INSERT INTO t VALUES ($id, 0); SELECT n FROM t WHERE id = $id;"
        echo "UPDATE t SET n = n + 1 WHERE id = $id; SELECT count(*), sum(n) FROM t;"
    done
    echo "SELECT * FROM t ORDER BY id;"
} >"$folder/fifty.sql"
time "$skew" test --jobs 2 --runs "$runs" --isolation read-committed --seed 1 --json "$folder/results.json" -- \
    psql -qX -o /dev/null -v ON_ERROR_STOP=1 -f "$folder/fifty.sql"
python3 - "$folder/results.json" <<'PY'
import json, sys
results = json.load(open(sys.argv[1]))
runs, baseline = results["runs"], results["baseline"]
command = sum(run["ms"] for run in runs)
# Two runs at a time: what is neither in a run nor before the first one is the runner's.
runner = 2 * (results["elapsed_ms"] - sum(run["ms"] for run in baseline)) - command
print(f"{len(runs)} runs of {runs[0]['statements']} statements in {results['elapsed_ms'] / 1000:.1f} s; "
      f"a run takes {command / len(runs):.1f} ms, and {runner / len(runs):.1f} ms pass between runs")
PY
