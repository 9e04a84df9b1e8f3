# SPDX-License-Identifier: GPL-2.0-or-later
"""Breakdowns of a capture, from `gpubpf inspect --records --json` on standard input.

    breakdowns.py sums                        how many parts of calls, and between them, there are, and how many do not add
                                              up to their duration within 1 %; fails at more than one in a thousand
    breakdowns.py total PREFIX call|all KEY…  nanoseconds of these causes (or duration) over the calls whose name begins
                                              so; all: over the time before each as well
"""
import json
import sys


def calls():
    """Each call of the application with its breakdown, which comes right before it."""
    latency = {}
    for line in sys.stdin:
        r = json.loads(line)
        if r["record"] == "latency":
            latency[r["tid"]] = r
        elif r["record"] == "call" and r["depth"] == 0 and r["tid"] in latency:
            yield r["api"], latency.pop(r["tid"])


def sums():
    n = bad = 0
    for _, breakdown in calls():
        for part in breakdown["call"], breakdown.get("gap"):
            if part:
                n += 1
                off = abs(sum(part["ns"].values()) - part["duration_ns"]) + part["ns"]["unaccounted"]
                bad += off > part["duration_ns"] / 100
    print(n, bad)
    sys.exit(n == 0 or bad > n / 1000)


def total(prefix, which, *keys):
    ns = 0
    for api, breakdown in calls():
        if api.startswith(prefix):
            parts = [breakdown["call"]] + ([breakdown["gap"]] if which == "all" and "gap" in breakdown else [])
            ns += sum(p["duration_ns"] if k == "duration" else p["ns"][k] for p in parts for k in keys)
    print(ns)


if sys.argv[1] == "sums":
    sums()
total(*sys.argv[2:])
