"""Translation speed as tables, with what was to be reached."""

from __future__ import annotations

from comparison.quality import LARGEST_DROP

from .steps import judged

# Tokens per second of the first over those of the second, and the least that was asked.
TARGETS = {
    ("ours V", "CTranslate2 float32"): 1.0,
    ("ours R", "ours V"): 1.05,
    ("ours V int8", "CTranslate2 int8"): 0.9,
    ("ours V", "eager V"): None,
    ("ours V", "transformers"): None,
}


def _table(rows: list[dict], head: list[str], cells) -> list[str]:
    """Markdown: a row for each beam and batch, whose other cells the function makes."""
    out = ["", " | ".join(["| beam", "batch", *head]) + " |", "|---" * (len(head) + 2) + "|"]
    for row in rows:
        out.append(" | ".join([f"| {row['beam']}", str(row["batch"]), *cells(row)]) + " |")
    return out


def speed(rows: list[dict]) -> list[str]:
    names = list(rows[0]["tokens_per_second"])
    return _table(rows, names, lambda row: [f"{row['tokens_per_second'][name]:.0f}" for name in names])


def ratios(rows: list[dict]) -> list[str]:
    there = rows[0]["tokens_per_second"]
    pairs = [pair for pair in TARGETS if pair[0] in there and pair[1] in there]

    def cells(row: dict) -> list[str]:
        rate = row["tokens_per_second"]
        return [judged(rate[one] / rate[other], TARGETS[one, other]) for one, other in pairs]

    return _table(rows, [f"{one} / {other}" for one, other in pairs], cells)


def agreement(rows: list[dict]) -> list[str]:
    names = list(rows[0]["shared_hypotheses"])

    def cells(row: dict) -> list[str]:
        shares = [f"{100 * row['shared_hypotheses'][name]:.0f}%" for name in names]
        return [str(row["different_hypotheses"]), *shares]

    return _table(rows, ["different", *names], cells)


def int8_costs(runs: list[dict]) -> list[str]:
    out = ["", "| run | BLEU before | after | drop | weights before | after |", "|---|---|---|---|---|---|"]
    for run in runs:
        drop = run["bleu_before"] - run["bleu_after"]
        verdict = f"{'reached' if drop <= LARGEST_DROP else 'missed'}: at most {LARGEST_DROP}"
        sizes = [f"{run[key] / 1e6:.1f} MB" for key in ("bytes_before", "bytes_after")]
        out.append(
            f"| {run['run']} | {run['bleu_before']:.2f} | {run['bleu_after']:.2f} | {drop:.2f} ({verdict}) "
            f"| {sizes[0]} | {sizes[1]} |"
        )
    return out


def tables(rows: list[dict], int8: list[dict]) -> str:
    out = ["\nTokens a second", *speed(rows), "\nRatios of tokens per second", *ratios(rows)]
    out += ["\nHypotheses that differ from each other in ours, and the share that others find too"]
    out += agreement(rows)
    if int8:
        out += ["\nTrained models, exported with --quantize int8", *int8_costs(int8)]
    return "\n".join(out)
