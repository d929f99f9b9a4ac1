#!/usr/bin/env bash
# Builds every package from one binary and tries each as a new user would. What this machine cannot try is said.
#
#   packaging/try.sh target/release/skew                 every package of a binary that is built already
#   packaging/try.sh target/release/skew --build         also what builds by itself: maturin, the image, `cargo install`
#
# Needs python3 with venv; node and npm, go, java and maven, dpkg-deb and docker are used where they are. Without a docker
# daemon the image's file system is made by the Dockerfile's own steps, and its binary is run in a chroot.
set -euo pipefail
binary="$(realpath "${1:?the binary, as in: packaging/try.sh target/release/skew}")"
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
builds="${2:-}"
steps=0
step() { steps=$((steps + 1)); printf '\n== %s: %s\n' "$steps" "$*"; }
missing() { printf 'not tried: %s\n' "$*"; }
has() { command -v "$1" >/dev/null; }

step "wheel"
wheel="$(python3 "$here/python/wheel.py" "$binary" "$work")"
"$here/first-bug.sh" "$wheel"
python3 -m venv "$work/user"
"$work/user/bin/pip" install -q --disable-pip-version-check "$wheel" pytest "psycopg[binary]"
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

step "completions and manual pages"
for shell in bash zsh fish; do "$binary" completions -q "$shell" >"$work/completion.$shell" && test -s "$work/completion.$shell"; done
bash -n "$work/completion.bash"
"$binary" man -q "$work/man"
ls "$work/man" | wc -l

step "image"
# The lines of the Dockerfile that build, run outside of it.
image_without_docker() {
    local target folder="$root/target/image"
    target="$(rustc -vV | sed -n 's/^host: //p')"
    RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --locked -p skew-cli --target "$target" \
        --manifest-path "$root/Cargo.toml"
    mkdir -p "$folder"
    strip -o "$folder/skew" "${CARGO_TARGET_DIR:-$root/target}/$target/release/skew"
    try_in_chroot "$folder"
}
# A file system with the binary and nothing else: what the image is.
try_in_chroot() {
    local pid
    chroot "$1" /skew --version
    SKEW_PASSWORD=secret chroot "$1" /skew serve --host 127.0.0.1 --port 5439 >/dev/null 2>&1 &
    pid=$!
    for _ in $(seq 50); do chroot "$1" /skew serve --ping --port 5439 >/dev/null 2>&1 && break; sleep 0.1; done
    chroot "$1" /skew serve --ping --port 5439 && echo "healthy; $(du -h "$1/skew" | cut -f1)"
    ! has psql || PGPASSWORD=secret psql -qXAt -h 127.0.0.1 -p 5439 -U postgres -d test -c "SELECT 'answers'"
    kill "$pid"
}
if has docker && docker info >/dev/null 2>&1; then
    docker build -q -f "$here/Dockerfile" -t skew-try "$root"
    docker run --rm skew-try --version
    docker compose -f "$here/compose.yaml" config -q
elif [ "$builds" = --build ] && [ "$(id -u)" = 0 ]; then
    image_without_docker
else
    missing "Dockerfile and compose.yaml (no docker daemon; --build as root runs the same steps in a chroot)"
fi

step "GitHub Action"
# The steps of the action that install from a folder, as its shell runs them; only the cache is GitHub's.
python3 "$here/github-action/try.py" "$binary"

if [ "$builds" = --build ]; then
    step "maturin"
    "$work/user/bin/pip" install -q maturin
    (cd "$here/python" && "$work/user/bin/maturin" build -q --release -o "$work/maturin")
    python3 -m venv "$work/maturin-user"
    "$work/maturin-user/bin/pip" install -q "$work"/maturin/*.whl pytest "psycopg[binary]"
    "$work/maturin-user/bin/skew" --version
    "$work/maturin-user/bin/pytest" -q "$here/python/tests"

    step "cargo install, and the checker alone"
    began=$(date +%s)
    cargo install -q --locked --path "$root/crates/cli" --no-default-features --root "$work/checker"
    "$work/checker/bin/skew" check "$root/examples/histories/on-call.hist" >/dev/null || test $? = 1
    echo "the checker alone: $(($(date +%s) - began)) s"
    cargo install -q --locked --path "$root/crates/cli" --root "$work/cargo"
    "$work/cargo/bin/skew" --version

    step "crates"
    (cd "$root" && cargo publish --dry-run --no-verify --allow-dirty --workspace 2>&1 | grep -c 'aborting upload')
fi
