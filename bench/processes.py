"""Training steps on several processes: ours and PyTorch's DistributedDataParallel over Gloo.

    ./run bench processes [--setting demo,translation,encoder] [--processes 2] [--rounds 9] [--json FILE]

N processes with one thread each, against one process with N threads and one with one thread; every
process takes the batch of `./run bench step`, so N processes do N times the work of one. Competitors take
steps in turn. "sharded": the same processes with train.shard_optimizer. Every thread is bound to a core of
its own, so that all depends on the programs and nothing on where the system puts them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import sys
import tempfile
import time
from pathlib import Path

import measure
from comparison import stepping
from comparison.options import list_of
from comparison.process import REST, SYNTH, Process

SETTINGS = ["demo", "translation", "encoder"]
SHARD = "--shard-optimizer"
TARGETS = {"one thread": 1.8, "all threads": 0.95, "DDP": 1.0}  # of N processes, tokens per second


def loopback_bytes() -> int:
    """That were sent over the loopback device so far, by all programs."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[8])
    return 0


class Group:
    """Processes that take a step together; its time is that of the slowest."""

    def __init__(self, commands: list[list[str]], threads: int) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        size = str(len(commands))
        self.members = []
        cores = [str(core) for core in sorted(os.sched_getaffinity(0))]
        for rank, command in enumerate(commands):
            own = cores[rank % len(cores)] if len(commands) > 1 or threads == 1 else ",".join(cores)
            variables = {
                "RANK": str(rank),
                "WORLD_SIZE": size,
                "LOCAL_RANK": str(rank),
                "LOCAL_WORLD_SIZE": size,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "OMP_NUM_THREADS": str(threads),
                "OMP_PROC_BIND": "true",
            }
            self.members.append(Process.start(["taskset", "-c", own, *command], variables))
        for member in self.members:
            member.facts = member.answer()
        self.facts = self.members[0].facts
        self.times: dict[str, list[float]] = {}
        self.losses: list[float] = []
        self.waits: list[float] = []
        self.peak = 0

    def step(self, how: str = "") -> dict:
        time.sleep(REST)
        for member in self.members:
            member.send(how)
        answers = [member.answer() for member in self.members]
        self.times.setdefault(how, []).append(max(answer["seconds"] for answer in answers))
        if how in ("", "check"):
            self.losses.append(answers[0]["loss"])
            self.peak = max(answer["peak"] for answer in answers)
            # That of the last process to arrive: the others also wait for it.
            self.waits.append(min(answer.get("exchange_wait", 0) for answer in answers))
        return answers[0]

    def close(self) -> None:
        for member in self.members:
            member.process.stdin.close()
        for member in self.members:
            member.process.wait()


def ours(setting: str, attention: str, folder: Path, threads: int, count: int, *more: str) -> Group:
    command = [SYNTH, "bench", "step", "--setting", setting, "--attention", attention, *more]
    command += ["--threads", str(threads), "--peer-folder", str(folder)]
    return Group([list(map(str, command))] * count, threads)


def ddp(facts: dict, folder: Path, count: int) -> Group:
    command = [sys.executable, "-m", "peers.stepper", "ddp", str(folder)]
    command += [json.dumps({**facts, "threads": 1})]
    return Group([command] * count, 1)


def run(a: argparse.Namespace, setting: str) -> dict:
    count = a.processes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        groups = {
            "one thread": ours(setting, a.attention, folder / "1", 1, 1),
            "all threads": ours(setting, a.attention, folder / "N", count, 1),
            "processes": ours(setting, a.attention, folder / "P", 1, count),
        }
        if not a.without_sharded:
            groups["sharded"] = ours(setting, a.attention, folder / "S", 1, count, SHARD)
        groups["DDP"] = ddp(groups["processes"].facts, folder / "P", count)
        for group in groups.values():
            for _ in range(a.checks):
                group.step("check")
        largest = stepping.check_same_work(groups, "float32")
        for group in groups.values():
            group.times.clear()
            group.waits.clear()
        peaks = {name: group.peak for name, group in groups.items()}
        order, sent = [name for name in groups if name != "processes"], []
        for _ in range(a.rounds):
            random.shuffle(order)
            for competitor in order:
                groups[competitor].step()
            before = loopback_bytes()
            groups["processes"].step()
            sent.append(loopback_bytes() - before)
            added_up = groups["processes"].step("exchange")["bytes"]
        seconds = {name: measure.median(group.times[""]) for name, group in groups.items()}
        exchange = measure.median(groups["processes"].times["exchange"])
        exposed = measure.median(groups["processes"].waits)
        about = groups["processes"].facts["about"]
        for group in groups.values():
            group.close()
    return {
        "setting": setting,
        "about": about,
        "attention": a.attention,
        "processes": count,
        "largest_difference_of_losses": largest,
        "seconds": seconds,
        "peak_bytes": peaks,
        "seconds_of_exchange": exchange,
        "seconds_of_exchange_after_backward": exposed,
        "hidden_share_of_exchange": 1 - min(1.0, exposed / exchange),
        "parameters": added_up / 4,  # of float32
        "bytes_per_step": added_up,
        "sent_per_step": measure.median(sent),
    }


def table(row: dict) -> str:
    count, seconds = row["processes"], row["seconds"]
    work = {name: 1 if name in ("one thread", "all threads") else count for name in seconds}
    rate = {name: work[name] / seconds[name] for name in seconds}
    out = [f"\n{row['about']}, attention {row['attention']}, {count} processes with one thread each\n"]
    out += ["| | step | speed of the processes relative to it | target | peak memory of a process |"]
    out += ["|---|---|---|---|---|"]
    names = {
        "processes": f"{count} processes, one thread each",
        "one thread": "one process, one thread",
        "all threads": f"one process, {count} threads",
        "sharded": f"{count} processes, `train.shard_optimizer`",
        "DDP": f"PyTorch DDP over Gloo, {count} processes",
    }
    for other, name in names.items():
        if other not in seconds:
            continue
        ratio, target = rate["processes"] / rate[other], TARGETS.get(other)
        judged = ""
        if row["setting"] == "translation" and target:
            judged = f"{target}×: {'met' if ratio >= target else 'missed'}"
        compared = "" if other == "processes" else f"{ratio:.2f}×"
        memory = f"{row['peak_bytes'][other] / 1e6:.0f} MB"
        out.append(f"| {name} | {seconds[other] * 1000:.1f} ms | {compared} | {judged} | {memory} |")
    out.append(
        f"\nThe exchange of {row['bytes_per_step'] / 1e6:.1f} MB of gradients "
        f"({row['sent_per_step'] / 1e6:.1f} MB are sent by all processes, by the system's count) alone takes "
        f"{row['seconds_of_exchange'] * 1000:.1f} ms. In a step, "
        f"{row['seconds_of_exchange_after_backward'] * 1000:.1f} ms are left when the last gradient is "
        f"computed: {row['hidden_share_of_exchange'] * 100:.0f}% of it are hidden behind the backward pass."
    )
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench processes")
    parser.add_argument("--setting", type=list_of(SETTINGS), default=SETTINGS)
    parser.add_argument("--attention", default="V")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--checks",
        type=int,
        default=stepping.FIRST_LOSSES,
        help="steps whose losses are compared (%(default)s)",
    )
    parser.add_argument(
        "--without-sharded", action="store_true", help="leaves out train.shard_optimizer: less memory"
    )
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
