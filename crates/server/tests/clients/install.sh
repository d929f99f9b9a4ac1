#!/usr/bin/env bash
# Gets the drivers that the client programs here need into target/clients (or $SKEW_CLIENTS). What a runtime or the
# network is missing for is left out, with a word: its test is skipped then. What is there already is left as it is.
set -uo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="${SKEW_CLIENTS:-$here/../../../../target/clients}"
mkdir -p "$folder" || exit 1
folder="$(cd "$folder" && pwd)"

# get WHAT FILE COMMAND...: runs the command, which makes the file last, unless it is there.
get() {
    local what="$1" file="$2"
    shift 2
    [ -e "$file" ] && return
    "$@" </dev/null || { echo "left out: $what" && rm -rf "$file"; }
}

python_drivers() {
    python3 -m venv "$folder/python-new" &&
        timeout 300 "$folder/python-new/bin/python" -m pip install -q --no-input --disable-pip-version-check \
            'psycopg[binary]>=3.2,<4' 'SQLAlchemy>=2.0,<2.1' 'Django>=5.2,<5.3' 'pytest>=8' &&
        ln -sfn python-new "$folder/python"
}

node_driver() {
    mkdir -p "$folder/node" &&
        timeout 300 npm install --silent --no-audit --no-fund --no-update-notifier --prefix "$folder/node" pg@8
}

sequelize() {
    mkdir -p "$folder/sequelize" &&
        timeout 300 npm install --silent --no-audit --no-fund --no-update-notifier --prefix "$folder/sequelize" pg@8 sequelize@6
}

spring_client() {
    timeout 600 mvn -q -B -f "$here/spring/pom.xml" -Dtarget.folder="$folder/spring" package
}

jdbc_driver() {
    timeout 300 mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
        -Dartifact=org.postgresql:postgresql:42.7.4 -DoutputDirectory="$folder/jdbc" -Dmdep.stripVersion=true
}

# The drivers that crates/cli/tests/it/closing.rs closes.
python_pools() {
    python3 -m venv "$folder/pools-new" &&
        timeout 300 "$folder/pools-new/bin/python" -m pip install -q --no-input --disable-pip-version-check \
            'psycopg[binary,pool]>=3.2,<4' 'psycopg2-binary>=2.9' 'asyncpg>=0.30' 'SQLAlchemy[asyncio]>=2.0,<2.2' &&
        ln -sfn pools-new "$folder/pools"
}

postgresjs() {
    mkdir -p "$folder/postgresjs" &&
        timeout 300 npm install --silent --no-audit --no-fund --no-update-notifier --prefix "$folder/postgresjs" pg@8 postgres@3
}

go_drivers() {
    (cd "$here/closing/go" && timeout 600 go build -o "$folder/closing-go" .)
}

hikari() {
    local artifact
    for artifact in com.zaxxer:HikariCP:5.1.0 org.slf4j:slf4j-api:2.0.16 org.postgresql:postgresql:42.7.4; do
        timeout 300 mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
            -Dartifact="$artifact" -DoutputDirectory="$folder/hikari" -Dmdep.stripVersion=true || return 1
    done
}

sqlx_client() {
    timeout 900 cargo build -q --manifest-path "$here/sqlx/Cargo.toml" --target-dir "$folder/sqlx"
}

get "psycopg, SQLAlchemy, Django and pytest" "$folder/python" python_drivers
get "node-postgres" "$folder/node/node_modules" node_driver
get "Sequelize" "$folder/sequelize/node_modules" sequelize
get "Spring Boot, Hibernate and Liquibase" "$folder/spring/shop.jar" spring_client
get "JDBC" "$folder/jdbc/postgresql.jar" jdbc_driver
get "pools of Python's drivers" "$folder/pools" python_pools
get "postgres.js" "$folder/postgresjs/node_modules" postgresjs
get "pgx and lib/pq" "$folder/closing-go" go_drivers
get "Hikari" "$folder/hikari/postgresql.jar" hikari
# Cargo knows by itself whether there is something to do.
sqlx_client </dev/null || echo "left out: sqlx"
exit 0
