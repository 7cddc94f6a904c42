"""PyTorch's DistributedDataParallel over Gloo: python -m peers.ddp FOLDER SETTING

One of several processes (RANK, WORLD_SIZE, …), each with the weights and tokens that `synth bench step
--peer-folder FOLDER` left, taking a step for every line: eager, as peers.stepper, with gradients averaged.
"""

from __future__ import annotations

import json
import sys
import time

import measure
import torch
import torch.distributed
from safetensors.torch import load_file

from .stepper import decays
from .transformer import Model


def main() -> None:
    folder, setting = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(setting["threads"])
    torch.distributed.init_process_group("gloo")
    before = measure.status_bytes("VmRSS")
    weights, tokens = load_file(f"{folder}/model.safetensors"), load_file(f"{folder}/tokens.safetensors")
    plain = Model(setting, weights)
    model = torch.nn.parallel.DistributedDataParallel(plain, gradient_as_bucket_view=True)
    groups = [{"params": [], "weight_decay": decay} for decay in (0.0, 0.1)]
    for name, parameter in plain.named_parameters():
        groups[decays(name, setting["attention"])]["params"].append(parameter)
    optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = model(tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    print("{}", flush=True)
    for line in sys.stdin:
        model.train(line.strip() != "check")
        begin = time.perf_counter()
        loss = step()
        seconds = time.perf_counter() - begin
        peak = measure.status_bytes("VmHWM") - before
        print(json.dumps({"seconds": seconds, "loss": loss, "peak": peak}), flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
