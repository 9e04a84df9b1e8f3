#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Views of `gpubpf timeline --sql-out` over a trace, without Perfetto's trace processor: its tables are made in SQLite as its
documentation and its importer have them (a track below a thread's or a process's has that thread or process and no parent;
an instant has dur 0, what has no end -1).

  trace_sql.py TRACE MODULE SQL         prints the rows
  trace_sql.py TRACE MODULE --json JSON holds all views against `gpubpf export --format json` of the same capture; prints each
                                        difference and, last, how many values were compared
"""
import json
import re
import sqlite3
import sys
from collections import Counter

import trace_read

TABLES = """
CREATE TABLE track(id INTEGER PRIMARY KEY, name, parent_id);
CREATE TABLE thread_track(id INTEGER PRIMARY KEY, name, parent_id, utid);
CREATE TABLE process_track(id INTEGER PRIMARY KEY, name, parent_id, upid);
CREATE TABLE counter_track(id INTEGER PRIMARY KEY, name, parent_id);
CREATE TABLE process_counter_track(id INTEGER PRIMARY KEY, name, parent_id, upid);
CREATE TABLE thread(id, utid INTEGER PRIMARY KEY, tid, name, upid);
CREATE TABLE process(id, upid INTEGER PRIMARY KEY, pid, name);
CREATE TABLE slice(id INTEGER PRIMARY KEY, ts, dur, track_id, category, name, depth, arg_set_id);
CREATE TABLE counter(id INTEGER PRIMARY KEY, ts, track_id, value REAL);
CREATE TABLE flow(id INTEGER PRIMARY KEY, slice_out, slice_in);
CREATE TABLE args(arg_set_id, key, int_value, string_value);
"""


def add_tracks(db, t):
    """The number of each track by its uuid."""
    number, upid, utid = {}, {}, {}
    for uuid, k in t.about.items():
        n = number[uuid] = len(number) + 1
        parent = k["parent"]
        root = t.about[parent]["pid"] is not None if parent is not None else False
        above = None if parent is None or root else number[parent]
        up, ut = upid.get(parent), utid.get(parent)
        if k["tid"] is not None:
            ut = n
            db.execute("INSERT INTO thread VALUES (?, ?, ?, NULL, ?)", (ut, ut, k["tid"], up))
        elif k["pid"] is not None:
            up = n
            db.execute("INSERT INTO process VALUES (?, ?, ?, NULL)", (up, up, k["pid"]))
        upid[uuid], utid[uuid] = up, ut
        db.execute("INSERT INTO track VALUES (?, ?, ?)", (n, k["name"], above))
        if k["counter"]:
            db.execute("INSERT INTO counter_track VALUES (?, ?, ?)", (n, k["name"], above))
            if up is not None:
                db.execute("INSERT INTO process_counter_track VALUES (?, ?, ?, ?)", (n, k["name"], above, up))
        elif ut is not None:
            db.execute("INSERT INTO thread_track VALUES (?, ?, ?, ?)", (n, k["name"], above, ut))
        elif up is not None:
            db.execute("INSERT INTO process_track VALUES (?, ?, ?, ?)", (n, k["name"], above, up))
    return number


def database(trace, module):
    t = trace_read.Trace(open(trace, "rb").read())
    db = sqlite3.connect(":memory:")
    db.executescript(TABLES)
    number, sets, ids = add_tracks(db, t), [], {}
    for e in sorted(t.slices + t.instants, key=lambda e: e["ts"]):
        ids[id(e)] = n = len(ids) + 1
        sets.append({"debug." + k: v for k, v in e["args"].items()})
        dur = 0 if e["type"] == 3 else -1 if e["dur"] is None else e["dur"]
        db.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                   (n, e["ts"], dur, number[e["uuid"]], e["cat"], e["name"], e.get("depth", 0), n - 1))
        db.executemany("INSERT INTO args VALUES (?, ?, ?, ?)",
                       [(n - 1, k, *((None, v) if isinstance(v, str) else (v, None))) for k, v in sets[-1].items()])
    db.executemany("INSERT INTO counter(ts, track_id, value) VALUES (?, ?, ?)",
                   [(e["ts"], number[e["uuid"]], float(e["value"])) for e in t.samples])
    db.executemany("INSERT INTO flow(slice_out, slice_in) VALUES (?, ?)", [(ids[id(e["from"])], ids[id(e)]) for e in t.flows])
    db.create_function("EXTRACT_ARG", 2, lambda s, key: None if s is None else sets[s].get(key), deterministic=True)
    db.executescript(re.sub("CREATE OR REPLACE PERFETTO VIEW", "CREATE VIEW", open(module).read()))
    return db


def view_names(module):
    return re.findall(r"^CREATE OR REPLACE PERFETTO VIEW (\w+)", open(module).read(), re.M)


# ---- Against the canonical JSON ----

bad = []
compared = 0


def same(what, got, want):
    global compared
    got, want = Counter(got), Counter(want)
    compared += sum(want.values())
    for row in list((got - want).elements())[:3]:
        bad.append(f"{what}: the views alone have {row}")
    for row in list((want - got).elements())[:3]:
        bad.append(f"{what}: the JSON alone has {row}")


def cell(row, key):
    """A value, None: absent, "?": not measured."""
    return "?" if row.get(key + "_unmeasured") else row.get(key)


def rows(db, sql):
    c = db.execute(sql)
    keys = [d[0] for d in c.description]
    return [dict(zip(keys, r)) for r in c]


def hold_calls(db, j, pid):
    api = {a["id"]: a["name"] for a in j["apis"]}
    keys = ("duration_ns", "result")
    same("calls", [(c["pid"], c["tid"], c["ts"], c["name"], *(cell(c, k) for k in keys), c["bytes"], c["captured"],
                    cell(c, "on_device")) for c in rows(db, "SELECT * FROM gpubpf_call")],
         [(pid[c["process"]], c["tid"], c["entry_ns"], api[c["api"]], *(cell(c, k) for k in keys), c.get("bytes"),
           int(c["captured"]), cell(c, "device")) for c in j["calls"]])
    runs = Counter(e.get("call") for e in j["executions"] if e["kind"] in KINDS)
    same("executions of calls", [(c["ts"], c["name"], c["executions"]) for c in
                                 rows(db, "SELECT * FROM gpubpf_call WHERE executions IS NOT NULL")],
         [(c["entry_ns"], api[c["api"]], runs[c["id"]]) for c in j["calls"] if "device" in c and not c.get("device_unmeasured")])
    same("unmatched calls", [(u["ts"], u["name"], cell(u, "reason")) for u in
                             rows(db, "SELECT * FROM gpubpf_unmatched WHERE what = 'call'")],
         [(c["entry_ns"], api[c["api"]], cell(c, "device")) for c in j["calls"] if "device" in c and c["device"] != "ran"])


KINDS = ("kernel", "copy", "set", "graph")


def hold_executions(db, j, pid, host):
    session = {s["id"]: pid.get(s["process"]) for s in j["sessions"]}
    kernel = {k["id"]: k for k in j["kernels"]}
    moved = {c["execution"]: c for c in j["copies"]}
    mine = [e for e in j["executions"] if e["kind"] in KINDS]
    keys = ("device", "context", "stream", "correlation", "link", "graph", "graph_node")

    def of_json(e):
        c = moved.get(e["id"], {})
        return (e["kind"], session[e["session"]], cell(e, "start_ns"), cell(e, "duration_ns"), *(e.get(k) for k in keys),
                kernel[e["kernel"]]["name"] if "kernel" in e else None, c.get("direction"), c.get("bytes"))

    def of_views(d):
        return (d["kind"], d["pid"], "?" if d["start_ts_unmeasured"] else d["start_ts"], cell(d, "duration_ns"),
                *(d[k] for k in keys), d["name"] if d["kind"] == "kernel" else None, d["direction"], d["bytes"])

    missing = db.execute("SELECT dispatches_not_shown FROM gpubpf_capture").fetchone()[0]
    if not missing:
        same("executions", map(of_views, rows(db, "SELECT * FROM gpubpf_dispatch")), map(of_json, mine))
        same("untimed", map(of_views, rows(db, "SELECT * FROM gpubpf_dispatch_untimed")),
             [of_json(e) for e in mine if e.get("duration_ns_unmeasured")])
    elif missing != len(mine) - len(rows(db, "SELECT 1 FROM gpubpf_dispatch")):
        bad.append(f"{missing} executions are not shown")
    same("timed", map(of_views, rows(db, "SELECT * FROM gpubpf_dispatch_timed")),
         [of_json(e) for e in mine if "duration_ns" in e and not e.get("duration_ns_unmeasured")])
    same("unmatched executions", [(u["kind"], u["pid"], u["reason"]) for u in
                                  rows(db, "SELECT * FROM gpubpf_unmatched WHERE what = 'execution'")],
         [(e["kind"], session[e["session"]], e["link"]) for e in mine if e["link"] != "joined"] if not missing else [])
    hold_kernels(db, mine, kernel, missing)
    if host:
        hold_join(db, j, mine, session)


def hold_kernels(db, mine, kernel, missing):
    """Names, shapes and sums; several keys of the JSON may differ in what the trace does not have."""
    shape = ("name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "cluster_x", "cluster_y", "cluster_z",
             "static_shared_bytes", "dynamic_shared_bytes", "local_bytes_per_thread")
    want = {}
    for e in mine:
        if e["kind"] == "kernel":
            k = kernel[e["kernel"]]
            want.setdefault((*(k.get(s) for s in shape), k["registers"]), []).append(e.get("duration_ns"))
    timed = {k: [d for d in v if d is not None] for k, v in want.items()}
    same("kernels", [(*(r[s] for s in shape), r["registers_per_thread"], missing or r["executions"], r["timed"],
                      cell(r, "total_ns"), cell(r, "min_ns"), cell(r, "max_ns"), cell(r, "mean_ns"))
                     for r in rows(db, "SELECT * FROM gpubpf_kernel")],
         [(*k, missing or len(v), len(timed[k]), *((sum(timed[k]), min(timed[k]), max(timed[k]),
                                                    sum(timed[k]) // len(timed[k])) if timed[k] else "????"))
          for k, v in want.items() if timed[k] or not missing])


def hold_join(db, j, mine, session):
    call = {c["id"]: c for c in j["calls"]}
    want = []
    for e in mine:
        if "call" not in e:
            continue
        entry, start = call[e["call"]]["entry_ns"], cell(e, "start_ns")
        early = start != "?" and start < entry
        want.append((session[e["session"]], e["correlation"], entry, cell(e, "duration_ns"),
                     "?" if start == "?" else None if early else start - entry, entry - start if early else None))
    got = rows(db, "SELECT j.*, d.correlation FROM gpubpf_join j JOIN gpubpf_dispatch d ON d.id = j.dispatch_id")
    same("joins", [(r["pid"], r["correlation"], r["call_ts"], cell(r, "duration_ns"), cell(r, "delay_ns"), r["early_ns"])
                   for r in got], want)
    # an arrow is there for each of them that does not go back in time, and leads between the same two
    same("arrows", db.execute("SELECT slice_out, slice_in FROM flow"),
         [(r["call_id"], r["dispatch_id"]) for r in got if r["early_ns"] is None])


def hold_counters(db, j, pid):
    """What runs, over time, is as much as all that ran."""
    area, at = Counter(), {}
    for r in rows(db, "SELECT * FROM gpubpf_counter WHERE series = 'running' ORDER BY ts"):
        key = (r["pid"], r["device"])
        t, v = at.get(key, (0, 0))
        area[key] += (r["ts"] - t) * v
        at[key] = (r["ts"], r["value"])
    want = Counter()
    for d in rows(db, "SELECT pid, device, duration_ns FROM gpubpf_dispatch_timed"):
        want[d["pid"], d["device"]] += d["duration_ns"]
    same("time on devices", area.items(), want.items())
    n = db.execute("SELECT (SELECT COUNT(*) FROM gpubpf_counter), (SELECT SUM(samples) FROM gpubpf_counter_series), "
                   "(SELECT COUNT(*) FROM counter)").fetchone()
    if len({v or 0 for v in n}) != 1:
        bad.append(f"samples of counters: {n}")


def hold_semantic(db, j, pid):
    session = {s["id"]: pid.get(s["process"]) for s in j["sessions"]}
    event = {"start": "range"}
    if db.execute("SELECT nvtx_not_shown FROM gpubpf_capture").fetchone()[0]:
        return
    same("NVTX", [(s["event"], s["pid"], s["own_tid"], s["ts"], s["duration_ns"], s["domain"], s["category"],
                   s["name"] if s["event"] != "end" else None, bool(s["ended_by_another_thread"]))
                  for s in rows(db, "SELECT * FROM gpubpf_semantic WHERE carrier = 'nvtx'")],
         [(event.get(m["event"], m["event"]), session[m["session"]], m.get("own_tid"), m["time_ns"], m.get("duration_ns"),
           m.get("domain"), m.get("category"), m.get("name"), m.get("ended_elsewhere", False)) for m in j["markers"]])


def hold(db, module, path):
    j = json.load(open(path))
    pid = {p["id"]: p["pid"] for p in j["tables"]["processes"]}
    j = j["tables"]
    for name in view_names(module):
        db.execute(f"SELECT * FROM {name}").fetchall()
    c = rows(db, "SELECT * FROM gpubpf_capture")[0]
    host = j["capture"][0]["host_observer"] == "there"
    counts = Counter(e["kind"] for e in j["executions"])
    device = j["capture"][0]["device_observer"] != "none"
    same("counts", [(k, cell(c, k)) for k in ("calls", "kernels", "copies", "sets")],
         [("calls", sum(c["outcome"] != "open" for c in j["calls"]) if host else "?"), *((k + s, counts[k] if device else "?") for k, s in
                                                         (("kernel", "s"), ("set", "s"))),
          ("copies", counts["copy"] if device else "?")])
    if host:
        hold_calls(db, j, pid)
    hold_executions(db, j, pid, host)
    hold_counters(db, j, pid)
    hold_semantic(db, j, pid)


def main():
    db = database(sys.argv[1], sys.argv[2])
    if sys.argv[3] == "--json":
        hold(db, sys.argv[2], sys.argv[4])
        print("\n".join([*bad, f"{compared} compared"]))
    else:
        print(db.execute(sys.argv[3]).fetchall())


main()
