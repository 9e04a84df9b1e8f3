# SPDX-License-Identifier: GPL-2.0-or-later
"""What an observer leaves behind in a process when it has gone (C23).

Each arm has processes of its own: rounds of a loop before, then sessions of one observer with a round inside each, then
the rounds again. A process that nobody watched says how far it drifts by itself, and one that a bare CUPTI client watched
what CUPTI leaves, whoever asks it.

    lingers.py [--processes N] [--sessions N] [--seconds N] [--only ARM,...] -- PROGRAM [ARG...]

PROGRAM and environment as of paired.py.
"""
import argparse
import math
import os
import statistics
import time

import paired

OBSERVERS = {"nobody": (None, None), "client": ("on", None), "client+calls": ("calls", None),
             "host": (None, paired.RECORD + ["--no-shim"]), "device": (None, paired.RECORD + ["--no-host"]),
             "both": (None, paired.RECORD)}


def one(command, number, observer, sessions, rounds=12):
    program = paired.Program(command, number)
    for _ in range(4):
        program.round()
    before = [program.round() for _ in range(rounds)]
    during = [paired.watched_round(program, *observer, leave="off") for _ in range(sessions)]
    time.sleep(0.5)
    after = [program.round() for _ in range(rounds)]
    program.end()
    return [statistics.median(x) for x in (before, during, after)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--processes", type=int, default=3)
    p.add_argument("--sessions", type=int, default=3)
    p.add_argument("--seconds", type=float, default=600, help="no further process after so many")
    p.add_argument("--only")
    p.add_argument("command", nargs="+")
    o = p.parse_args()
    found = {n: [] for n in OBSERVERS if not o.only or n in o.only.split(",")}
    began, number = time.monotonic(), 0
    for _ in range(o.processes):
        for name, runs in found.items():
            if time.monotonic() - began > o.seconds:
                break
            runs.append(one(o.command, f"{os.getpid()}.{number}", OBSERVERS[name], o.sessions))
            number += 1
    for name, runs in found.items():
        if not runs:
            continue
        each = [after / before for before, _, after in runs]
        print(f"{name:16} {' / '.join(f'{statistics.median(x):.0f}' for x in zip(*runs))} ns before / meanwhile / after; "
              f"after / before {math.exp(statistics.mean(map(math.log, each))):.3f} ({' '.join(f'{x:.3f}' for x in each)})",
              flush=True)


if __name__ == "__main__":
    main()
