"""How cost grows, as tables in Markdown, and who wins where."""

from __future__ import annotations

from collections.abc import Callable

LEGEND = """Causal, but for linformer, which cannot be. Training is forward and backward of the result's sum.
Forward is without gradients. "Prepared" is our layer made ready for inference once (Attention.prepare):
packed weights, and for R, Fix and FR ready attention weights. In brackets: times as fast as eager, "–" where
eager is too large for the memory there is."""
SIZES = {
    "length": "one sample, width 512",
    "batch": "length 128, width 512",
    "threads": "8×512, width 512",
    "width": "8×128",
}
RANKED = ["V", "D", "R", "FR", "FD", "R+V"]
SLOWER = 0.97  # of V's speed: less of a difference is the machine's


def _grid(corner: str, columns: list, rows: dict[str, list[str]]) -> str:
    lines = [f"| {corner} | " + " | ".join(map(str, columns)) + " |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join(lines + [f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items()])


def _short(value: float) -> str:
    """Three digits or so."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(row: dict | None, name: str, values: str, unit: float, over: Callable) -> str:
    """A figure of ours, and beside eager's."""
    if row is None or name not in row[values]:
        return "too large" if row and "ours" in row["left_out"] else ""
    own, eager = row[values][name], row[values].get("eager")
    beside = f" ({over(own, eager):.2f}×)" if eager else " (–)" if "eager" in row["left_out"] else ""
    return _short(own / unit) + beside


def _table(corner: str, rows: list[dict], values: str, unit: float, over: Callable) -> str:
    found = {(r["attention"], r["at"]): r for r in rows}
    columns = list(dict.fromkeys(r["at"] for r in rows))
    lines: dict[str, list[str]] = {}
    for attention in dict.fromkeys(r["attention"] for r in rows):
        here = [found.get((attention, at)) for at in columns]
        lines[attention] = [_cell(row, "ours", values, unit, over) for row in here]
        if any(row and "prepared" in row[values] for row in here):
            lines[f"{attention}, prepared"] = [_cell(row, "prepared", values, unit, over) for row in here]
    return _grid(corner, columns, lines)


def speed(rows: list[dict], sweep: str, passes: str) -> str:
    chosen = [r for r in rows if r["sweep"] == sweep and r["passes"] == passes]
    title = f"{passes} by {sweep} ({SIZES[sweep]}): thousand tokens per second\n\n"
    return title + _table(sweep, chosen, "tokens_per_second", 1000, lambda own, eager: own / eager)


def memory(rows: list[dict]) -> str:
    if not rows:
        return ""
    title = f"\npeak memory of {rows[0]['passes']} by length, parameters and input included: MiB, and "
    return (
        f"{title}in brackets the part of eager's\n\n"
        + _table("length", rows, "bytes", 2**20, lambda own, eager: own / eager)
        + "\n"
    )


def _slower(ratios: dict[int, float]) -> str:
    """The lengths at which an attention is slower than V, in words."""
    lengths = list(ratios)
    below = [at for at in lengths if ratios[at] < SLOWER]
    if not below or len(below) == len(lengths):
        return "everywhere" if below else "nowhere"
    if below == lengths[-len(below) :]:
        return f"from {below[0]}"
    return f"up to {below[-1]}" if below == lengths[: len(below)] else "at " + ", ".join(map(str, below))


def winners(rows: list[dict]) -> str:
    """For every length the fastest of ours; and each beside V, with where it falls below."""
    out = ""
    for passes in dict.fromkeys(r["passes"] for r in rows):
        ours: dict[int, dict[str, float]] = {}
        for r in rows:
            own = r["tokens_per_second"].get("ours")
            if r["sweep"] == "length" and r["passes"] == passes and r["attention"] in RANKED and own:
                ours.setdefault(r["at"], {})[r["attention"]] = own
        if not any("V" in here for here in ours.values()):
            continue
        lines = {"fastest": [max(here, key=here.get) for here in ours.values()] + [""]}
        for name in RANKED[1:]:
            ratios = {at: here[name] / here["V"] for at, here in ours.items() if {name, "V"} <= set(here)}
            if ratios:
                cells = [f"{ratios[at]:.2f}×" if at in ratios else "" for at in ours]
                lines[name] = [*cells, _slower(ratios)]
        title = f"\nwho wins where, {passes} by length: tokens per second beside our V\n\n"
        out += title + _grid("", [*ours, "slower than V"], lines) + "\n"
    return out
