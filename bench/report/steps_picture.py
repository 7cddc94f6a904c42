"""Training steps as bars: one panel a setting, a group an attention, a bar whoever stands beside ours."""

from __future__ import annotations

from pathlib import Path

from . import style
from .steps import TARGETS
from .style import Bar

# In the order of the bars. The first two run the same attention, the others are other attention variants.
COLOURS = {
    "eager PyTorch": style.BLUE,
    "torch.compile": style.ORANGE,
    "our V": style.GREEN,
    "our dynamic-conv": style.VIOLET,
    "eager dynamic-conv": style.ROSE,
}


def _name(competitor: str, attention: str) -> str:
    """As the legend has it: "eager V" beside ours of V is eager PyTorch."""
    mode, other = competitor.split(" ", 1)
    if other == attention:
        return {"eager": "eager PyTorch", "compiled": "torch.compile"}[mode]
    return f"{'our' if mode == 'ours' else mode} {other}"


def _beside(row: dict) -> dict[str, Bar]:
    """Whoever was measured beside ours, by name."""
    attention, seconds = row["attention"], row["seconds"]
    own, found = f"ours {row['attention']}", {}
    for competitor, theirs in seconds.items():
        if competitor != own:
            name = _name(competitor, attention)
            wanted = TARGETS.get((attention, competitor), {}).get(row["setting"])
            found[name] = Bar(theirs / seconds[own], COLOURS[name], wanted)
    return {name: found[name] for name in COLOURS if name in found}


def draw(result: dict, path: Path) -> None:
    settings = list(dict.fromkeys(row["setting"] for row in result["rows"]))
    figure, grid = style.panels(len(settings), 1, (12.0, 3.3 * len(settings) + 1.5))
    seen: dict[str, str] = {}
    for (axes,), setting in zip(grid, settings):
        rows = [row for row in result["rows"] if row["setting"] == setting]
        groups = {row["attention"]: _beside(row) for row in rows}
        seen |= {name: bar.colour for group in groups.values() for name, bar in group.items()}
        style.bars(axes, [(name, list(group.values())) for name, group in groups.items()], digits=2)
        style.title(axes, rows[0]["about"])
        axes.set_ylabel("time of a step / time of ours", fontsize=8, color=style.INK)
    right = max(axes.get_xlim()[1] for (axes,) in grid)
    for (axes,) in grid:
        axes.set_xlim(right=right)  # bars are equally wide in all panels
    style.head(
        figure,
        "A training step: how many times longer the others take",
        style.facts(result["machine"], result["rows"][0]["precision"]),
    )
    style.bar_legend(figure, {name: COLOURS[name] for name in COLOURS if name in seen})
    style.save(figure, path)
