"""The numbers as tables of text."""

from __future__ import annotations

MARKS = {True: "✓", False: "✗", None: " "}
PASSES = {"forward": "forward", "both": "forward + backward"}


def mark(entry: dict) -> str:
    return MARKS[entry.get("reached")]


def facts(machine: dict, about: str = "float32, width 512, 8 heads") -> str:
    return (
        f"{machine['processor']}, {machine['threads']} threads of {machine['cores']} cores, "
        f"{machine['vector_target']} (torch: {machine['torch_capability']})\n"
        f"torch {machine['torch']}, python {machine['python']}, synthesizer {machine['synthesizer']}, "
        f"commit {machine['commit']}, {machine['date']}\n"
        f"{about}; load before the start: {machine['load_before']} "
        "(ratios need a quiet machine)"
    )


def _cells(record: dict | None, peers: list[str]) -> str:
    if record is None:
        return " " * (17 + 10 * len(peers))
    cells = f"{record['ours_ms']:9.2f}"
    for peer in peers:
        entry = record["peers"].get(peer)
        cells += f"{entry['ratio']:8.2f} {mark(entry)}" if entry else f"{'–':>8}  "
    share = record["sgemm_share"]
    return cells + (f"{100 * share:6.0f} %" if share is not None else " " * 8)


def speed(records: list[dict], part: str, causal: bool, peers: list[str], passes: list[str]) -> str:
    """Rows: attentions, by shape. Columns: ours in ms, and how many times longer each peer takes."""
    chosen = [r for r in records if r["part"] == part and r["causal"] == causal]
    found = {(r["shape"], r["attention"], r["passes"]): r for r in chosen}
    width = 17 + 10 * len(peers)
    title = "the core alone" if part == "core" else "the whole layer"
    lines = [f"{title}, {'causal' if causal else 'not causal'}: time of the peer / time of ours"]
    lines.append(" " * 16 + "   ".join(f"{PASSES[p]:^{width}}" for p in passes))
    names = (
        f"{'ours ms':>9}" + "".join(f"{p:>8}  " for p in peers) + ("   sgemm" if part == "core" else " " * 8)
    )
    lines.append(f"{'':16}" + "   ".join(names for _ in passes))
    last = None
    for shape, attention in dict.fromkeys((r["shape"], r["attention"]) for r in chosen):
        cells = "   ".join(_cells(found.get((shape, attention, p)), peers) for p in passes)
        lines.append(f"{shape if shape != last else '':8}{attention:8}{cells}".rstrip())
        last = shape
    return "\n".join(lines)


def ours_against_ours(rows: list[dict], part: str, causal: bool, passes: list[str]) -> str:
    """How many times faster one of our attentions is than another, by shape."""
    chosen = [r for r in rows if r["part"] == part and r["causal"] == causal]
    found = {(r["shape"], r["attention"], r["over"], r["passes"]): r["ratio"] for r in chosen}
    lines = ["our variants compared: ratio of speeds, in the same rounds"]
    lines.append(" " * 20 + "".join(f"{PASSES[p]:>20}" for p in passes))
    last = None
    for shape, one, other in dict.fromkeys((r["shape"], r["attention"], r["over"]) for r in chosen):
        cells = "".join(f"{found[shape, one, other, p]:20.2f}" for p in passes)
        lines.append(f"{shape if shape != last else '':8}{one + ' over ' + other:12}{cells}")
        last = shape
    return "\n".join(lines)


def memory(rows: list[dict], shape: str) -> str:
    lines = [
        f"peak memory of forward + backward, the core alone, causal, {shape}; in MiB, inputs not counted"
    ]
    peers = list(dict.fromkeys(peer for row in rows for peer in row["peers"]))
    lines.append(f"{'':16}{'ours':>9}" + "".join(f"{p:>9}{'part':>9}  " for p in peers))
    for row in rows:
        cells = f"{'':8}{row['attention']:8}{row['ours'] / 2**20:9.0f}"
        for peer in peers:
            entry = row["peers"].get(peer)
            if entry is None:
                cells += f"{'–':>9}{'':11}"
            else:
                cells += f"{entry['bytes'] / 2**20:9.0f}{entry['part']:9.2f} {mark(entry)}"
        lines.append(cells.rstrip())
    return "\n".join(lines)


def targets(records: list[dict], memory_rows: list[dict]) -> str:
    """How many were reached, and which were not."""
    reached, missed = 0, []
    for r in records:
        for peer, entry in r["peers"].items():
            if entry.get("reached"):
                reached += 1
            elif entry.get("reached") is False:
                where = f"{r['attention']} {r['shape']} {PASSES[r['passes']]}, against {peer}"
                missed.append(f"  {where}: {entry['ratio']:.2f}, wanted {entry['wanted']:.2f}")
    for row in memory_rows:
        entry = row["peers"].get("eager", {})
        if entry.get("reached"):
            reached += 1
        elif entry.get("reached") is False:
            missed.append(
                f"  {row['attention']} memory: {entry['part']:.2f} of eager's, wanted {entry['wanted']:.2f}"
            )
    lines = [f"targets (the core, causal): {reached} reached, {len(missed)} missed"] + missed
    return "\n".join(lines)


def left_out(records: list[dict]) -> str:
    """Each reason once, with where it held."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for r in records:
        for peer, reason in r["left_out"].items():
            reasons.setdefault((peer, reason), []).append(r["attention"])
    lines = [
        f"  {peer} ({', '.join(dict.fromkeys(where))}): {reason}" for (peer, reason), where in reasons.items()
    ]
    return "\n".join(["left out:"] + lines) if lines else ""
