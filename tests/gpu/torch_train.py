# SPDX-License-Identifier: GPL-2.0-or-later
"""A training step captured into a CUDA graph and replayed, with plain steps around it: torch_train.py [REPLAYS]

Prints one line of JSON. What the ledger must explain: calls that were captured ran nothing, each replay ran all nodes.
"""
import json
import sys

import torch

replays = int(sys.argv[1]) if len(sys.argv) > 1 else 20
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 256, device="cuda")
y = torch.randn(64, 8, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(5):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(replays):
    x.copy_(torch.randn(64, 256))
    graph.replay()
for _ in range(5):
    step()
torch.cuda.synchronize()
print(json.dumps({"replays": replays, "loss": float(loss.item()), "ok": bool(loss.item() < 2)}))
