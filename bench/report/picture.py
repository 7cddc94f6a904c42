"""The ratios as bars: one panel a shape and pass, a group an attention, a bar per peer."""

from __future__ import annotations

from pathlib import Path

from . import style
from .style import Bar
from .table import PASSES

COLOURS = {
    "eager": style.BLUE,
    "compile": style.ORANGE,
    "sdpa": style.GREEN,
    "flex": style.VIOLET,
}
NAMES = {
    "eager": "eager PyTorch",
    "compile": "torch.compile",
    "sdpa": "scaled_dot_product_attention",
    "flex": "FlexAttention",
}


def _groups(records: list[dict], peers: list[str]) -> list[tuple[str, list[Bar]]]:
    return [
        (
            r["attention"],
            [
                Bar(r["peers"][peer]["ratio"], COLOURS[peer], r["peers"][peer].get("wanted"))
                for peer in peers
                if peer in r["peers"]
            ],
        )
        for r in records
    ]


def _chosen(results: dict) -> tuple[str, list[dict]]:
    """What the picture shows: the core, causal, where it was measured; else the first that was."""
    speed = results["speed"]
    part = "core" if any(r["part"] == "core" for r in speed) else "layer"
    causal = any(r["causal"] for r in speed if r["part"] == part)
    title = ("The core alone" if part == "core" else "The whole layer") + (
        ", causal" if causal else ", not causal"
    )
    return title, [r for r in speed if r["part"] == part and r["causal"] == causal]


def draw(results: dict, path: Path) -> None:
    title, records = _chosen(results)
    shapes = list(dict.fromkeys(r["shape"] for r in records))
    passes = list(dict.fromkeys(r["passes"] for r in records))
    peers = [peer for peer in COLOURS if any(peer in r["peers"] for r in records)]
    size = (8.6 * len(passes), 3.3 * len(shapes) + 1.5)
    figure, grid = style.panels(len(shapes), len(passes), size)
    for y, shape in enumerate(shapes):
        for x, one in enumerate(passes):
            here = [r for r in records if r["shape"] == shape and r["passes"] == one]
            style.bars(grid[y][x], _groups(here, peers))
            style.title(grid[y][x], f"{shape}, {PASSES[one]}")
        grid[y][0].set_ylabel("time of the peer / time of ours", fontsize=8, color=style.INK)
    style.head(
        figure,
        title + ": how many times longer the peers take",
        style.facts(results["machine"], "float32, width 512, 8 heads"),
    )
    style.bar_legend(figure, {NAMES[peer]: COLOURS[peer] for peer in peers})
    style.save(figure, path)
