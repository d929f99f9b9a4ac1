#!/usr/bin/env bash
# Builds Skew and the shop, and runs the shop's test on the weak database: from a clean clone to an explained bug.
#
#   examples/shop/try.sh                                   the checkout that oversells
#   SHOP_CHECKOUT=for-update examples/shop/try.sh          one that does not (see src/lib.rs for others)
#   examples/shop/try.sh --isolation serializable          the naive one, where the database takes care
#
# Further options are those of `skew test`.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
echo "building skew and the shop (some minutes the first time) …" >&2
# Cargo shows its progress on a terminal, and what it compiles in a log.
cargo build --release --manifest-path "$root/Cargo.toml" -p skew-cli
# The test's binary, which is what is run again and again: it takes milliseconds, `cargo test` would take longer.
test="$(cargo test --no-run --message-format=json-render-diagnostics --manifest-path "$here/Cargo.toml" --test checkout |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')"
options=("$@")
[[ " $* " == *" --runs"* ]] || options=(--runs 50 "${options[@]}")
[[ " $* " == *" --isolation"* || " $* " == *" -i"* ]] || options=(--isolation read-committed "${options[@]}")
exec "${CARGO_TARGET_DIR:-$root/target}/release/skew" test "${options[@]}" -- "$test"
