#!/usr/bin/env bash
# Builds every package from one binary and tries each as a new user would. What this machine cannot try is said.
#
#   packaging/try.sh target/release/skew
#
# Needs python3 with venv; node and npm, go, java and maven, dpkg-deb and docker are used where they are.
set -euo pipefail
binary="$(realpath "${1:?the binary, as in: packaging/try.sh target/release/skew}")"
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
step() { printf '\n== %s\n' "$*"; }
missing() { printf 'not tried: %s\n' "$*"; }
has() { command -v "$1" >/dev/null; }

step "wheel"
wheel="$(python3 "$here/python/wheel.py" "$binary" "$work")"
python3 -m venv "$work/user"
began=$(date +%s%N)
"$work/user/bin/pip" install -q "$wheel" pytest "psycopg[binary]"
installed=$(date +%s%N)
mkdir "$work/project"
sed -n '/^```python$/,/^```$/p' "$here/python/README.md" | sed '1d;$d' >"$work/project/test_shop.py"
(cd "$work/project" && "$work/user/bin/pytest" -q test_shop.py) >"$work/out" 2>&1 && { echo "the bug was not found"; exit 1; }
ended=$(date +%s%N)
grep -q 'violated\[lost-update\]' "$work/out" || { cat "$work/out"; exit 1; }
echo "pip install: $(((installed - began) / 1000000)) ms; first explained bug: $(((ended - installed) / 1000000)) ms more"
"$work/user/bin/pytest" -q "$here/python/tests"

step ".deb"
if has dpkg-deb; then
    package="$("$here/deb.sh" "$binary" "$work")"
    dpkg-deb -x "$package" "$work/deb"
    "$work/deb/usr/bin/skew" --version
    ls "$work/deb/usr/share/man/man1" | head -3
else
    missing ".deb (no dpkg-deb)"
fi

step "npm"
if has npm; then
    cp -r "$here/npm" "$work/npm"
    rm -rf "$work/npm/test"
    install -m 755 "$binary" "$work/npm/bin/skew"
    strip "$work/npm/bin/skew"
    (cd "$work/npm" && npm pack --silent >/dev/null)
    mkdir "$work/npm-user"
    (cd "$work/npm-user" && npm init -y >/dev/null && npm install --silent "$work"/npm/*.tgz pg && npx skew --version)
    cp "$here/npm/test/shop.test.js" "$work/npm-user/shop.test.js"
    sed -i "s#'../index.js'#'skew-test'#" "$work/npm-user/shop.test.js"
    (cd "$work/npm-user" && node --test shop.test.js) | grep -E '^# (tests|pass|fail)'
else
    missing "npm (no npm)"
fi

step "Go"
if has go; then (cd "$here/go/skewtest" && SKEW_BINARY="$binary" go test -count=1 ./...); else missing "Go (no go)"; fi

step "JUnit 5"
if has mvn; then
    cp -r "$here/java" "$work/java"
    (cd "$work/java" && SKEW_BINARY="$binary" mvn -q -B test) && echo ok
else
    missing "JUnit 5 (no mvn)"
fi

step "Docker"
if has docker && docker info >/dev/null 2>&1; then
    docker build -q -f "$here/Dockerfile" -t skew-try "$root"
    docker run --rm skew-try --version
else
    missing "Dockerfile and compose.yaml (no docker daemon)"
fi

step "GitHub Action"
missing "github-action/action.yml (runs on GitHub only)"
