#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes lines for mkscene of lines on standard input:

  rank PID DEVICE                   whose kernels follow
  KERNEL START END [STREAM]         of NCCL, as it is in the source; µs after the beginning, "-": without a time
  anything else                     as it is: machine, wall …
"""
import sys

ORIGIN = 1000000
begin, calls, pids, names = [], [], [], {}
for line in sys.stdin:
    word = line.split()
    if word[0] == "rank":
        pid, device = word[1:]
        calls.append(f"pid {pid}")
        if pid not in pids:
            pids.append(pid)
            begin += [f"pid {pid}", "arm", "clock 100"]
    elif not word[0].startswith("nccl"):
        begin.append(line.strip())
    else:
        name, start, end = word[:3]
        stream = word[3] if len(word) > 3 else 7
        if (pid, name) not in names:
            names[pid, name] = len(names) + 1
            calls.append(f"name {names[pid, name]} _Z{len(name)}{name}24ncclDevKernelArgsStorageILm4096EE")
        start, end = (0 if t == "-" else ORIGIN + int(float(t) * 1000) for t in (start, end))
        calls += ["cuLaunchKernel 0x5000 64 1 1 128 1 1 0 0x70 0 0", "seen launch",
                  f"ran kernel 0 0 name {names[pid, name]} device {device} stream {stream} start {start} end {end}"]
print(*begin, *calls, "wait 20000000", sep="\n")
for pid in pids:
    print(f"pid {pid}", "cuCtxSynchronize", "disarm", "exit", sep="\n")
