#!/usr/bin/env bash
# Runs the public SQL test files against a server, and writes results/slt.md:
#   bench/slt.sh FOLDER postgres://127.0.0.1:5433/slt [more options of skew-bench slt]
# The folder has `sqlite`, `risinglight` and `datafusion`. The last one's data file is not among the tests, but one of
# its queries lists the whole table: that is where the rows come from.
set -euo pipefail
cd "$(dirname "$0")/.."
suites=$1 url=$2
shift 2
data=${CARGO_TARGET_DIR:-target}/slt-data
mkdir -p "$data"
awk '/^select \* from aggregate_test_100_by_sql/ { found = 1 }
     found && /^----/ { rows = 1; print "c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13"; next }
     rows && /^$/ { exit }
     rows { gsub(" ", ","); print }' "$suites/datafusion/pg_compat_simple.slt" >"$data/aggregate_test_100.csv"
cargo run -q -p skew-bench -- slt --url "$url" --data "$data" --reference bench/results/slt-postgresql.txt "$@" "$suites"
