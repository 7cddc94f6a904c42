"""Throughput and latency of servers as tables, with what was to be reached."""

from __future__ import annotations

from .steps import judged


def at_load(row: dict, share: float) -> dict:
    return next(point for point in row["loads"] if point["load"] == share)


def line(name: str, row: dict) -> str:
    half = at_load(row, 0.5)
    return (
        f"{name}: {row['saturation']:.1f} requests/s at saturation, one alone {1e3 * row['alone']:.0f} ms, "
        f"p99 at half {1e3 * half['p99']:.0f} ms"
    )


def loads(rows: dict[str, dict]) -> list[str]:
    out = ["", "| server | load | offered /s | answered /s | p50 ms | p99 ms | refused | p99 of refusals ms "
           "| unanswered | failed | memory MB |", "|---" * 11 + "|"]  # fmt: skip
    for name, row in rows.items():
        for point in row["loads"]:
            refused = f"{1e3 * point['refused_p99']:.1f}" if point["refused_p99"] is not None else ""
            out.append(
                f"| {name} | {point['load']:g}× | {point['offered']:.1f} | {point['rate']:.1f} "
                f"| {1e3 * point['p50']:.0f} | {1e3 * point['p99']:.0f} | {point['refused']} | {refused} "
                f"| {point['unanswered']} | {point['failed']} | {point['growth'] / 1e6:+.1f} |"
            )
    return out


def targets(rows: dict[str, dict]) -> list[str]:
    """Of ours."""
    out = ["", "| | figure | |", "|---|---|---|"]

    def add(name: str, figure: str, verdict: str) -> None:
        out.append(f"| {name} | {figure} | {verdict} |")

    for name, row in rows.items():
        if "translate" not in row:
            continue
        kind = name.split()[-1]
        rate, half, triple = row["saturation"], at_load(row, 0.5), at_load(row, 3)
        add(f"{kind}: saturation / synth translate", f"{rate:.1f} / {row['translate']:.1f}",
            judged(rate / row["translate"], 0.9))  # fmt: skip
        if peer := rows.get(f"CTranslate2 {kind}"):
            add(f"{kind}: saturation / CTranslate2 behind FastAPI", f"{rate:.1f} / {peer['saturation']:.1f}",
                judged(rate / peer["saturation"], 1.3))  # fmt: skip
        add(f"{kind}: p99 at half of saturation / a request alone",
            f"{1e3 * half['p99']:.0f} / {1e3 * row['alone']:.0f} ms",
            judged(half["p99"] / row["alone"], 3, at_most=True))  # fmt: skip
        overhead = 1e3 * row["overhead"]
        add(f"{kind}: overhead of a request", f"{overhead:.2f} ms",
            f"{'reached' if overhead <= 2 else 'missed'}: at most 2 ms")  # fmt: skip
        add(f"{kind}: p99 of accepted requests at 3× / at saturation, where the queue is full too",
            f"{1e3 * triple['p99']:.0f} / {1e3 * row['saturated_p99']:.0f} ms",
            judged(triple["p99"] / row["saturated_p99"], 1, at_most=True))  # fmt: skip
        if triple["refused"]:
            add(f"{kind}: refusals at 3×", f"{triple['refused']}",
                f"99% within {1e3 * triple['refused_p99']:.1f} ms")  # fmt: skip
        if long := row.get("soak"):
            memory = long["memory"]
            growth = (memory[-1] - memory[len(memory) // 2]) / 1e6
            verdict = f"memory {memory[-1] / 1e6:.0f} MB, {growth:+.1f} MB in the second half"
            add(
                f"{kind}: {long['seconds']:.0f} s at saturation",
                f"{long['answered']} answers",
                f"{long['failed']} failed, {long['refused']} refused while the queue was full, {verdict}",
            )
    return out


def tables(rows: dict[str, dict]) -> str:
    return "\n".join(["\nOpen loop", *loads(rows), "\nTargets", *targets(rows)])
