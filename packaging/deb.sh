#!/usr/bin/env bash
# Makes a Debian package of a binary: packaging/deb.sh target/release/skew [folder]
# It has the binary, the manual pages and the shells' completions.
set -euo pipefail
binary="${1:?the binary}"
folder="${2:-.}"
here="$(cd "$(dirname "$0")" && pwd)"
version="$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -1)"
architecture="$(dpkg --print-architecture)"
staging="$(mktemp -d)"
trap 'rm -rf "$staging"' EXIT

install -D -m 755 "$binary" "$staging/usr/bin/skew"
strip "$staging/usr/bin/skew"
skew="$staging/usr/bin/skew"
"$skew" man -q "$staging/usr/share/man/man1"
gzip -9n "$staging"/usr/share/man/man1/*.1
complete() { mkdir -p "$(dirname "$staging/$2")" && "$skew" completions -q "$1" -o "$staging/$2"; }
complete bash usr/share/bash-completion/completions/skew
complete zsh usr/share/zsh/vendor-completions/_skew
complete fish usr/share/fish/vendor_completions.d/skew.fish
install -D -m 644 "$here/../LICENSE-MIT" "$staging/usr/share/doc/skew/copyright" 2>/dev/null || true
mkdir -p "$staging/DEBIAN"
cat >"$staging/DEBIAN/control" <<CONTROL
Package: skew
Version: $version
Architecture: $architecture
Maintainer: Skew contributors <skew@invalid>
Section: devel
Priority: optional
Depends: libc6, libgcc-s1
Recommends: z3
Installed-Size: $(du -sk "$staging/usr" | cut -f1)
Description: is my application right on a database that is not serializable?
 A database that speaks PostgreSQL's protocol and behaves as badly as its
 isolation level allows, a runner for your own tests, a checker of recorded
 histories, and an analysis of transactions.
CONTROL
package="$folder/skew_${version}_${architecture}.deb"
dpkg-deb --root-owner-group --build "$staging" "$package" >/dev/null
echo "$package"
