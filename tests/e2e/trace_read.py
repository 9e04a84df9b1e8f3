#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a Perfetto trace as its viewer does, by nothing but the wire format, and complains about what it finds wrong.

  trace_read.py FILE [EXPRESSION]   prints what is in it, line by line, or the value of a Python expression over
                                    slices, instants, samples, tracks, flows, clocks, packets, by(category)
"""
import struct
import sys


def varint(b, i):
    v = s = 0
    while True:
        v |= (b[i] & 0x7F) << s
        s += 7
        i += 1
        if not b[i - 1] & 0x80:
            return v, i


def fields(b):
    out, i = [], 0
    while i < len(b):
        key, i = varint(b, i)
        n, t = key >> 3, key & 7
        if t == 0:
            v, i = varint(b, i)
        elif t == 1:
            v, i = struct.unpack("<Q", b[i:i + 8])[0], i + 8
        elif t == 2:
            size, i = varint(b, i)
            if i + size > len(b):
                raise ValueError("a field reaches behind its message")
            v, i = b[i:i + size], i + size
        else:
            raise ValueError(f"wire type {t}")
        out.append((n, v))
    return out


def one(f, n, default=None):
    v = [x for k, x in f if k == n]
    if len(v) > 1:
        raise ValueError(f"field {n} is there {len(v)} times")
    return v[0] if v else default


def every(f, n):
    return [x for k, x in f if k == n]


def signed(v):
    return v - (1 << 64) if v >> 63 else v


bad = []


class Trace:
    def __init__(self, data):
        self.packets = []
        self.tracks, self.order = {}, []
        self.about = {}  # by track: parent, own name, pid and tid, whether it is a counter
        self.texts = {1: {}, 2: {}, 3: {}, 29: {}}
        self.events, self.clocks = [], []
        self.primary = None
        cleared = False
        for n, v in fields(data):
            if n != 1:
                raise ValueError(f"field {n} in the trace")
            self.packets.append(v)
            p = fields(v)
            if one(p, 10) != 1:
                bad.append("a packet without the sequence's number")
            flags = one(p, 13, 0)
            cleared |= flags & 1
            if flags & 2 and not cleared:
                bad.append("needs texts before the sequence began")
            if one(p, 6) is not None:
                self.clock(fields(one(p, 6)))
            if one(p, 12) is not None:
                self.intern(fields(one(p, 12)))
            if one(p, 60) is not None:
                self.track(fields(one(p, 60)))
            if one(p, 11) is not None:
                self.event(one(p, 8), fields(one(p, 11)))
        self.replay()

    def clock(self, f):
        self.clocks.append({one(fields(c), 1): one(fields(c), 2) for c in every(f, 1)})
        self.primary = one(f, 2)
        if self.events:
            bad.append("a clock after an event")

    def intern(self, f):
        for kind in self.texts:
            for t in every(f, kind):
                t = fields(t)
                if one(t, 1) in self.texts[kind]:
                    bad.append(f"text {kind}.{one(t, 1)} twice")
                self.texts[kind][one(t, 1)] = one(t, 2).decode()

    def track(self, f):
        uuid, parent = one(f, 1), one(f, 5)
        if uuid in self.tracks:
            bad.append("a track twice")
        if parent is not None and parent not in self.tracks:
            bad.append("a child before its parent")
        name = one(f, 2, b"").decode()
        if one(f, 3) is not None:
            p = fields(one(f, 3))
            name = f"process {one(p, 1)} {one(p, 6, b'').decode()}".strip()
        if one(f, 4) is not None:
            name = f"thread {one(fields(one(f, 4)), 2)}"
        pid = one(fields(one(f, 3) or one(f, 4) or b""), 1)
        tid = one(fields(one(f, 4)), 2) if one(f, 4) is not None else None
        self.about[uuid] = {"parent": parent, "name": one(f, 2, b"").decode() or None, "pid": pid, "tid": tid,
                            "counter": one(f, 8) is not None}
        self.tracks[uuid] = (self.tracks[parent] + " / " if parent is not None else "") + name
        self.order.append(self.tracks[uuid])

    def args(self, f):
        out = {}
        for a in every(f, 4):
            a = fields(a)
            key = self.texts[3][one(a, 1)]
            if key in out:
                bad.append(f"{key} twice")
            for n, v in a[1:]:
                out[key] = {2: bool, 3: int, 4: signed, 5: lambda x: struct.unpack("<d", struct.pack("<Q", x))[0], 6: lambda x: x.decode(), 7: hex,
                            17: lambda x: self.texts[29][x]}[n](v)
        return out

    def event(self, t, f):
        kind = one(f, 9)
        e = {"ts": t, "type": kind, "uuid": one(f, 11), "args": self.args(f), "out": every(f, 47), "in": every(f, 48)}
        if e["uuid"] not in self.tracks:
            bad.append("an event on no track")
            return
        e["track"] = self.tracks[e["uuid"]]
        if kind in (1, 3):
            e["name"] = self.texts[2][one(f, 10)]
            e["cat"] = self.texts[1][one(f, 3)]
            for key in ("clock_domain", "timing_source", "timing_quality"):
                if key not in e["args"]:
                    bad.append(f"{e['name']} does not say its {key}")
        if kind == 4:
            e["value"] = signed(one(f, 30))
        self.events.append(e)

    # The viewer sorts by time alone and keeps the order of the file within one moment.
    def replay(self):
        stacks, self.slices, self.instants, self.samples = {}, [], [], []
        begun = {}
        for e in sorted(self.events, key=lambda e: e["ts"]):
            stack = stacks.setdefault(e["uuid"], [])
            if e["type"] == 1:
                e["depth"], e["dur"] = len(stack), None
                stack.append(e)
                self.slices.append(e)
            elif e["type"] == 2:
                if not stack:
                    bad.append(f"an end without a beginning on {e['track']}")
                else:
                    s = stack.pop()
                    s["dur"] = e["ts"] - s["ts"]
            elif e["type"] == 3:
                self.instants.append(e)
            else:
                self.samples.append(e)
            for i in e["out"]:
                begun.setdefault(i, e)
            for i in e["in"]:
                if i not in begun:
                    bad.append(f"an arrow to {e['name']} from nowhere")
                else:
                    e["from"] = begun[i]
        self.flows = [e for e in self.slices + self.instants if "from" in e]

    def by(self, category):
        return [e for e in self.slices + self.instants if e["cat"] == category]


def text(e):
    args = " ".join(f"{k}={v}" for k, v in e["args"].items() if not k.startswith(("clock_domain", "timing_")))
    timing = f"[{e['args'].get('timing_source')}, {e['args'].get('timing_quality')}] " if e["args"] else ""
    dur = {1: lambda: f"+{e['dur']}" if e["dur"] is not None else "no end", 3: lambda: "instant"}[e["type"]]()
    arrow = f" <- {e['from']['name']}@{e['from']['ts']}" if "from" in e else ""
    return f"{e['track']}: {e['ts']} {dur} {'  ' * e.get('depth', 0)}{e['name']} {e['cat']} {timing}{args}{arrow}"


def main():
    t = Trace(open(sys.argv[1], "rb").read())
    if len(sys.argv) > 2:
        names = {k: getattr(t, k) for k in ("slices", "instants", "samples", "tracks", "flows", "clocks", "packets", "by",
                                            "primary", "order", "events")}
        print(eval(f"({sys.argv[2]})", {**names, "bad": bad, "text": text}))
    else:
        for c in t.clocks:
            print("clock", " ".join(f"{k}={v}" for k, v in sorted(c.items())), "primary", t.primary)
        for name in t.order:
            print("track", name)
        for e in t.slices + t.instants:
            if e["name"] not in ("manifest",):
                print(text(e))
        for e in t.samples:
            print(f"{e['track']}: {e['ts']} = {e['value']}")
    for b in sorted(set(bad)):
        print("BAD:", b)


if __name__ == "__main__":
    main()
