#!/usr/bin/env python3
"""Writes the rows that a new PostgreSQL 15 database has in its catalogs: one file a catalog.

    dump.py psql -h … -U postgres template1

The first line names the columns, the second has each column's usual value. In a row a field that is empty has the usual
value; \\N is NULL, \\E the empty text, \\= the second field of the row.
"""
import collections
import pathlib
import subprocess
import sys

# What is left out: parse trees, what changes as a server runs, texts for people, collations of the machine's libraries.
CATALOGS = {
    "pg_aggregate": "true", "pg_am": "true", "pg_amop": "true", "pg_amproc": "true", "pg_attribute": "true",
    "pg_auth_members": "true", "pg_authid": "oid <> 10", "pg_cast": "true", "pg_class": "true",
    "pg_collation": "collprovider <> 'i'", "pg_constraint": "true", "pg_conversion": "true", "pg_depend": "true",
    "pg_extension": "true", "pg_index": "true", "pg_init_privs": "true", "pg_language": "true",
    "pg_opclass": "true", "pg_operator": "true", "pg_opfamily": "true", "pg_proc": "true", "pg_range": "true",
    "pg_rewrite": "true", "pg_tablespace": "true", "pg_ts_config": "true", "pg_ts_dict": "true",
    "pg_ts_parser": "true", "pg_ts_template": "true", "pg_type": "true",
}
CHANGING = {"relpages", "reltuples", "relallvisible", "relfrozenxid", "relminmxid", "relfilenode", "rolpassword"}


def ask(sql):
    command = sys.argv[1:] + ["-XAtqc", sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def dump(table, condition):
    columns = ask(f"""select attname, atttypid::regtype from pg_attribute
        where attrelid = '{table}'::regclass and attnum > 0 order by attnum""").splitlines()
    columns = [column.split("|") for column in columns]
    columns = [(name, ty) for name, ty in columns if ty != "pg_node_tree" and name not in CHANGING]
    fields = ", ".join(f"{name}::oid" if ty == "regproc" else name for name, ty in columns)
    rows = ask(f"copy (select {fields} from {table} where {condition} order by 1, 2, 3) to stdout").splitlines()
    rows = [["\\E" if field == "" else field for field in row.split("\t")] for row in rows]
    usual = [collections.Counter(column).most_common(1)[0][0] for column in zip(*rows)]
    lines = ["\t".join(name for name, _ in columns), "\t".join(usual)]
    for row in rows:
        same = [("\\=" if n > 1 and field == row[1] and field != usual[n] and not field.isdigit() else field)
                for n, field in enumerate(row)]
        line = "\t".join("" if field == usual[n] else field for n, field in enumerate(same))
        lines.append(line.rstrip("\t"))
    pathlib.Path(__file__).with_name(f"{table}.txt").write_text("\n".join(lines) + "\n")


for table, condition in CATALOGS.items():
    dump(table, condition)
