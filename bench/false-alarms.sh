#!/usr/bin/env bash
# No false alarms: the shop's right checkouts at the levels they are written for, and one thing after the other over ten
# connections at every level of SQL. Ends with 1 if a run fails.
#
#   bench/false-alarms.sh [skew] [runs of a checkout] [runs of tests/crud.rs]
#
# target/release/skew, 10000 and 1000 if not given.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
skew="$(realpath "${1:-$root/target/release/skew}")" runs="${2:-10000}" sequential="${3:-1000}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
binary() {
    cargo test -q --no-run --message-format=json --manifest-path "$root/examples/shop/Cargo.toml" --test "$1" |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}
checkout="$(binary checkout)" crud="$(binary crud)"
failed=0
try() {
    echo "== $1"
    shift
    "$skew" test --jobs 2 --seed 1 --out "$folder" "$@" || failed=1
}
for fix in for-update one-update unique; do
    SHOP_CHECKOUT=$fix try "$fix" -i read-committed -n "$runs" -- "$checkout"
done
SHOP_CHECKOUT=serializable try "asks for serializable, tries again" -n "$runs" -- "$checkout"
SHOP_CHECKOUT=naive try "naive at serializable, tries again" -i serializable -n "$runs" -- "$checkout"
for level in read-committed repeatable-read serializable; do
    try "one thing after the other at $level" -i "$level" -n "$sequential" -- "$crud"
done
exit "$failed"
