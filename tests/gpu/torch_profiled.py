# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that profiles itself: torch_profiled.py [--wait]. Prints one line of JSON: the kernels its profiler saw.

Under gpubpf one of the two must do without CUPTI, and neither may lose in silence. --wait: says ready when its own
profiler is on, and goes on when a line comes on standard input.
"""
import json
import sys

import torch
from torch.profiler import ProfilerActivity, profile

x = torch.zeros(1 << 16, device="cuda")
x.add_(1)
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    if "--wait" in sys.argv:
        print("ready", file=sys.stderr, flush=True)
        sys.stdin.readline()
    for _ in range(2000):
        x.add_(1)
    torch.cuda.synchronize()
seen = sum(e.count for e in prof.key_averages() if "elementwise" in e.key)
print(json.dumps({"adds": 2000, "seen": seen, "ok": float(x[0].item()) == 2001}))
