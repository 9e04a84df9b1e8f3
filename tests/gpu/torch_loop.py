# SPDX-License-Identifier: GPL-2.0-or-later
"""A known number of kernel launches and graph replays in PyTorch: torch_loop.py ADDS REPLAYS [--wait | --step]

--wait: ready, then starts when a line comes on standard input. --step: once for each such line, times alone.

Prints one line of JSON: what it asked for in its counted part, and how long that took. The counted launches are the
only ones of their shape, so a report finds them by grid and block.
"""
import json
import sys
import time

import torch

adds, replays = int(sys.argv[1]), int(sys.argv[2])
x = torch.zeros(1 << 20, device="cuda")
y = torch.ones(1 << 20, device="cuda")
small = torch.zeros(257, device="cuda")
for _ in range(10):
    x.add_(y)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
side = torch.cuda.Stream()
with torch.cuda.graph(graph, stream=side):
    for _ in range(3):
        small.mul_(1.5)
torch.cuda.synchronize()
if "--wait" in sys.argv or "--step" in sys.argv:
    print("ready", file=sys.stderr, flush=True)
if "--wait" in sys.argv:
    sys.stdin.readline()
while "--step" in sys.argv and sys.stdin.readline():
    start = time.perf_counter()
    for _ in range(adds):
        x.add_(y)
    torch.cuda.synchronize()
    print(json.dumps({"ns_per_launch": (time.perf_counter() - start) / adds * 1e9}), flush=True)
if "--step" in sys.argv:
    sys.exit()
start = time.perf_counter()
for _ in range(adds):
    x.add_(y)
torch.cuda.synchronize()
elapsed = time.perf_counter() - start
for _ in range(replays):
    graph.replay()
torch.cuda.synchronize()
total = float(x[0].item())
warmup = 0 if "--wait" in sys.argv else 10
print(json.dumps({"adds": adds + warmup, "replays": replays, "us_per_add": elapsed / max(adds, 1) * 1e6, "ok": total == adds + 10}))
