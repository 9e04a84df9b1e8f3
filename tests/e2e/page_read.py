#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a page of `timeline --html` without a browser, by the words of user/timeline/columns.c alone.

  page_read.py PAGE                    prints what is in it
  page_read.py PAGE EXPRESSION         … the value of a Python expression over page, tracks, events, by(class)
  page_read.py PAGE same EXPORT.json   differences to the canonical JSON of the same capture, and last how much was compared
"""
import base64
import collections
import hashlib
import html.parser
import json
import struct
import sys
import zlib

TYPES = ["slice", "open", "close", "instant", "sample"]
CLASSES = ["skeleton", "call", "gpu_slice", "module", "mark", "semantic", "presentation", "nvtx"]
KINDS = ["process", "thread", "group", "lane", "counter"]


class Page(html.parser.HTMLParser):
    """The policy, the scripts that run, and the data: what a browser makes of the markup."""

    def __init__(self, text):
        super().__init__()
        self.data, self.scripts, self.styles, self.policy, self.tags, self.inside = [], [], [], "", [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append((tag, attrs))
        self.inside = None
        if tag == "meta" and attrs.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = attrs["content"]
        if tag == "style":
            self.inside = self.styles
        if tag == "script":
            self.inside = self.data if attrs.get("type") == "application/octet-stream" else self.scripts
        if self.inside is not None:
            self.inside.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside is not None:
            self.inside[-1] += data


class Bytes:
    def __init__(self, b):
        self.b, self.i = b, 0

    def number(self):
        v = s = 0
        while True:
            x = self.b[self.i]
            self.i += 1
            v |= (x & 0x7F) << s
            s += 7
            if x < 0x80:
                return v

    def signed(self):
        v = self.number()
        return v >> 1 ^ -(v & 1)

    def take(self, n):
        if self.i + n > len(self.b):
            raise ValueError("the data ends early")
        self.i += n
        return self.b[self.i - n:self.i]

    def text(self):
        return self.take(self.number()).decode()

    def texts(self):
        return [None] + [self.text() for _ in range(self.number())]

    def args(self, end, names):
        out = {}
        while self.i < end:
            key = names[0][self.number()]
            kind = self.take(1)[0]
            if key in out:
                raise ValueError(f"argument {key} is there twice")
            if kind == 5:
                out[key] = self.text()
            elif kind == 6:
                out[key] = struct.unpack("<d", self.take(8))[0]
            elif kind == 1:
                out[key] = self.signed()
            else:
                v = self.number()
                out[key] = bool(v) if kind == 2 else names[1][v] if kind == 4 else v
        if self.i != end:
            raise ValueError("arguments reach behind their end")
        return out


def path(tracks, i):
    t = tracks[i]
    own = f"process {t['pid']} {t['name']}".strip() if t["kind"] == "process" else t["name"] or f"thread {t['tid']}"
    return (path(tracks, t["parent"]) + " / " if t["parent"] >= 0 else "") + own


def decode(b):
    r = Bytes(b)
    if r.take(14) != b"gpubpf page 1\n":
        raise ValueError("magic")
    about = {}
    while key := r.text():
        about[key] = r.text()
    keys, names, values = r.texts(), r.texts(), r.texts()
    tracks = []
    for _ in range(r.number()):
        kind, parent, pid, tid, life, unit = (r.number() for _ in range(6))
        if parent > len(tracks):
            raise ValueError("a track before its parent")
        tracks.append({"kind": KINDS[kind], "parent": parent - 1, "pid": pid, "tid": tid, "life": life, "unit": unit, "name": r.text()})
    presets = [None]
    for _ in range(r.number()):
        n = r.number()
        presets.append(r.args(r.i + n, (keys, values)))
    said, events, samples, stacks = r.number(), [], [], collections.defaultdict(list)
    base = int(about["start_ns"])
    while (head := r.take(1)[0]) != 0xFF:
        kind, cls, track = TYPES[head & 7], CLASSES[head >> 3 & 7], r.number()
        start = base + r.signed()
        if kind == "sample":
            samples.append((track, start, r.number()))
            continue
        if kind == "close":
            e = stacks[track].pop()
            e["end"], e["type"] = start, "slice"
            continue
        e = {"type": kind, "class": cls, "track": track, "start": start, "end": start + r.number() if kind == "slice" else None}
        e["name"], timing, preset = names[r.number()], r.number(), r.number()
        e["work"] = r.number() if head & 0xC0 else None
        e["asks"], e["runs"] = bool(head & 0x40), bool(head & 0x80)
        e["kernel"] = values[r.number()] if cls == "call" else None
        n = r.number()
        e["args"] = {**(presets[preset] if preset else {}), **r.args(r.i + n, (keys, values)), **presets[timing + 1]}
        e["depth"] = len(stacks[track])
        e["path"] = path(tracks, track)
        if kind == "open":
            stacks[track].append(e)
        events.append(e)
    if not said == r.number() == sum(e["class"] != "skeleton" for e in events) or r.i != len(b):
        raise ValueError("another number of events than it says")
    return about, tracks, events, samples


def same(events, exported):
    t, problems, compared = exported["tables"], [], 0
    calls = {c["id"]: c for c in t["calls"]}
    apis = {a["id"]: a["name"] for a in t["apis"]}
    kernels = {k["id"]: k for k in t["launch_keys"] + t["kernels"]}

    def compare(what, ours, theirs):
        nonlocal compared
        compared += sum(theirs.values())
        for x in (ours - theirs):
            problems.append(f"{what}: only in the page: {x}")
        for x in (theirs - ours):
            problems.append(f"{what}: only in the export: {x}")

    def thread(e):
        return int(e["path"].split(" / thread ")[1].split(",")[0].split(" / ")[0])

    if calls:
        compare("calls", collections.Counter((e["name"], thread(e), e["start"], e["end"]) for e in events if e["class"] == "call"),
                collections.Counter((apis[c["api"]], c["tid"], c["entry_ns"], c.get("return_ns")) for c in calls.values()))
    # what ran, with its place, its times or none, and the call it came from
    asked = {e["work"]: e for e in events if e["asks"]}
    ours, theirs, links, wanted = (collections.Counter() for _ in range(4))
    totals, sums = collections.defaultdict(list), collections.defaultdict(list)
    shape = ["grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "cluster_x", "cluster_y", "cluster_z"]
    for e in events:
        if e["class"] != "gpu_slice":
            continue
        a = e["args"]
        place = tuple(int(p.split()[-1]) for p in e["path"].split(", ")[0].split(" / ")[1:4])
        kind = "kernel" if "grid_x" in a else "copy" if e["name"].startswith("memcpy") else "set"
        times = (e["start"], e["end"]) if e["type"] == "slice" else (None, None)
        ours[(kind, *place, *times, a["correlation"], a.get("link", "joined"))] += 1
        if e["runs"]:
            links[(a["correlation"], times, asked[e["work"]]["start"])] += 1
        if kind == "kernel":
            totals[(e["name"], *(a.get(s) for s in shape), a["registers_per_thread"], a["static_shared_bytes"], a["dynamic_shared_bytes"])].append(
                e["end"] - e["start"] if e["type"] == "slice" else None)
    for x in t["executions"]:
        times = (x["start_ns"], x["end_ns"])
        theirs[(x["kind"], x["device"], x["context"], x["stream"], *times, x["correlation"], x["link"])] += 1
        if x.get("call") in calls and (x["start_ns"] is None or x["start_ns"] >= calls[x["call"]]["entry_ns"]):
            wanted[(x["correlation"], times, calls[x["call"]]["entry_ns"])] += 1
        if x["kind"] == "kernel":
            k = kernels[x["kernel"]]
            sums[(k["name"], *(k.get(s) for s in shape), k["registers"], k["static_shared_bytes"], k["dynamic_shared_bytes"])].append(x["duration_ns"])
    compare("executions", ours, theirs)
    if calls:
        compare("links", links, wanted)
    for key in totals.keys() | sums.keys():
        a, b = totals.get(key, []), sums.get(key, [])
        compared += 1
        if (len(a), sum(filter(None, a)), a.count(None)) != (len(b), sum(filter(None, b)), b.count(None)):
            problems.append(f"launch key {key}: {len(a)} in the page, {len(b)} in the export")
    return problems, compared


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    page = Page(text)
    about, tracks, events, samples = decode(zlib.decompress(b"".join(base64.b64decode(d, validate=True) for d in page.data)))
    page.hashes = ["sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in page.scripts + page.styles]
    if len(sys.argv) == 4 and sys.argv[2] == "same":
        with open(sys.argv[3], encoding="utf-8") as f:
            problems, compared = same(events, json.load(f))
        print("\n".join(problems[:20] + [str(compared)]))
        return
    by = lambda cls: [e for e in events if e["class"] == cls]
    if len(sys.argv) == 3:
        print(eval(sys.argv[2], {**globals(), **locals()}))
        return
    print(about["head"], end="")
    for e in events:
        print(f"{e['path']}: {e['start']} {'' if e['end'] is None else e['end'] - e['start']} {e['type']} {e['class']} {e['name']} {e['args']}")


main()
