#!/usr/bin/env bash
# Measures `skew serve` beside a PostgreSQL without fsync, and writes the tables of results/sql-speed.md:
#   bench/sql-speed.sh                                  everything, about half an hour
#   bench/sql-speed.sh --parts statements --rounds 1    what `skew-bench wire-speed --help` offers
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release -p skew-cli -p skew-bench
bin=${CARGO_TARGET_DIR:-target}/release
postgres=${PORT:-55430}
servers=()
trap 'kill "${servers[@]}"' EXIT
at=$postgres
arguments=(--server "postgresql=postgres://postgres@127.0.0.1:$postgres/postgres")
for level in ser cc; do
    at=$((at + 1))
    "$bin/skew" serve --port "$at" --isolation "$level" --seed 1 >/dev/null &
    servers+=($!)
    arguments+=(--server "skew-$level=postgres://skew@127.0.0.1:$at/postgres")
done
if [ $# = 0 ]; then
    set -- --parts statements,growth,load,resets --csv bench/results
fi
bench/with-postgres.sh "$postgres" "$bin/skew-bench" wire-speed "${arguments[@]}" "$@"
