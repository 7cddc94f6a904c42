"""The ratios as bars: one panel a shape and pass, a group an attention, a bar a peer."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .table import PASSES

COLOURS = {
    "eager": "#7f9fc4",
    "compile": "#e3b07c",
    "sdpa": "#8cbf9f",
    "flex": "#b9a3cc",
}
NAMES = {
    "eager": "eager PyTorch",
    "compile": "torch.compile",
    "sdpa": "scaled_dot_product_attention",
    "flex": "FlexAttention",
}
INK, FAINT = "#3c4048", "#dfe2e6"


def _panel(axes, records: list[dict], peers: list[str]) -> None:
    """Groups of bars, as wide as there are peers in each."""
    place, ticks = 0.0, []
    for record in records:
        there = [peer for peer in peers if peer in record["peers"]]
        ticks.append(place + 0.5 * (len(there) - 1))
        for n, peer in enumerate(there):
            entry, x = record["peers"][peer], place + n
            axes.bar(x, entry["ratio"], width=0.9, color=COLOURS[peer], zorder=2)
            axes.annotate(
                f"{entry['ratio']:.1f}", (x, entry["ratio"]), (0, 2), textcoords="offset points",
                ha="center", fontsize=6.5, color=INK,
            )  # fmt: skip
            if "wanted" in entry:
                axes.plot(
                    [x - 0.45, x + 0.45],
                    [entry["wanted"]] * 2,
                    color=INK,
                    lw=1.3,
                    zorder=3,
                )
        place += len(there) + 1.2
    axes.set_xticks(ticks, [r["attention"] for r in records], fontsize=9)
    axes.axhline(1, color="#9aa0a8", lw=0.9, ls=(0, (4, 3)), zorder=1)
    axes.set_xlim(-1.2, max(place - 1.0, 1))
    axes.set_ylim(
        0,
        1.13 * max([1.5] + [e["ratio"] for r in records for e in r["peers"].values()]),
    )
    axes.yaxis.grid(True, color=FAINT, lw=0.7, zorder=0)
    axes.tick_params(length=0, colors=INK, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


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
    figure, grid = plt.subplots(len(shapes), len(passes), figsize=size, squeeze=False, layout="constrained")
    for y, shape in enumerate(shapes):
        for x, one in enumerate(passes):
            here = [r for r in records if r["shape"] == shape and r["passes"] == one]
            _panel(grid[y][x], here, peers)
            grid[y][x].set_title(f"{shape}, {PASSES[one]}", loc="left", fontsize=10, color=INK)
        grid[y][0].set_ylabel("time of the peer / time of ours", fontsize=8, color=INK)
    machine = results["machine"]
    facts = [machine["processor"], f"{machine['threads']} threads", machine["vector_target"]]
    facts += [f"torch {machine['torch']}", "float32, width 512, 8 heads", machine["date"][:10]]
    # Three lines for the layout to leave room for; the facts, in their own grey, are written on the second.
    title += ": how many times longer the peers take\n\n"
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, color=INK)
    figure.text(0.01, 1 - 0.36 / size[1], ", ".join(facts), fontsize=9, color="#6b717a", va="top")
    legend = [Patch(color=COLOURS[peer], label=NAMES[peer]) for peer in peers]
    legend.append(Line2D([], [], color=INK, lw=1.3, label="to reach"))
    legend.append(Line2D([], [], color="#9aa0a8", lw=0.9, ls=(0, (4, 3)), label="as fast as ours"))
    figure.legend(
        handles=legend,
        loc="outside lower left",
        ncols=len(legend),
        frameon=False,
        fontsize=8.5,
    )
    figure.savefig(path, dpi=130, facecolor="white")
    plt.close(figure)
