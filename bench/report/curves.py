"""How cost grows, as curves on logarithmic axes: a colour an attention, ours solid, eager dashed."""

from __future__ import annotations

import math
from pathlib import Path

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from . import style
from .scale import SIZES

COLOURS = {
    "V": "#2f343c",
    "D": "#3f74b5",
    "R": "#d1495b",
    "Fix": "#eb9aa5",
    "FR": "#e08a2e",
    "FD": "#4f9d5d",
    "R+V": "#8e5ea8",
    "light-conv": "#52b3b8",
    "dynamic-conv": "#1d7f86",
    "linformer": "#a58a1c",
}
GAP = 0.05  # between labels, as a part of the height of a panel


def _plainly(value: float, _=None) -> str:
    for size, name in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def spread(places: list[float], gap: float) -> list[float]:
    """Places from bottom to top, moved as little as need be to lie a gap apart: those that would touch
    become one block around their middle."""
    blocks: list[list[float]] = []  # the middle, how many
    for place in sorted(places):
        blocks.append([place, 1])
        while len(blocks) > 1:
            (low, below), (high, above) = blocks[-2:]
            if high - low >= gap * (below + above) / 2:
                break
            blocks[-2:] = [[(low * below + high * above) / (below + above), below + above]]
    return [middle + gap * (n - (count - 1) / 2) for middle, count in blocks for n in range(int(count))]


def _labels(axes, ends: dict[str, tuple[float, float]]) -> None:
    """Names behind the ends of the curves, joined to them by a thin line."""
    bottom, top = map(math.log, axes.get_ylim())
    heights = {name: (math.log(y) - bottom) / (top - bottom) for name, (_, y) in ends.items()}
    names = sorted(heights, key=heights.get)
    for name, place in zip(names, spread(list(heights.values()), GAP)):
        line = {"arrowstyle": "-", "color": COLOURS[name], "lw": 0.5, "shrinkA": 1, "shrinkB": 2}
        axes.annotate(
            name, ends[name], (1.05, place), textcoords="axes fraction", va="center", fontsize=8,
            color=COLOURS[name], annotation_clip=False, arrowprops=line | {"relpos": (0, 0.5)},
        )  # fmt: skip


def _panel(axes, rows: list[dict], values: str, unit: float) -> None:
    ends, ticks = {}, sorted({r["at"] for r in rows})
    for name in [name for name in COLOURS if any(r["attention"] == name for r in rows)]:
        for who, dashes in (("eager", (0, (3, 2))), ("ours", "-")):
            own = [r for r in rows if r["attention"] == name and who in r[values]]
            line = [(r["at"], r[values][who] / unit) for r in own]
            if line:
                width, marker = (1.6, 2.5) if who == "ours" else (0.9, 0)
                axes.plot(*zip(*line), color=COLOURS[name], lw=width, ls=dashes, marker="o", ms=marker)
                ends[name] = line[-1]  # ours, where it is there
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(ticks, [str(at) for at in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(_plainly))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(True, color=style.FAINT, lw=0.7)
    style.plain(axes)
    _labels(axes, ends)


def draw(result: dict, path: Path) -> None:
    """Both passes by length, memory, and the other sweeps in training, where it was measured."""
    speed, memory = result["speed"], result["memory"]
    passes = list(dict.fromkeys(r["passes"] for r in speed))
    wanted = [("length", one) for one in passes] + [(s, passes[-1]) for s in ("batch", "width", "threads")]
    drawn = []
    for sweep, one in wanted:
        rows = [r for r in speed if r["sweep"] == sweep and r["passes"] == one]
        title = f"{one} by {sweep} ({SIZES[sweep]}): tokens per second"
        drawn += [(title, rows, "tokens_per_second", 1)] if rows else []
    if memory:
        title = f"peak memory of {memory[0]['passes']} by length ({SIZES['length']}): MiB"
        drawn.insert(len(passes), (title, memory, "bytes", 2**20))
    columns = min(3, len(drawn))
    rows = -(-len(drawn) // columns)
    figure, grid = style.panels(rows, columns, (6.4 * columns, 4.6 * rows + 1.3))
    for axes in list(grid.flat)[len(drawn) :]:
        axes.set_visible(False)
    for axes, (title, *what) in zip(grid.flat, drawn):
        _panel(axes, *what)
        style.title(axes, title)
    style.head(
        figure,
        "One layer: how cost grows",
        style.facts(result["machine"], "float32, causal but for linformer, heads of width 64"),
    )
    handles = [Line2D([], [], color=style.INK, lw=1.6, marker="o", ms=2.5, label="ours")]
    if any("eager" in r["tokens_per_second"] for r in speed):
        label = "eager PyTorch, where it fits into memory"
        handles.append(Line2D([], [], color=style.INK, lw=0.9, ls=(0, (3, 2)), label=label))
    figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8.5)
    style.save(figure, path)
