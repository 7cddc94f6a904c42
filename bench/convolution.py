"""R beside the two dynamic convolutions: a kernel for each head (Wu et al.) and for each channel (the paper).

    ./run bench convolution [--batch 2] [--length 512] [--width 768] [--heads 12] [--kernel 9] [--seconds 20]

The paper reports R at 1.6 times the steps per second of dynamic convolutions (T5 base on C4). Here: training
(forward and backward) of one layer alone, and of one block of T5 base, the layer with a feed-forward part of
four times the width. All are interleaved; medians are compared. Prints two tables.
"""

from __future__ import annotations

import argparse

import measure
import torch
from torch import nn

import synthesizer


class Block(nn.Module):
    """An encoder block with norms before its two residual branches."""

    def __init__(self, attention: nn.Module, width: int) -> None:
        super().__init__()
        self.attention, self.first, self.second = attention, nn.RMSNorm(width), nn.RMSNorm(width)
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.first(x))
        return x + self.feed_forward(self.second(x))


def trained(model: nn.Module, x: torch.Tensor):
    def step():
        model.zero_grad(set_to_none=True)
        model(x).sum().backward()

    step()  # warms up
    return step


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in (("batch", 2), ("length", 512), ("width", 768), ("heads", 12), ("kernel", 9)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--seconds", type=float, default=20, help="of measuring, for each of the two tables")
    a = parser.parse_args()
    synthesizer.keep_memory()
    torch.manual_seed(1)
    kinds = {
        "R": ("R", {}),
        "V": ("V", {}),
        "light-conv": ("light-conv", {"kernel": a.kernel}),
        "dynamic-conv, per head": ("dynamic-conv", {"kernel": a.kernel}),
        "dynamic-conv, per channel": ("dynamic-conv", {"kernel": a.kernel, "groups": a.width}),
    }
    print(f"{a.batch}×{a.length}, width {a.width}, {a.heads} heads, kernel {a.kernel}")
    print(measure.machine_facts())
    x = torch.randn(a.batch, a.length, a.width)
    for part in ("layer", "block"):
        steps = {}
        for name, (spec, options) in kinds.items():
            layer = synthesizer.Attention(spec, a.width, a.heads, a.length, **options)
            steps[name] = trained(layer if part == "layer" else Block(layer, a.width), x)
        times = measure.interleaved(steps, a.seconds)
        ms = {name: 1e3 * measure.median(values) for name, values in times.items()}
        print(f"\none {part}, training, {len(times['R'])} rounds\n")
        print(f"| {part} | ms | R's speed over it |\n|---|---|---|")
        for name, value in ms.items():
            print(f"| {name} | {value:.1f} | {value / ms['R']:.2f}× |")


if __name__ == "__main__":
    main()
