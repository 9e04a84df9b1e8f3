# SPDX-License-Identifier: GPL-2.0-or-later
"""The caching allocator of PyTorch, growing inside a loop of launches: torch_alloc.py STEPS

Every step uses a tensor larger than any before and keeps it, so that each needs memory that the allocator has not; ten
small launches follow. Prints one line of JSON: how long the allocating statements took, and the steps altogether.
"""
import json
import sys
import time

import torch

steps = int(sys.argv[1])
small = torch.zeros(257, device="cuda")
torch.cuda.synchronize()
kept, alloc, begin = [], 0.0, time.perf_counter()
for i in range(steps):
    start = time.perf_counter()
    kept.append(torch.empty((i + 11) << 20, dtype=torch.uint8, device="cuda"))
    alloc += time.perf_counter() - start
    for _ in range(10):
        small.add_(1)
torch.cuda.synchronize()
print(json.dumps({"steps": steps, "alloc_ns": alloc * 1e9, "ns": (time.perf_counter() - begin) * 1e9}))
