#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A scene for mkscene: kernels with planted durations, on a machine that is known in all that `gpubpf diff` asks for.

diff_scene.py [--seed N] [--host NAME] [--boot ID] [--unknown-machine] [--facts FILE] [--fact 'GROUP NAME = VALUE']
    [--vanish N] [--call-ns N] [--bytes N] KERNEL GRID COUNT MEAN NOISE …

--vanish N: of each N-th launch of the first kernel there is no record of the device, and no counter knows why.
"""
import argparse
import random

FACTS = """driver libcuda build id = fedcba9876543210
driver driver version = 580.65.06
device GPU 0 UUID = GPU-11111111-2222""".splitlines()

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, default=1)
p.add_argument("--host", default="node1")
p.add_argument("--boot", default="11112222")
p.add_argument("--unknown-machine", action="store_true")
p.add_argument("--facts", help="more of them, of a file")
p.add_argument("--fact", action="append", default=[])
p.add_argument("--vanish", type=int, default=0)
p.add_argument("--call-ns", type=int, default=1000)
p.add_argument("--bytes", type=int, default=0)
p.add_argument("kernels", nargs="+")
a = p.parse_args()
random.seed(a.seed)

if not a.unknown_machine:
    print("machine", a.host, a.boot)
    print("fact host hostname =", a.host)
facts = {f.split(" = ")[0]: f for f in FACTS}
more = open(a.facts).read().splitlines() if a.facts else []
facts.update({f.split(" = ")[0]: f for f in more + a.fact})
for f in facts.values():
    print("fact", f)
print("one-gpu\narm\nclock 40")
kernels = [a.kernels[i:i + 5] for i in range(0, len(a.kernels), 5)]
names = {}
for name, *_ in kernels:
    if name not in names:
        names[name] = len(names) + 1
        print("name", names[name], name)
        print("out", 0x5000 + names[name])
        print("text", name)
        print("cuModuleGetFunction 0 0x900 0")
left = [[i, int(k[2])] for i, k in enumerate(kernels)]
launched = 0
while any(n for _, n in left):
    for k in left:
        if not k[1]:
            continue
        k[1] -= 1
        name, grid, _, mean, noise = kernels[k[0]]
        ns = max(1, round(float(mean) * (1 + float(noise) * random.gauss(0, 1))))
        print("took", a.call_ns)
        print(f"cuLaunchKernel {0x5000 + names[name]} {grid} 1 1 128 1 1 0 0x70 0 0")
        print("seen launch")
        launched += k[0] == 0
        if not (a.vanish and k[0] == 0 and launched % a.vanish == 0):
            print(f"ran kernel 3000 {ns} name {names[name]} grid {grid} block 128 registers 32")
        print("wait", ns + 5000)
if a.bytes:
    print("out 0x1000000\ncuMemAlloc_v2 0 %d" % a.bytes)
    print("cuMemcpyHtoDAsync_v2 0x7f0000000000 0x1000 %d 0x70" % a.bytes)
    print("seen copy\nran copy 3000 50000 copy 1 from 2 to 3 bytes %d" % a.bytes)
print("wait 2000000\ndisarm")
