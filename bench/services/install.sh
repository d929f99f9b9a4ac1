#!/usr/bin/env bash
# Gets what the services need into a folder, and builds the Go services: bench/services/install.sh FOLDER
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
folder="$(mkdir -p "${1:?the folder}" && cd "$1" && pwd)"
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --no-input --disable-pip-version-check 'psycopg[binary,pool]>=3.2,<4' 'psycopg2-binary>=2.9' \
    'asyncpg>=0.30' 'SQLAlchemy>=2.0,<2.2' 'Django>=5,<6' 'Flask>=3'
npm install --silent --no-audit --no-fund --prefix "$folder/node" pg@8 postgres@3 knex@3
(cd "$here/go" && go build -o "$folder/go-services" .)
echo "bench/services/run.py --python $folder/python/bin/python --node-modules $folder/node/node_modules --go $folder/go-services"
