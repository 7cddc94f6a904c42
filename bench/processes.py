"""Training steps on several processes: ours and PyTorch's DistributedDataParallel over Gloo.

    ./run bench processes [--setting demo,translation,encoder] [--processes 2] [--rounds 9] [--json FILE]

N processes with one thread each, against one process with N threads and one with one thread; every
process takes the batch of `./run bench step`, so N processes do N times the work of one. Competitors take
steps in turn.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import tempfile
from pathlib import Path

import measure
from comparison import stepping
from comparison.options import list_of
from comparison.process import SYNTH, Process

SETTINGS = ["demo", "translation", "encoder"]
TARGETS = {"one thread": 1.8, "all threads": 0.95, "DDP": 1.0}  # of N processes, tokens per second


class Group:
    """Processes that take a step together; its time is that of the slowest."""

    def __init__(self, commands: list[list[str]]) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        size = str(len(commands))
        self.members = []
        for rank, command in enumerate(commands):
            variables = {
                "RANK": str(rank),
                "WORLD_SIZE": size,
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": size,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "OMP_NUM_THREADS": "1",
            }
            self.members.append(Process.start(command, variables))
        for member in self.members:
            member.facts = member.answer()
        self.facts = self.members[0].facts
        self.times: dict[str, list[float]] = {}
        self.losses: list[float] = []

    def step(self, how: str = "") -> float:
        for member in self.members:
            member.send(how)
        answers = [member.answer() for member in self.members]
        self.times.setdefault(how, []).append(max(answer["seconds"] for answer in answers))
        if how in ("", "check"):
            self.losses.append(answers[0]["loss"])
        return answers[0]["loss"]

    def close(self) -> None:
        for member in self.members:
            member.process.stdin.close()
        for member in self.members:
            member.process.wait()


def ours(setting: str, attention: str, folder: Path, threads: int, count: int) -> Group:
    command = [SYNTH, "bench", "step", "--setting", setting, "--attention", attention]
    command += ["--threads", str(threads), "--peer-folder", str(folder)]
    return Group([list(map(str, command))] * count)


def ddp(facts: dict, folder: Path, count: int) -> Group:
    command = [sys.executable, "-m", "peers.ddp", str(folder), json.dumps({**facts, "threads": 1})]
    return Group([command] * count)


def run(a: argparse.Namespace, setting: str) -> dict:
    count = a.processes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        groups = {
            "one thread": ours(setting, a.attention, folder / "1", 1, 1),
            "all threads": ours(setting, a.attention, folder / "N", count, 1),
            "processes": ours(setting, a.attention, folder / "P", 1, count),
        }
        groups["DDP"] = ddp(groups["processes"].facts, folder / "P", count)
        for group in groups.values():
            for _ in range(stepping.FIRST_LOSSES):
                group.step("check")
            group.step()
        largest = stepping.check_same_work(groups, "float32")
        for group in groups.values():
            group.times.clear()
        order = list(groups)
        for _ in range(a.rounds):
            random.shuffle(order)
            for competitor in order:
                groups[competitor].step()
            groups["processes"].step("alone")
            sent = groups["processes"].step("exchange")
        seconds = {name: measure.median(group.times[""]) for name, group in groups.items()}
        alone, exchange = (measure.median(groups["processes"].times[how]) for how in ("alone", "exchange"))
        about = groups["processes"].facts["about"]
        for group in groups.values():
            group.close()
    exposed = max(0.0, seconds["processes"] - alone)
    return {
        "setting": setting,
        "about": about,
        "attention": a.attention,
        "processes": count,
        "largest_difference_of_losses": largest,
        "seconds": seconds,
        "seconds_without_exchange": alone,
        "seconds_of_exchange": exchange,
        "hidden_share_of_exchange": 1 - min(1.0, exposed / exchange),
        "bytes_per_step": sent,
    }


def table(row: dict) -> str:
    count, seconds = row["processes"], row["seconds"]
    work = {"one thread": 1, "all threads": 1, "processes": count, "DDP": count}
    rate = {name: work[name] / seconds[name] for name in seconds}
    out = [f"\n{row['about']}, attention {row['attention']}, {count} processes with one thread each\n"]
    out += ["| compared with | speed of ours | target |", "|---|---|---|"]
    names = {
        "one thread": "one process, one thread",
        "all threads": f"one process, {count} threads",
        "DDP": f"PyTorch DDP over Gloo, {count} processes",
    }
    for other, name in names.items():
        ratio, target = rate["processes"] / rate[other], TARGETS[other]
        judged = (
            "" if row["setting"] != "translation" else f"{target}×: {'met' if ratio >= target else 'missed'}"
        )
        out.append(f"| {name} | {ratio:.2f}× | {judged} |")
    out.append(
        f"\nA step takes {seconds['processes'] * 1000:.1f} ms, "
        f"{row['seconds_without_exchange'] * 1000:.1f} ms without the exchange of "
        f"{row['bytes_per_step'] / 1e6:.1f} MB of gradients, which alone takes "
        f"{row['seconds_of_exchange'] * 1000:.1f} ms: {row['hidden_share_of_exchange'] * 100:.0f}% of it "
        "are hidden behind the backward pass."
    )
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench processes")
    parser.add_argument("--setting", type=list_of(SETTINGS), default=SETTINGS)
    parser.add_argument("--attention", default="V")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="the figures, as a file")
    a = parser.parse_args()
    result = {"machine": measure.machine_facts(), "rows": []}
    for setting in a.setting:
        result["rows"].append(run(a, setting))
        print(table(result["rows"][-1]), flush=True)
        if a.json:
            a.json.write_text(json.dumps(result, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
