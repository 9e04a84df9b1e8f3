# SPDX-License-Identifier: GPL-2.0-or-later
"""What each observer costs a loop of launches, measured inside one process.

Processes that do the same differ by more than what is measured here: a launch takes 4.6 or 6.1 us under the same CUPTI
client on one machine, for the life of a process. So one process makes round after round of the same loop, is watched
in another way in each, in an order drawn anew every time, and each round is held against its neighbours of the other
kinds.

    paired.py [--cycles N] [--processes N] [--seconds N] [--only ARM,...] [--extra NAME=COMMAND]... -- PROGRAM [ARG...]

PROGRAM makes a round for each line on its standard input and prints its ns_per_launch as JSON (launchloop --step). From
the environment: GPUBPF, CALLCOST (optional), CUPTIBARE, SHIM, T. An extra arm is a command that runs beside a round; {pid}
and {libcuda} are the program's.
"""
import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import time

GPUBPF, T = os.environ["GPUBPF"], os.environ["T"]
RECORD = [GPUBPF, "record", "-q", "-f", "-o", T + "/paired.cap", "-p", "{pid}"]
SETTLE = 0.4


class Program:
    def __init__(self, command, number):
        self.fifo = f"{T}/control{number}"
        os.mkfifo(self.fifo)
        self.err = open(f"{T}/paired.err{number}", "w+")
        env = dict(os.environ, CUDA_INJECTION64_PATH=os.environ["CUPTIBARE"],
                   CUPTIBARE_CONTROL=self.fifo, CUPTIBARE_NEXT=os.environ["SHIM"])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.err, env=env, text=True)
        self.control = open(self.fifo, "w")
        self.answers = 0
        self.wait_for("ready", 1)
        with open(f"/proc/{self.process.pid}/maps") as f:
            self.libcuda = next(line.split()[-1] for line in f if "/libcuda.so" in line)

    def wait_for(self, word, times):
        for _ in range(6000):
            with open(self.err.name) as f:
                text = f.read()
            if text.count(word) >= times:
                return
            if self.process.poll() is not None or "refuses" in text:
                break
            time.sleep(0.01)
        sys.exit(f"paired.py: waited for {word!r}: {text}")

    def client(self, word):
        self.control.write(word + "\n")
        self.control.flush()
        self.answers += 1
        self.wait_for("cuptibare: done", self.answers)

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["ns_per_launch"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            print("not ok: the program does not end; where its threads are:")
            stacks = os.environ.get("EU_STACK", "eu-stack")
            subprocess.run(["sh", "-c", f"head -n 1 /proc/{self.process.pid}/task/*/wchan; {stacks} -m -p {self.process.pid}"],
                           check=False)
            self.process.kill()
            self.process.wait()
        self.control.close()
        with open(self.err.name) as f:
            sys.stdout.writelines(line for line in f if line.startswith("cuptibare: at "))


def arms(extra):
    """What the CUPTI client is told (None: nothing), and the command that runs beside the round."""
    found = {"bare": (None, None), "client": ("on", None), "client+calls": ("calls", None),
             "client+timed calls": ("timed", None),
             "host": (None, RECORD + ["--no-shim"]), "device": (None, RECORD + ["--no-host"]), "both": (None, RECORD)}
    if os.access(os.environ.get("CALLCOST", ""), os.X_OK):
        for what, word in ("empty", "hold-entry"), ("least", "hold-least"):
            hold = [os.environ["CALLCOST"], "{libcuda}", word, "60"]
            found[what + " probe"] = (None, hold)
            found["client+%s probe" % what] = ("on", hold)
        found["client+calls+least probe"] = ("calls", hold)
    for one in extra:
        name, _, command = one.partition("=")
        found[name] = (None, shlex.split(command))
    return found


def watched_round(program, client, command, leave="detach"):
    """leave: what the client is told at the end; whether CUPTI stays in the driver."""
    beside = None
    if client:
        program.client(client)
    if command:
        words = [w.replace("{pid}", str(program.process.pid)).replace("{libcuda}", program.libcuda) for w in command]
        beside = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        time.sleep(SETTLE)
        if beside.poll() is not None:
            sys.exit(f"paired.py: {words} ended at once")
    ns = program.round()
    if beside:
        beside.terminate()
        beside.wait()
    if client:
        program.client(leave)
    return ns


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--cycles", type=int, default=8)
    p.add_argument("--processes", type=int, default=2)
    p.add_argument("--seconds", type=float, default=600, help="no further cycle after so many")
    p.add_argument("--only")
    p.add_argument("--extra", action="append", default=[])
    p.add_argument("command", nargs="+")
    o = p.parse_args()
    all_arms = arms(o.extra)
    if o.only:
        all_arms = {n: a for n, a in all_arms.items() if n in o.only.split(",") or n in [e.split("=")[0] for e in o.extra]}
    log = open(T + "/paired.rounds", "w", buffering=1)
    cycles, spent, began = [], dict.fromkeys(all_arms, 0.0), time.monotonic()
    for number in range(o.processes):
        program = Program(o.command, number)
        program.round()
        for _ in range(o.cycles):
            times = {}
            if cycles and time.monotonic() - began > o.seconds * (number + 1) / o.processes:
                break
            for name in random.sample(list(all_arms), len(all_arms)):
                start = time.monotonic()
                times[name] = watched_round(program, *all_arms[name])
                spent[name] += time.monotonic() - start
                log.write(f"{name}: {times[name]:.0f} ns, {time.monotonic() - start:.2f} s\n")
            cycles.append(times)
        program.end()
    for name in all_arms:
        took = [c[name] for c in cycles]
        line = f"{name:20} {statistics.median(took):6.0f} ns a launch ({min(took):.0f} to {max(took):.0f})"
        for base in "bare", "client":
            if base in all_arms:
                line += f"  {statistics.median(c[name] / c[base] for c in cycles):.3f} x {base}"
        print(f"{line}  ({spent[name] / len(cycles):.1f} s a round)")
    print(f"{len(cycles)} cycles")


if __name__ == "__main__":
    main()
