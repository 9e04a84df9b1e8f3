#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Totals of a large export, read as it comes: rows per table, and what calls and executions took together.

  totals.py json|jsonl <FILE    totals.py csv TABLE <FILE    totals.py sqlite FILE    totals.py folded <FILE
"""
import csv
import json
import sqlite3
import sys

TABLES = ("calls", "device_calls", "executions", "copies")
TIMED = TABLES[:3]


def rows_of_json():
    table = None
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line.startswith('"') and line.endswith("["):
            table = line[1:line.index('"', 1)]
        elif line.startswith("{") and table:
            row = line.rstrip(",")
            at = row.rfind("]")
            yield table, json.loads(row if row.endswith("}") else row[:at])


def rows_of_jsonl():
    for line in sys.stdin:
        row = json.loads(line)
        yield row.pop("table"), row


def add(rows):
    count, took = dict.fromkeys(TABLES, 0), dict.fromkeys(TIMED, 0)
    for table, row in rows:
        if table in count:
            count[table] += 1
            if table in took:
                took[table] += row.get("duration_ns") or 0
    return count, took


def show(count, took):
    for t in count:
        print(t, count[t], *([took[t]] if t in took else []))


kind = sys.argv[1]
if kind == "json":
    show(*add(rows_of_json()))
elif kind == "jsonl":
    show(*add(rows_of_jsonl()))
elif kind == "csv":
    reader = csv.reader(sys.stdin)
    header = next(reader)
    at = header.index("duration_ns") if "duration_ns" in header else None
    n = took = 0
    for row in reader:
        n += 1
        if at is not None and row[at] not in ("", "not measured"):
            took += int(row[at])
    print(sys.argv[2], n, *([took] if at is not None else []))
elif kind == "sqlite":
    db = sqlite3.connect(sys.argv[2])
    for t in TABLES:
        what = "count(*)" + (", sum(duration_ns)" if t in TIMED else "")
        print(t, *db.execute(f"SELECT {what} FROM {t}").fetchone())
elif kind == "folded":
    print("executions", "-", sum(int(line.rsplit(" ", 1)[1]) for line in sys.stdin))
else:
    sys.exit(f"totals.py: '{kind}'?")
