"""How pictures look: colours, axes, groups of bars, and the line that says who measured."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

INK, FAINT, GREY = "#3c4048", "#dfe2e6", "#6b717a"
BLUE, ORANGE, GREEN, VIOLET, ROSE = "#7f9fc4", "#e3b07c", "#8cbf9f", "#b9a3cc", "#d69a9a"
EVEN = {"color": "#9aa0a8", "lw": 0.9, "ls": (0, (4, 3))}  # the line at 1


class Bar(NamedTuple):
    ratio: float
    colour: str
    wanted: float | None = None


def panels(rows: int, columns: int, size: tuple[float, float]):
    return plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")


def plain(axes) -> None:
    axes.tick_params(length=0, colors=INK, labelsize=8)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)


def title(axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=10, color=INK)


def bars(axes, groups: list[tuple[str, list[Bar]]], digits: int = 1) -> None:
    """Ratios, each group as wide as its bars are many; a stroke where a ratio is to be reached."""
    place, ticks = 0.0, []
    top = 1.13 * max([1.5] + [max(bar.ratio, bar.wanted or 0) for _, group in groups for bar in group])
    for _, group in groups:
        ticks.append(place + 0.5 * (len(group) - 1))
        for n, bar in enumerate(group):
            x = place + n
            axes.bar(x, bar.ratio, width=0.9, color=bar.colour, zorder=2)
            struck = bar.wanted is not None and 0 <= bar.wanted - bar.ratio < 0.06 * top
            axes.annotate(
                f"{bar.ratio:.{digits}f}", (x, bar.wanted if struck else bar.ratio), (0, 2),
                textcoords="offset points", ha="center", fontsize=6.5, color=INK,
            )  # fmt: skip
            if bar.wanted is not None:
                axes.plot([x - 0.45, x + 0.45], [bar.wanted] * 2, color=INK, lw=1.3, zorder=3)
        place += len(group) + 1.2
    axes.set_xticks(ticks, [name for name, _ in groups], fontsize=9)
    axes.axhline(1, **EVEN, zorder=1)
    axes.set_xlim(-1.2, max(place - 1.0, 1))
    axes.set_ylim(0, top)
    axes.yaxis.grid(True, color=FAINT, lw=0.7, zorder=0)
    plain(axes)


def facts(machine: dict, *about: str) -> str:
    """Who measured, and what about it all panels share."""
    who = [machine["processor"], f"{machine['threads']} threads", machine["vector_target"]]
    return ", ".join([*who, f"torch {machine['torch']}", *about, machine["date"][:10]])


def head(figure, text: str, below: str) -> None:
    # Three lines for the layout to leave room for; the facts, in their own grey, are written on the second.
    figure.suptitle(text + "\n\n", x=0.01, ha="left", fontsize=13, color=INK)
    figure.text(0.01, 1 - 0.36 / figure.get_figheight(), below, fontsize=9, color=GREY, va="top")


def bar_legend(figure, colours: dict[str, str]) -> None:
    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    handles.append(Line2D([], [], color=INK, lw=1.3, label="to reach"))
    handles.append(Line2D([], [], **EVEN, label="as fast as ours"))
    figure.legend(
        handles=handles, loc="outside lower left", ncols=len(handles), frameon=False, fontsize=8.5
    )  # fmt: skip


def save(figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130, facecolor="white")
    plt.close(figure)
