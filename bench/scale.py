"""How cost grows with length, batch, threads and width: one whole layer, ours and eager PyTorch's.

    ./run bench scale [--attention V,R,…] [--sweep length,batch,threads,width] [--passes forward,training] …

At the first size of every attention both must give the same results and gradients; then they run in turn.
Prints tables, writes results.json and results.png. What would not fit into memory is left out by name.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

import measure
from comparison import layers
from comparison.layer_peak_memory import peak_of
from comparison.memory_limit import too_large
from comparison.options import list_of
from comparison.points import ATTENTIONS, LENGTHS_FROM, PASSES, SWEEPS, Point, sweep

from report import scale, table

OUT = Path(__file__).resolve().parent.parent / "build/bench/scale"
MEMORY_FROM = 512  # below this length it is the weights, and little else


def fitting(point: Point, peers: str, training: bool) -> tuple[list[str], dict[str, str]]:
    """Who runs, and who is left out, with the reason. Without room for ours there is no layer at all."""
    names = ["ours", "eager"] if peers == "eager" else ["ours"]
    left_out = {name: reason for name in names if (reason := too_large(point, name, training))}
    return [] if "ours" in left_out else [name for name in names if name not in left_out], left_out


def speeds(point: Point, a: argparse.Namespace) -> list[dict]:
    """One row for each pass."""
    rows = []
    for passes in a.passes:
        training = passes == "training"
        names, left_out = fitting(point, a.peers, training)
        if "ours" in names and not training:
            names.append("prepared")
        times = layers.seconds_of(point, names, training, a.seconds) if names else {}
        row = asdict(point) | {"heads": point.heads, "causal": point.causal, "passes": passes}
        row["tokens_per_second"] = {name: point.tokens / measure.median(t) for name, t in times.items()}
        row["rounds"] = {name: len(t) for name, t in times.items()}
        rows.append(row | {"left_out": left_out})
    return rows


def memory_row(point: Point, a: argparse.Namespace) -> dict:
    passes = "training" if "training" in a.passes else "forward"
    names, left_out = fitting(point, a.peers, passes == "training")
    peaks = {name: peak_of(point, name, passes) for name in names}
    return asdict(point) | {"at": point.length, "passes": passes, "bytes": peaks, "left_out": left_out}


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench scale")
    p.add_argument("--attention", type=list_of(ATTENTIONS), default=ATTENTIONS)
    p.add_argument("--sweep", type=list_of(SWEEPS), default=SWEEPS)
    p.add_argument("--passes", type=list_of(PASSES), default=PASSES)
    p.add_argument("--max-length", type=int, default=8192, help="of the sweep of lengths (%(default)s)")
    p.add_argument("--seconds", type=float, default=0.8, help="for each point and pass (%(default)s)")
    p.add_argument("--peers", choices=["eager", "none"], default="eager")
    p.add_argument("--no-memory", action="store_true", help="leave out peak memory")
    p.add_argument("--json", type=Path, default=OUT / "results.json")
    p.add_argument("--picture", type=Path, default=OUT / "results.png")
    a = p.parse_args()
    if a.max_length < LENGTHS_FROM:
        p.error(f"--max-length: the sweep begins at {LENGTHS_FROM}")
    return a


def main() -> None:
    a = arguments()
    measure.torch.set_num_threads(measure.cores())
    machine = measure.machine_facts()
    print(table.facts(machine, "one layer, float32, 64 wide heads") + "\n\n" + scale.LEGEND, flush=True)
    speed: list[dict] = []
    memory: list[dict] = []
    measured: dict[Point, list[dict]] = {}  # some points belong to two sweeps
    for name in a.sweep:
        for at, point in sweep(name, a.attention, a.max_length):
            print(f"  {name}: {point}", file=sys.stderr, flush=True)
            if a.peers == "eager" and all(point.attention != done.attention for done in measured):
                layers.check(point, a.passes)
            if point not in measured:
                measured[point] = speeds(point, a)
            speed += [{"sweep": name, "at": at} | row for row in measured[point]]
        for passes in a.passes:
            print("\n" + scale.speed(speed, name, passes), flush=True)
    if "length" in a.sweep:
        for _, point in sweep("length", [] if a.no_memory else a.attention, a.max_length):
            if point.length >= MEMORY_FROM:
                print(f"  memory: {point}", file=sys.stderr, flush=True)
                memory.append(memory_row(point, a))
        print(scale.memory(memory) + scale.winners(speed))
    result = {"machine": machine, "speed": speed, "memory": memory}
    a.json.parent.mkdir(parents=True, exist_ok=True)
    a.json.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    from report import curves  # late: matplotlib is needed for nothing else

    curves.draw(result, a.picture)
    print(f"\nwritten: {a.json}, {a.picture}")


if __name__ == "__main__":
    main()
