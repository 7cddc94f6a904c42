"""Throughput and latency of servers as bars."""

from __future__ import annotations

from pathlib import Path

from . import style

COLOURS = {"ours": style.GREEN, "CTranslate2": style.ORANGE}


def _bars(axes, values: dict[str, float], title: str, digits: int) -> None:
    for place, (name, value) in enumerate(values.items()):
        axes.bar(place, value, width=0.7, color=COLOURS[name.split()[0]], zorder=2)
        axes.annotate(f"{value:.{digits}f}", (place, value), (0, 2), textcoords="offset points", ha="center",
                      fontsize=8, color=style.INK)  # fmt: skip
    axes.set_xticks(range(len(values)), [name.replace(" ", "\n") for name in values])
    axes.yaxis.grid(True, color=style.FAINT, lw=0.7, zorder=0)
    style.plain(axes)
    style.title(axes, title)


def draw(rows: dict[str, dict], about: str, path: Path) -> None:
    figure, axes = style.panels(1, 3, (10, 3.4))
    _bars(axes[0][0], {name: row["saturation"] for name, row in rows.items()}, "sentences/s at saturation", 1)
    half = {name: 1e3 * row["half"]["p99"] for name, row in rows.items()}
    _bars(axes[0][1], half, "p99 at half of saturation, ms", 0)
    triple = {name: 1e3 * row["triple"]["p99"] for name, row in rows.items()}
    _bars(axes[0][2], triple, "p99 of accepted requests at 3×, ms", 0)
    figure.suptitle(about, x=0.01, ha="left", fontsize=11, color=style.INK)
    figure.savefig(path, dpi=150)
