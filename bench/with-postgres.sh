#!/usr/bin/env bash
# Runs a command beside a PostgreSQL of its own, without fsync, that is gone afterwards:
#   bench/with-postgres.sh 5432 skew-bench hermitage --url postgres://postgres@127.0.0.1:5432/postgres …
# PostgreSQL does not run as root: root lends it to the user postgres.
set -euo pipefail
port=$1
shift
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
bin=${bin:-$(pg_config --bindir)}
folder=$(mktemp -d)
as=()
if [ "$(id -u)" = 0 ]; then
    chown postgres "$folder"
    as=(runuser -u postgres --)
fi
cd "$folder"
"${as[@]}" "$bin/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >/dev/null
stop() {
    "${as[@]}" "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null || true
    rm -rf "$folder"
}
trap stop EXIT
"${as[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w start -o "-p $port -k $folder -c fsync=off \
    -c synchronous_commit=off -c full_page_writes=off -c autovacuum=off -c max_connections=200" >/dev/null
cd - >/dev/null
"$@"
