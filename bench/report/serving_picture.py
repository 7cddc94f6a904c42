"""Latency of servers over the rate at which requests come."""

from __future__ import annotations

from pathlib import Path

from matplotlib.ticker import LogLocator, NullLocator

from . import style

COLOURS = {"ours": "#4f9a6b", "CTranslate2": "#d08a3c"}


def _panel(axes, rows: dict[str, dict], kind: str) -> None:
    most = 0.0
    of_kind = [(name.split()[0], row) for name, row in rows.items() if name.split()[1] == kind]
    slowest = min(row["saturation"] for _, row in of_kind)
    for server, row in of_kind:
        points = sorted(row["loads"], key=lambda point: point["offered"])
        offered = [point["offered"] for point in points]
        for key, dashes in [("p99", "-"), ("p50", (0, (4, 3)))]:
            seconds = [point[key] for point in points]
            axes.plot(
                offered, seconds, color=COLOURS[server], ls=dashes, lw=1.6, marker="o", ms=3.5, zorder=3,
                label=f"{server} {key}",
            )  # fmt: skip
        axes.axvline(row["saturation"], color=COLOURS[server], lw=0.9, ls=":", zorder=1)
        left = row["saturation"] == slowest and len(of_kind) > 1  # of its line: two may be close together
        axes.annotate(f"{row['saturation']:.0f}/s", (row["saturation"], 1), (-3 if left else 3, -4),
                      xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
                      ha="right" if left else "left", fontsize=8, color=COLOURS[server])  # fmt: skip
        most = max(most, offered[-1])
    axes.set_yscale("log")
    axes.set_xlim(0, 1.03 * most)
    axes.yaxis.grid(True, which="major", color=style.FAINT, lw=0.7, zorder=0)
    axes.set_xlabel("requests per second offered", fontsize=8, color=style.INK)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g} s")
    axes.yaxis.set_minor_locator(NullLocator())
    style.plain(axes)
    style.title(axes, kind)


def draw(result: dict, path: Path) -> None:
    rows = result["rows"]
    kinds = list(dict.fromkeys(name.split()[-1] for name in rows))
    figure, axes = style.panels(1, len(kinds), (5.2 * len(kinds), 4.4))
    for one, kind in zip(axes[0], kinds):
        _panel(one, rows, kind)
        one.legend(frameon=False, fontsize=8, labelcolor=style.INK)
    axes[0][0].set_ylabel("latency from when a request was due", fontsize=8, color=style.INK)
    style.head(
        figure,
        "Latency of accepted requests; dotted: saturation",
        style.facts(result["machine"], result["about"]),
    )
    style.save(figure, path)
