"""Ours and the peers side by side: eager PyTorch, torch.compile, scaled_dot_product_attention, FlexAttention.

    ./run bench attention [--quick] [--attention V,R+V] [--shapes 8x512] [--causal | --no-causal] …

Every setting first checks that all give the same result and the same gradients, then times them interleaved
and compares medians. Then our own attentions are timed against each other (R over V, FR over R, R+V over V),
in rounds of their own. Prints tables, writes results.json and results.png.
"""

from __future__ import annotations

import argparse
import json
import sys

import measure
import torch
from comparison.competitors import check_agreement, make_competitors
from comparison.options import arguments, peers_for
from comparison.peak_memory import peak_of
from comparison.setting import Setting, multiply_adds
from comparison.targets import judge, memory_target

from report import table


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def measure_setting(setting: Setting, a: argparse.Namespace) -> list[dict]:
    """One record for each pass."""
    torch._dynamo.reset()  # compiled code of earlier settings: else there is a limit on how much is kept
    records = []
    for passes in a.passes:
        peers, spared = peers_for(setting, a)
        made = make_competitors(setting, peers)
        differences = check_agreement(made, backward=passes == "both")  # compiles and warms up, too
        runs = {c.name: c.both if passes == "both" else c.forward for c in made.competitors}
        runs["sgemm"] = measure.make_sgemm()
        times = measure.interleaved(runs, a.seconds, least=a.repeats)
        ms = {name: 1e3 * measure.median(values) for name, values in times.items()}
        sgemm = measure.sgemm_rate(times["sgemm"])
        rate = multiply_adds(setting, passes == "both") / (1e-3 * ms["ours"])
        records.append(
            {
                "attention": setting.attention,
                "shape": setting.shape,
                "batch": setting.batch,
                "length": setting.length,
                "causal": setting.causal,
                "part": setting.part,
                "passes": passes,
                "rounds": len(times["ours"]),
                "ours_ms": ms["ours"],
                "sgemm_gflops": 2e-9 * sgemm,
                "sgemm_share": rate / sgemm if setting.part == "core" else None,
                "peers": {
                    name: {
                        "ms": ms[name],
                        "ratio": ms[name] / ms["ours"],
                        "difference": differences[name],
                    }
                    for name in differences
                },
                "left_out": made.left_out | spared,
            }
        )
    return records


OURS = [("R", "V"), ("FR", "R"), ("R+V", "V")]  # what a table costs, and what saved products gain


def measure_ours(settings: list[Setting], a: argparse.Namespace) -> list[dict]:
    """Our own attentions of one shape against each other, all in the same rounds: those of OURS."""
    named = {s.attention: s for s in settings}
    pairs = [(one, other) for one, other in OURS if one in named and other in named]
    wanted = sorted({name for pair in pairs for name in pair})
    rows = []
    for passes in a.passes if pairs else []:
        made = {name: make_competitors(named[name], []).competitors[0] for name in wanted}
        runs = {name: c.both if passes == "both" else c.forward for name, c in made.items()}
        measure.interleaved(runs, 0, least=1, most=1)  # brings in threads and memory
        times = measure.interleaved(runs, a.seconds, least=a.repeats)
        ms = {name: 1e3 * measure.median(values) for name, values in times.items()}
        shape, causal, part = settings[0].shape, settings[0].causal, settings[0].part
        for one, other in pairs:
            entry = {"attention": one, "over": other, "ratio": ms[other] / ms[one]}
            rows.append({"part": part, "causal": causal, "shape": shape, "passes": passes, **entry})
    return rows


def measure_memory(setting: Setting, a: argparse.Namespace) -> dict:
    row = {
        "attention": setting.attention,
        "shape": setting.shape,
        "ours": peak_of(setting, "ours", a.threads),
    }
    row["peers"] = {}
    for peer in [p for p in a.peers if p == "eager" or (p == "sdpa" and setting.attention == "V")]:
        size = peak_of(setting, peer, a.threads)
        row["peers"][peer] = {"bytes": size, "part": row["ours"] / size}
    if "eager" in row["peers"]:
        entry, wanted = row["peers"]["eager"], memory_target(setting)
        entry["wanted"] = wanted
        entry["reached"] = entry["part"] < wanted if wanted == 1 else entry["part"] <= wanted
    return row


def main() -> int:
    a = arguments(__doc__)
    torch.set_num_threads(a.threads)
    machine = measure.machine_facts()
    print(table.facts(machine), flush=True)
    records, ours_rows, memory_rows = [], [], []
    for part in a.parts:
        for causal in a.causal:
            for batch, length in a.shapes:
                settings = [Setting(attention, batch, length, causal, part) for attention in a.attention]
                for setting in settings:
                    say(f"  {setting}")
                    records += measure_setting(setting, a)
                ours_rows += measure_ours(settings, a)
            judge(records)
            print("\n" + table.speed(records, part, causal, a.peers, a.passes), flush=True)
            if ours_rows:
                print("\n" + table.ours_against_ours(ours_rows, part, causal, a.passes), flush=True)
    if not a.no_memory:
        batch, length = max(a.shapes, key=lambda shape: shape[1])
        for attention in a.attention:
            setting = Setting(attention, batch, length, causal=True)
            say(f"  {setting}, memory")
            memory_rows.append(measure_memory(setting, a))
        print("\n" + table.memory(memory_rows, memory_rows[0]["shape"]))
    sgemm = measure.median([r["sgemm_gflops"] for r in records])
    print(
        f"\na large float32 matrix product, among all of these, ran at {sgemm:.0f} GFLOP/s; "
        "sgemm: ours beside it"
    )
    print("\n" + table.targets(records, memory_rows))
    print(table.left_out(records))
    a.out.mkdir(parents=True, exist_ok=True)
    results = {
        "machine": machine,
        "sgemm_gflops": sgemm,
        "speed": records,
        "ours_against_ours": ours_rows,
        "memory": memory_rows,
    }
    (a.out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    from report import picture  # late: matplotlib is needed for nothing else

    picture.draw(results, a.out / "results.png")
    print(f"\nwritten: {a.out / 'results.json'}, {a.out / 'results.png'}")
    return 1 if any("DISAGREES" in reason for r in records for reason in r["left_out"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
