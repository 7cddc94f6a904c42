"""A peer's training steps: python -m peers.stepper MODE FOLDER SETTING

Loads the weights and tokens that `synth bench step --peer-folder FOLDER` left, and takes a step for every
line: forward, backward, clipping and AdamW as our trainer has them; without dropout where the line says
"check". MODE is eager, compiled, or ddp: DistributedDataParallel over Gloo, as one of several processes
(RANK, WORLD_SIZE, …) that average their gradients.
"""

from __future__ import annotations

import json
import sys
import time

import measure
import torch
import torch.distributed
from safetensors.torch import load_file

from .transformer import Model


def decays(name: str, attention: str) -> bool:
    """As in our trainer: weight matrices and embeddings; not norms, biases, and what is logits as it is."""
    logits = attention.startswith("light-conv") and name.endswith(".kernel.weight")
    return name.endswith((".weight", ".key", ".value")) and "norm." not in name and not logits


def loss_function(model: Model, mode: str) -> torch.nn.Module:
    if mode == "compiled":
        return torch.compile(model)
    if mode == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True)
    return model


def main() -> None:
    mode, folder, setting = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    torch.set_num_threads(setting["threads"])
    if mode == "ddp":
        torch.distributed.init_process_group("gloo")
    before = measure.status_bytes("VmRSS")
    weights, tokens = load_file(f"{folder}/model.safetensors"), load_file(f"{folder}/tokens.safetensors")
    model = Model(setting, weights)
    del weights
    loss_of = loss_function(model, mode)
    groups = [{"params": [], "weight_decay": decay} for decay in (0.0, 0.1)]
    for name, parameter in model.named_parameters():
        groups[decays(name, setting["attention"])]["params"].append(parameter)
    optimizer = torch.optim.AdamW(groups, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=setting["precision"] == "bfloat16"):
            loss = loss_of(tokens)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
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
    if mode == "ddp":
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
