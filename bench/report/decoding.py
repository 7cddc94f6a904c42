"""Translation speed as tables, with what was to be reached."""

from __future__ import annotations

from comparison.quality import LARGEST_DROPS

from .steps import judged

# Tokens per second of the first over those of the second, and the least that was asked.
TARGETS = {
    ("ours V", "CTranslate2 float32"): 1.0,
    ("ours R", "ours V"): 1.05,
    ("ours V int8", "CTranslate2 int8"): 0.9,
    ("ours V bfloat16", "ours V"): 1.3,
    ("ours V", "eager V"): None,
    ("ours V", "transformers"): None,
}
# Asked for where reading weights takes the time, which is at batch 1.
OF_BATCH_1 = {("ours V bfloat16", "ours V")}


def _target(pair: tuple[str, str], row: dict) -> float | None:
    return None if pair in OF_BATCH_1 and row["batch"] > 1 else TARGETS[pair]


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
        return [judged(rate[one] / rate[other], _target((one, other), row)) for one, other in pairs]

    return _table(rows, [f"{one} / {other}" for one, other in pairs], cells)


def agreement(rows: list[dict]) -> list[str]:
    names = list(rows[0]["shared_hypotheses"])

    def cells(row: dict) -> list[str]:
        shares = [f"{100 * row['shared_hypotheses'][name]:.0f}%" for name in names]
        return [str(row["different_hypotheses"]), *shares]

    return _table(rows, ["different", *names], cells)


def costs(runs: list[dict]) -> list[str]:
    out = ["", "| run | weights | BLEU before | after | drop | size before | after |", "|---" * 7 + "|"]
    for run in runs:
        drop, most = run["bleu_before"] - run["bleu_after"], LARGEST_DROPS[run["kind"]]
        verdict = f"{'reached' if drop <= most else 'missed'}: at most {most}"
        sizes = [f"{run[key] / 1e6:.1f} MB" for key in ("bytes_before", "bytes_after")]
        out.append(
            f"| {run['run']} | {run['kind']} | {run['bleu_before']:.2f} | {run['bleu_after']:.2f} "
            f"| {drop:.2f} ({verdict}) | {sizes[0]} | {sizes[1]} |"
        )
    return out


def tables(rows: list[dict], quantized: list[dict]) -> str:
    out = ["\nTokens a second", *speed(rows), "\nRatios of tokens per second", *ratios(rows)]
    out += ["\nHypotheses that differ from each other in ours, and the share that others find too"]
    out += agreement(rows)
    if quantized:
        out += ["\nTrained models, exported with --quantize", *costs(quantized)]
    return "\n".join(out)
