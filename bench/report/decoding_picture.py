"""Translation speed as bars: a panel for each beam and batch, a bar for each competitor, float32 first."""

from __future__ import annotations

import re
from pathlib import Path

from . import style

COLOURS = {
    "ours V": style.GREEN,
    "ours R": style.VIOLET,
    "CTranslate2 float32": style.ORANGE,
    "eager V": style.BLUE,
    "eager R": style.BLUE,
    "ours V int8": style.GREEN,
    "ours V bfloat16": style.GREEN,
    "CTranslate2 int8": style.ORANGE,
}

QUANTIZED = ("int8", "bfloat16")
LAST_WORD = re.compile(r" (float32|int8|bfloat16)$")


def _panel(axes, rates: dict[str, float]) -> None:
    place, ticks, last_exact = 0.0, {}, True
    for name in [name for name in COLOURS if name in rates]:
        exact = not name.endswith(QUANTIZED)
        place += 0.0 if exact == last_exact else 0.6
        last_exact = exact
        axes.bar(place, rates[name], width=0.8, color=COLOURS[name], zorder=2)
        axes.annotate(
            f"{rates[name]:.0f}", (place, rates[name]), (0, 2), textcoords="offset points",
            ha="center", fontsize=8, color=style.INK,
        )  # fmt: skip
        ticks[place] = LAST_WORD.sub(r"\n\1", name)
        place += 1.0
    axes.set_ylim(0, 1.13 * max(rates.values()))
    axes.yaxis.grid(True, color=style.FAINT, lw=0.7, zorder=0)
    style.plain(axes)
    axes.set_xticks(list(ticks), list(ticks.values()))


def draw(result: dict, path: Path) -> None:
    rows, machine = result["rows"], result["machine"]
    beams, batches = (list(dict.fromkeys(row[key] for row in rows)) for key in ("beam", "batch"))
    figure, grid = style.panels(len(beams), len(batches), (6.4 * len(batches), 3.0 * len(beams) + 1.0))
    for row in rows:
        axes = grid[beams.index(row["beam"])][batches.index(row["batch"])]
        _panel(axes, row["tokens_per_second"])
        sentences = "1 sentence" if row["batch"] == 1 else f"{row['batch']} sentences"
        style.title(axes, f"beam {row['beam']}, {sentences} at a time")
    for line in grid:
        line[0].set_ylabel("tokens per second", fontsize=8, color=style.INK)
    versions = [f"CTranslate2 {machine['ctranslate2']}"] if "ctranslate2" in machine else []
    below = style.facts(machine, *versions, result["about"])
    style.head(figure, "Translation: tokens per second", below)
    style.save(figure, path)
