#!/usr/bin/env bash
# A campaign in shards with GNU parallel, on this machine or (with --sshlogin) on several.
#
#   SHARDS=16 RUNS=10000 examples/ci/parallel.sh --setup schema.sql -- pytest tests/
#
# Every shard makes its part of the same runs: a shared seed, another rest of the run's number. `skew merge` puts the
# results together and ends with the exit code of the whole campaign.
set -euo pipefail
shards="${SHARDS:-8}" runs="${RUNS:-1000}" seed="${SEED:-$RANDOM}"
results="$(mktemp -d)"
# A shard that finds a failure ends with 1: that is for `skew merge` to say.
parallel --quote skew test --isolation "${ISOLATION:-read-committed}" --runs "$runs" --seed "$seed" \
    --shard "{}/$shards" --json "$results/{}.json" --out "$results/{}" "$@" ::: $(seq "$shards") || true
skew merge "$results"/*.json --junit skew-junit.xml
