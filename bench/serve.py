"""Requests over HTTP to a Transformer base: ours, and CTranslate2 behind FastAPI with the same weights.

    ./run bench serve [--seconds 8] [--rounds 2] [--loads 0.25,0.5,0.75,1,3] [--beam 1] [--batch 32]
                      [--threads 2] [--kinds float32,int8] [--no-peers] [--soak SECONDS] [--folder FOLDER]
                      [--json FILE] [--picture FILE]
    ./run bench serve --draw FILE --picture FILE        the picture of an earlier --json

Sentences of 20 to 40 tokens, each translated into as many, on loopback:

    saturation    answers per second with nearly as many clients as a batch and the queue hold, beside
                  `synth translate` with batches of that size; in rounds, one after the other
    alone         one request at a time; its overhead is what it takes beyond the time of the inference thread
    open loop     requests come at a fixed rate, latency counts from when they were due: parts of saturation
                  up to three times as much (the peer up to saturation: it refuses nothing, so that beyond it
                  every request waits longer than the one before)
    soak          --soak SECONDS at saturation: errors and growth of memory

Takes about 5 minutes for both kinds.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import tempfile
import time
from pathlib import Path

import measure
from comparison import load, serving
from comparison.options import list_of
from comparison.process import SYNTH

from report import serving as report
from report import table

ALONE = 16  # requests
OURS, PEER = "ours", "CTranslate2"


def saturate(
    service: serving.Service, bodies: list[dict], a: argparse.Namespace, seconds: float
) -> load.Result:
    """Some clients fewer than there is place for: one that has its answer may come back before its place is
    free."""
    return load.closed_loop(service.port, bodies, 2 * a.batch - 4, seconds)


def check_same_work(ours: serving.Service, peer: serving.Service, bodies: list[dict], kind: str) -> None:
    """Outputs have the asked length. In float32 they are the same: rounding may decide a near tie."""
    texts = [load.answers(service.port, bodies, len(bodies)) for service in (ours, peer)]
    for name, found in zip((OURS, PEER), texts):
        lengths = [len(text.split()) for text in found]
        if lengths != [body["max_length"] for body in bodies]:
            raise RuntimeError(f"{name} {kind} gives outputs of other lengths: {lengths}")
    share = sum(a == b for a, b in zip(*texts)) / len(bodies)
    if kind == "float32" and share < 0.75:
        raise RuntimeError(f"the servers do different work: {share:.0%} of outputs agree")


def translate_rate(run: Path, bodies: list[dict], a: argparse.Namespace) -> float:
    """Sentences per second of `synth translate` with batches of that many; start-up is taken off."""
    mean = sum(body["max_length"] for body in bodies) / len(bodies)
    command = [SYNTH, "translate", run, "--beam", a.beam, "--max-length", round(mean), "--threads", a.threads,
               "--batch-tokens", round(a.batch * mean)]  # fmt: skip

    def seconds(text: str) -> float:
        begin = time.perf_counter()
        subprocess.run(list(map(str, command)), input=text, text=True, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    start = seconds("")
    return len(bodies) / (seconds("".join(body["text"] + "\n" for body in bodies)) - start)


def alone(service: serving.Service, bodies: list[dict], own: bool) -> dict:
    """Of requests one at a time: the median time and, of ours, the time beyond the inference thread's."""
    busy = service.metric("synth_engine_seconds_total") if own else 0
    seconds = load.one_by_one(service.port, bodies[:ALONE]).seconds
    row = {"alone": measure.median(seconds)}
    if own:
        busy = service.metric("synth_engine_seconds_total") - busy
        row["overhead"] = (sum(seconds) - busy) / len(seconds)
    return row


def open_loop(service: serving.Service, bodies: list[dict], share: float, rate: float, a) -> dict:
    before = service.memory()
    result = load.open_loop(service.port, bodies, rate, a.seconds)
    return {
        "load": share,
        "offered": rate,
        "rate": result.rate,
        "p50": result.quantile(0.5),
        "p99": result.quantile(0.99),
        "refused": len(result.refused),
        "refused_p99": load.quantile(result.refused, 0.99) if result.refused else None,
        "unanswered": result.unanswered,
        "failed": result.failed,
        "growth": service.memory() - before,
    }


