#!/usr/bin/env bash
# From nothing but Python to the first explained bug: packaging/first-bug.sh WHEEL
# A new environment, the wheel, pytest and a driver from the package index, and the test that the wheel's page shows.
set -euo pipefail
wheel="$(realpath "${1:?the wheel}")"
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
began=$(date +%s%N)
since() { echo "$((($(date +%s%N) - began) / 1000000)) ms"; }
python3 -m venv "$work/env"
echo "environment: $(since)"
"$work/env/bin/pip" install -q --disable-pip-version-check "$wheel" pytest "psycopg[binary]"
echo "installed: $(since)"
sed -n '/^```python$/,/^```$/p' "$here/python/README.md" | sed '1d;$d' >"$work/test_shop.py"
cd "$work"
"$work/env/bin/pytest" -q test_shop.py >out 2>&1 && { echo "the bug was not found"; exit 1; }
grep -m1 'violated\[lost-update\]' out || { cat out; exit 1; }
echo "first explained bug: $(since)"
