"""Training steps as a table, with what was to be reached."""

from __future__ import annotations

# Ratio of times, theirs over ours, by (competitor beside ours) and setting.
TARGETS = {
    ("V", "eager V"): {"demo": 1.6, "translation": 1.4, "encoder": 1.5},
    ("V", "compiled V"): {"demo": 1.2, "translation": 1.1, "encoder": 1.1},
    ("R", "ours V"): {"demo": 1.05, "translation": 1.08, "encoder": 1.2},
    ("R", "ours dynamic-conv"): {"translation": 1.1, "encoder": 1.1},
    ("R", "eager dynamic-conv"): {"translation": 1.6, "encoder": 1.6},
}
MEMORY = {"translation": 0.6, "encoder": 0.5}


def judged(value: float, target: float | None, at_most: bool = False) -> str:
    text = f"{value:.2f}×"
    if target is None:
        return text
    reached = value <= target if at_most else value >= target
    return f"{text} ({'reached' if reached else 'missed'}: {target}×)"


def table(rows: list[dict]) -> str:
    """One setting in Markdown."""
    out = [f"\n{rows[0]['about']}, {rows[0]['precision']}\n"]
    out.append("| attention | step | beside | memory of eager | step over its products' floor |")
    out.append("|---|---|---|---|---|")
    for row in rows:
        name, setting, seconds = row["attention"], row["setting"], row["seconds"]
        own = seconds[f"ours {name}"]
        beside = []
        for other, theirs in seconds.items():
            if other == f"ours {name}":
                continue
            beside.append(f"{other} {judged(theirs / own, TARGETS.get((name, other), {}).get(setting))}")
        peak, memory = row["peak_bytes"], "–"
        if f"eager {name}" in peak:
            ratio = peak[f"ours {name}"] / peak[f"eager {name}"]
            memory = judged(ratio, MEMORY.get(setting) if name == "V" else None, at_most=True)
        floor = row["multiply_adds"] / row["sgemm_multiply_adds_per_second"]
        out.append(f"| {name} | {own * 1000:.1f} ms | {'; '.join(beside)} | {memory} | {own / floor:.2f}× |")
    return "\n".join(out)