def soak(service: serving.Service, bodies: list[dict], a: argparse.Namespace) -> dict:
    """Memory is looked at in ten parts of the time."""
    memory, answered, refused, failed, rates = [service.memory()], 0, 0, 0, []
    for _ in range(10):
        part = saturate(service, bodies, a, a.soak / 10)
        memory.append(service.memory())
        answered, refused = answered + len(part.seconds), refused + len(part.refused)
        failed += part.failed
        rates.append(part.rate)
    return {
        "seconds": a.soak,
        "answered": answered,
        "refused": refused,
        "failed": failed,
        "memory": memory,
        "rates": rates,
    }


def measure_kind(
    kind: str, runs: dict[str, Path], bodies: list[dict], a: argparse.Namespace
) -> dict[str, dict]:
    with contextlib.ExitStack() as ended:
        services = {OURS: serving.ours(runs[kind], a.batch, a.threads)}
        ended.callback(services[OURS].close)
        if a.peers:
            services[PEER] = serving.peer(runs["float32"], kind, a.batch, a.threads)
            ended.callback(services[PEER].close)
            check_same_work(services[OURS], services[PEER], bodies[: a.batch], kind)
        for service in services.values():  # sets up threads and memory
            saturate(service, bodies, a, 2)
        saturated: dict[str, list[load.Result]] = {name: [] for name in services}
        translate = []
        for _ in range(a.rounds):
            translate.append(translate_rate(runs[kind], bodies[: 4 * a.batch], a))
            for name, service in services.items():
                saturated[name].append(saturate(service, bodies, a, a.seconds))
        rows = {}
        for name, service in services.items():
            rates = [result.rate for result in saturated[name]]
            row = {"saturation": measure.median(rates), "saturation_rounds": rates}
            row["saturated_p99"] = measure.median([result.quantile(0.99) for result in saturated[name]])
            row |= alone(service, bodies, name == OURS)
            row["loads"] = [
                open_loop(service, bodies, share, share * row["saturation"], a)
                for share in a.loads
                if name == OURS or share <= 1
            ]
            if name == OURS:
                row |= {"translate": measure.median(translate), "translate_rounds": translate}
                if a.soak:
                    row["soak"] = soak(service, bodies, a)
            rows[f"{name} {kind}"] = row
            print(report.line(f"{name} {kind}", row), flush=True)
        return rows


def shares(text: str) -> list[float]:
    """0.5, 1 and 3, which the targets are about, and others."""
    found = sorted({0.5, 1.0, 3.0} | {float(part) for part in text.split(",")})
    if found[0] <= 0:
        raise argparse.ArgumentTypeError("a load is above 0")
    return found


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench serve")
    p.add_argument("--seconds", type=float, default=8, help="of each load (%(default)s)")
    p.add_argument("--rounds", type=int, default=2, help="of saturation (%(default)s)")
    p.add_argument("--loads", type=shares, default=[0.25, 0.5, 0.75, 1, 3], help="parts of saturation")
    p.add_argument("--beam", type=int, default=1)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--kinds", type=list_of(["float32", "int8"]), default=["float32", "int8"])
    p.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--soak", type=float, default=0, help="seconds at saturation, for errors and memory")
    p.add_argument("--folder", type=Path, help="keeps the models here for the next time")
    p.add_argument("--json", type=Path)
    p.add_argument("--picture", type=Path)
    p.add_argument("--draw", type=Path, help="measure nothing: take the figures from this --json")
    return p.parse_args()


def main() -> None:
    a = arguments()
    if a.draw:
        result = json.loads(a.draw.read_text())
    else:
        measure.torch.set_num_threads(a.threads)
        machine = measure.machine_facts()
        about = f"Transformer base, 20 to 40 tokens to as many, beam {a.beam}, batch {a.batch}"
        print(table.facts(machine, about), flush=True)
        result = {"machine": machine, "about": about, "rows": {}}
        with tempfile.TemporaryDirectory() as name:
            runs = serving.make_runs(a.folder or Path(name))
            for kind in a.kinds:
                result["rows"] |= measure_kind(kind, runs, serving.make_bodies(256, a.beam), a)
                if a.json:
                    a.json.write_text(json.dumps(result, indent=2))
    print(report.tables(result["rows"]))
    if a.picture:
        from report import serving_picture  # late: matplotlib is needed for nothing else

        serving_picture.draw(result, a.picture)


if __name__ == "__main__":
    main()
