# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the runs of one arm of test_gate.sh against what each program says of itself: gate_judge.py GPUBPF T ARM RUNS

Prints what is wrong with a run, and one line that counts how the runs ended. Exit status 1 when one was wrong.
"""
import collections
import json
import os
import re
import subprocess
import sys

gpubpf, folder, arm, runs = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])


def text(name):
    with open(os.path.join(folder, name)) as f:
        return f.read()


class Run:
    def __init__(self, number):
        self.name = f"{arm}.{number}"
        self.status = text(self.name + ".status").strip()
        self.out = text(self.name + ".out")
        capture = os.path.join(folder, self.name + ".cap")
        self.seen = json.loads(subprocess.run([gpubpf, "inspect", "--json", "--apis", capture], capture_output=True, check=True).stdout)
        self.sections = json.loads(subprocess.run([gpubpf, "report", "--json", capture], capture_output=True, check=True).stdout)["sections"]
        ready = self.seen.get("capture_readiness")
        self.process = ready["processes"][0] if ready else {}
        self.readiness = " ".join(str(self.process.get(k, "-")) for k in ("readiness", "reason", "before_first_context"))
        self.codes = {c["code"] for c in self.seen.get("capture_coverage") or []}
        self.wrong = []

    def want(self, what, wanted, got):
        if wanted != got:
            self.wrong.append(f"{what}: wanted {wanted}, got {got}")

    def entered(self, prefix):
        return sum(a["entered"] for a in self.seen["counters"]["by_entry_point"] if a["symbol"].startswith(prefix))

    def kernels(self):
        return sum(r["records"] for r in self.sections["timestamps"]["rows"] if r["kind"] == "kernels")

    def row(self, population):
        return next(r for r in self.sections["observers"]["rows"] if r["population"] == population)

    def ready(self):
        self.want("readiness", "ready - proven", self.readiness)
        self.want("verdict", "reconciled", self.seen["verdict"])


def runtime(run):
    said = json.loads(run.out)
    run.ready()
    run.want("status", "0", run.status)
    run.want("launches", said["launches"], run.entered("cuLaunchKernel"))
    run.want("kernels", said["launches"] - said["captured_launches"] + 3 * said["graph_launches"], run.kernels())


def driver(run):
    run.ready()
    run.want("status", "5", run.status)
    run.want("output", {"threads": 8, "launches": 400, "init": 0}, json.loads(run.out))
    run.want("launches and kernels", (400, 400), (run.entered("cuLaunchKernel"), run.kernels()))


def torch(run):
    said = json.loads(run.out)
    run.ready()
    run.want("status", "0", run.status)
    run.want("its own sum is right", True, said["ok"])
    run.want("adds", said["adds"], max(r["launches"] for r in run.sections["launches"]["rows"]))
    row = run.row("launches")
    run.want("launches that ran", row["calls"] - row["captured"], row["executions"])


def manual(run):
    """The status file is printed when cuInit() is back, and when the host has started it: the log of the order."""
    states = [(m[0], m[1], json.loads(m[2])) for m in re.findall(r"^(\w+) (-?\d+) (\{.*\})$", run.out, re.M)]
    run.want("order", [("cuInit", "0", "callback_seen", "pending"), ("start", "1", "finished", "ready")],
             [(name, value, s["lifecycle"], s["readiness"]) for name, value, s in states])
    run.ready()
    run.want("status", "0", run.status)
    run.want("launches and kernels", (1000, 1000), (run.entered("cuLaunchKernel"), run.kernels()))


def none(run):
    run.want("status", "4", run.status)
    run.want("verdict", "empty", run.seen["verdict"])
    run.want("readiness", "- - -", run.readiness)


def all_rounds(run, rounds, launches):
    run.want("status", "0", run.status)
    run.want("rounds", rounds, len(run.out.splitlines()))
    run.want("launches", rounds * launches, run.entered("cuLaunchKernel"))


def warmup(run):
    all_rounds(run, 4, 20000)
    run.want("warmup_unqualified", True, "warmup_unqualified" in run.codes)
    run.want("readiness", "ready -", " ".join(run.readiness.split()[:2]))
    run.want("verdict", True, run.seen["verdict"] in ("uncontradicted", "reconciled", "incomplete"))


def attach(run):
    run.want("status", "0 0", run.status + " " + text(run.name + ".recorder").strip())
    run.want("rounds", 12 if arm == "attach_2s" else 8, len(run.out.splitlines()))
    run.want("late_attach", True, "late_attach" in run.codes)
    row = run.row("launches")
    # Each that began before the device observer, or after it, is explained; the rest has its record.
    run.want("verdict", True, run.seen["verdict"] in ("uncontradicted", "incomplete"))
    run.want("some were seen by both", True, row["matched"] > 0)


judge = globals()[arm.split("_")[0]]
ends, bad = collections.Counter(), 0
for number in range(1, runs + 1):
    try:
        run = Run(number)
        judge(run)
        wrong = run.wrong
        ends[f"{run.seen['verdict']}, readiness {run.readiness}, notes {' '.join(sorted(run.codes)) or '-'}"] += 1
        if run.seen["verdict"] == "incomplete":
            ends["incomplete: " + " ".join(sorted(r["code"] for r in run.seen["reasons"]))] += 1
    except Exception as e:  # pylint: disable=broad-except
        wrong = [f"{type(e).__name__}: {e}"]
    if wrong:
        bad += 1
        if bad <= 5:
            print(f"# {arm}.{number}: " + "; ".join(wrong))
for end, times in ends.most_common():
    print(f"{arm}: {times} of {runs}: {end}")
sys.exit(bad > 0)
