#!/usr/bin/env bash
# Gets the drivers that the client programs here need into target/clients (or $SKEW_CLIENTS): what a runtime is missing
# for is left out, with a word.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${SKEW_CLIENTS:-$here/../../../../target/clients}"
mkdir -p "$folder"
folder="$(cd "$folder" && pwd)"

if command -v python3 >/dev/null; then
    [ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
    "$folder/python/bin/pip" install -q 'psycopg[binary]>=3.2,<4' 'SQLAlchemy>=2.0,<2.1' 'Django>=5.2,<5.3'
else
    echo "left out: psycopg, SQLAlchemy and Django, since there is no python3"
fi

if command -v npm >/dev/null; then
    mkdir -p "$folder/node"
    npm install --silent --prefix "$folder/node" pg@8
else
    echo "left out: node-postgres, since there is no npm"
fi

if command -v mvn >/dev/null && command -v java >/dev/null; then
    [ -e "$folder/jdbc/postgresql.jar" ] || mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact=org.postgresql:postgresql:42.7.4 -DoutputDirectory="$folder/jdbc" -Dmdep.stripVersion=true
else
    echo "left out: JDBC, since there is no java or no mvn"
fi

cargo build -q --manifest-path "$here/sqlx/Cargo.toml" --target-dir "$folder/sqlx"
