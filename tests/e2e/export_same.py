#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""export_same.py GPUBPF CAPTURE FOLDER [OPTION…]: every cell of JSON, JSON lines, CSV and SQLite against the canonical JSON.

Prints each difference and, last, how many cells were compared.
"""
import csv
import json
import os
import sqlite3
import subprocess
import sys

ABSENT, UNMEASURED = "<absent>", "<not measured>"
program, capture, folder, *options = sys.argv[1:]
differences = 0


def export(kind, *more):
    path = os.path.join(folder, "same." + kind)
    subprocess.run([program, "export", "--format", kind, *more, *options, "-o", path, capture], check=True, stderr=subprocess.DEVNULL)
    return path


def differ(kind, table, row, key, want, got):
    global differences
    differences += 1
    if differences <= 20:
        print(f"{kind}: {table} row {row} {key}: {got!r}, not {want!r}")


def cells(row, keys):
    out = []
    for k in keys:
        if k not in row:
            out.append(ABSENT)
        elif row[k] is None:
            out.append(UNMEASURED if row.get(k + "_unmeasured") is True else "<null alone>")
        else:
            out.append(row[k])
    return out


def as_csv(v):
    if v is ABSENT:
        return ""
    if v is UNMEASURED:
        return "not measured"
    return str(v).lower() if isinstance(v, bool) else str(v)


def as_sql(v):
    return None if v in (ABSENT, UNMEASURED) else int(v) if isinstance(v, bool) else v


schema = json.loads(subprocess.run([program, "export", "--schema"], capture_output=True, check=True).stdout)
with open(export("json")) as f:
    tables = json.load(f)["tables"]
lines = {}
with open(export("jsonl")) as f:
    for line in f:
        row = json.loads(line)
        lines.setdefault(row.pop("table"), []).append(row)
db = sqlite3.connect(export("sqlite"))
compared = 0

for table, rows in tables.items():
    properties = schema["$defs"][table]["properties"]
    keys = [k for k in properties if not k.endswith("_unmeasured")]
    if lines.get(table, []) != rows:
        differ("jsonl", table, "", "", len(rows), len(lines.get(table, [])))
    with open(export("csv", "--table", table), newline="") as f:
        comma = list(csv.reader(f))
    if comma[0] != keys:
        differ("csv", table, 0, "header", keys, comma[0])
    columns = [c[1] for c in db.execute(f"PRAGMA table_info({table})")]
    if sorted(columns) != sorted(properties):
        differ("sqlite", table, 0, "columns", sorted(properties), sorted(columns))
    sql = db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall()
    if not len(rows) == len(comma) - 1 == len(sql):
        differ("rows", table, "", "", len(rows), (len(comma) - 1, len(sql)))
    for i, row in enumerate(rows):
        want = cells(row, keys)
        named = dict(zip(columns, sql[i])) if i < len(sql) else {}
        for k, w, c in zip(keys, want, comma[i + 1] if i + 1 < len(comma) else []):
            compared += 1
            if c != as_csv(w):
                differ("csv", table, i, k, as_csv(w), c)
            if named.get(k) != as_sql(w):
                differ("sqlite", table, i, k, as_sql(w), named.get(k))
            flag = k + "_unmeasured"
            if flag in columns and named[flag] != (w is UNMEASURED):
                differ("sqlite", table, i, flag, w is UNMEASURED, named[flag])
print(f"{differences} differences, cells: {'many' if compared > 1000 else compared}")
