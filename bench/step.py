"""One training step of whole models, forward, backward and optimizer: ours and PyTorch's, eager and compiled.

    ./run bench step [--setting demo,translation,encoder] [--attention V,R,…] [--rounds 9] [--json FILE]
                     [--picture FILE]

Every competitor is a process of its own that starts from the same weights and tokens; steps are taken
in turn. The first losses, without dropout, must agree.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

import measure
from comparison import stepping
from comparison.operation_count import step_multiply_adds
from comparison.options import list_of
from comparison.process import SYNTH

from report import steps

SETTINGS = ["demo", "translation", "encoder"]
ATTENTIONS = ["V", "D", "R", "FR", "FD", "R+V", "light-conv", "dynamic-conv"]


def make_competitors(
    a: argparse.Namespace, setting: str, attention: str, folder: Path
) -> dict[str, stepping.Stepping]:
    """Ours first; V beside every other attention, and beside R what the paper holds against it."""
    made: dict[str, stepping.Stepping] = {}

    def add(attention: str, modes: list[str]) -> None:
        where = folder / attention
        own = stepping.ours(SYNTH, setting, attention, a.precision, a.threads, where)
        made[f"ours {attention}"] = own
        for mode in modes:
            made[f"{mode} {attention}"] = stepping.peer(mode, own.facts, where)

    add(attention, a.peers)
    if attention != "V":
        add("V", [])
    if attention == "R":
        add("dynamic-conv", [mode for mode in a.peers if mode == "eager"])
    return made


def run(a: argparse.Namespace, setting: str, attention: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        competitors = make_competitors(a, setting, attention, Path(folder))
        for competitor in competitors.values():  # the compiler's time is not a step's
            for _ in range(stepping.FIRST_LOSSES):
                competitor.step("check")
            competitor.step()
        same = {name: c for name, c in competitors.items() if name.split(" ", 1)[1] == attention}
        largest = stepping.check_same_work(same, a.precision)
        for competitor in competitors.values():
            competitor.seconds.clear()
        sgemm = measure.make_sgemm()
        products, order = [], list(competitors)
        for _ in range(a.rounds):
            random.shuffle(order)
            for name in order:
                competitors[name].step()
            products += measure.interleaved({"sgemm": sgemm}, 0, least=3, most=3)["sgemm"]
        facts = competitors[f"ours {attention}"].facts
        for competitor in competitors.values():
            competitor.close()
    return {
        "setting": setting,
        "about": facts["about"],
        "attention": attention,
        "precision": a.precision,
        "largest_difference_of_losses": largest,
        "seconds": {name: measure.median(c.seconds) for name, c in competitors.items()},
        "peak_bytes": {name: c.peak for name, c in competitors.items()},
        "multiply_adds": step_multiply_adds(facts),
        "sgemm_multiply_adds_per_second": measure.sgemm_rate(products),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench step")
    parser.add_argument("--setting", type=list_of(SETTINGS), default=SETTINGS)
    parser.add_argument("--attention", type=list_of(ATTENTIONS), default=ATTENTIONS)
    parser.add_argument("--peers", type=list_of(["eager", "compiled"]), default=["eager", "compiled"])
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="the figures, as a file")
    parser.add_argument("--picture", type=Path, help="the figures, as bars (PNG)")
    a = parser.parse_args()
    measure.torch.set_num_threads(a.threads)
    result = {"machine": measure.machine_facts(), "rows": []}
    for setting in a.setting:
        rows = []
        for attention in a.attention:
            rows.append(run(a, setting, attention))
            result["rows"].append(rows[-1])
            if a.json:  # at once: whoever stops here keeps what there is
                a.json.write_text(json.dumps(result, indent=2), encoding="utf-8")
            print(f"{setting} {attention}: done", file=sys.stderr)
        print(steps.table(rows), flush=True)
    if a.picture:
        from report import steps_picture  # late: matplotlib is needed for nothing else

        steps_picture.draw(result, a.picture)


if __name__ == "__main__":
    main()
