"""Requests over HTTP to a Transformer base: ours, and CTranslate2 behind FastAPI with the same weights.

    ./run bench serve [--seconds 20] [--beam 1] [--batch 32] [--length 30] [--threads 2]
                      [--kinds float32,int8] [--peers] [--soak SECONDS] [--json FILE] [--picture FILE]

Sentences of 20 to 40 tokens, outputs of --length tokens, on loopback. For each server: saturation throughput
(twice as many clients as a batch holds), latency of one request at a time, and an open loop (requests come at
a fixed rate, latency counts from when they were due) at half of saturation and at three times saturation.
Ours is also set beside `synth translate` at the same batch.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import measure
from comparison import load
from comparison.options import list_of
from comparison.process import SYNTH, environment
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from report import table

WORDS = 31_990  # with the tokenizer's own about 32,000
RECIPE = """task = "translation"
[data]
root = "{folder}"
train = ["train.a", "train.b"]
dev = ["dev.a", "dev.b"]
tokenizer = "words"
vocabulary = 0
[model]
attention = "V"
width = 512
heads = 8
layers = 6
feed_forward = 2048
max_length = 128
[train]
steps = 1
batch_tokens = 256
eval_every = 100
"""


def make_run(folder: Path) -> Path:
    """A run of a Transformer base with weights as they are drawn (one step of training), in float32."""
    rng = random.Random(1)
    words = [f"w{n}" for n in range(WORDS)]
    rng.shuffle(words)
    lines = [" ".join(words[n : n + 40]) for n in range(0, WORDS, 40)]
    for split, part in [("train", lines), ("dev", lines[:2])]:
        for side in "ab":
            (folder / f"{split}.{side}").write_text("".join(line + "\n" for line in part))
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(folder=folder))
    run = folder / "base"
    subprocess.run([SYNTH, "train", recipe, "--run", run], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL,
                   env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")})  # fmt: skip
    turn_signs(run / "model.safetensors")
    subprocess.run([SYNTH, "export", run, "--quantize", "int8", "--run", folder / "base-int8"], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return run


def turn_signs(file: Path) -> None:
    """A tied model with drawn weights says its first token over and over, which every server would repeat
    whatever it did wrong. With every other sign of its last norm turned, its words depend on everything."""
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    weights = load_file(file)
    weights["decoder.norm.weight"][1::2] *= -1
    save_file(weights, file, metadata)


def sentences(count: int) -> list[str]:
    rng = random.Random(2)
    return [" ".join(f"w{rng.randrange(WORDS)}" for _ in range(rng.randint(19, 39))) for _ in range(count)]


class Service:
    """A server's process; `memory()` is what it holds."""

    def __init__(self, command: list[str], port: int | None) -> None:
        self.process = subprocess.Popen(
            list(map(str, command)), stderr=subprocess.PIPE, text=True, env=environment()
        )
        self.port = port
        if port is None:
            for line in self.process.stderr:
                if found := re.match(r"listening on .*:(\d+)$", line):
                    self.port = int(found[1])
                    break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        load.wait_until_ready(self.port, "/health")

    def memory(self) -> int:
        return measure.proc_bytes(f"{self.process.pid}/status", "VmRSS")

    def close(self) -> None:
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(60)
        self.process.kill()


def free_port() -> int:
    with contextlib.closing(socket.socket()) as own:
        own.bind(("127.0.0.1", 0))
        return own.getsockname()[1]


def peer(folder: Path, kind: str, a: argparse.Namespace) -> Service:
    facts = json.loads((folder / "facts.json").read_text())
    if not (folder / "ctranslate2").exists():
        from peers.conversion import convert

        convert(facts, load_file(folder / "base" / "model.safetensors"), folder / "ctranslate2")
        rename_words(folder / "ctranslate2", folder / "base")
    setting = {"compute_type": kind, "threads": a.threads, "batch": a.batch}
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "peers.translation_service",
        folder / "ctranslate2",
        port,
        json.dumps(setting),
    ]
    return Service(command, port)


def rename_words(model: Path, run: Path) -> None:
    """The peer knows words by our ids in figures; here it gets the texts themselves."""
    words = (run / "tokenizer.model").read_text().split("\n")[1:-1]
    for file in model.glob("*vocabulary.json"):
        ids = json.loads(file.read_text())
        names = ["<unk>", "<s>", "</s>"][: len(ids) - len(words)] + words
        if len(names) != len(ids):
            raise RuntimeError(f"{file}: {len(ids)} words, and the run's tokenizer has {len(words)}")
        file.write_text(json.dumps(names))
    config = json.loads((model / "config.json").read_text())
    for token, name in [("unk_token", "<unk>"), ("bos_token", "<s>"), ("decoder_start_token", "<s>"),
                        ("eos_token", "</s>")]:  # fmt: skip
        config[token] = name
    (model / "config.json").write_text(json.dumps(config))


def one_at_a_time(service: Service, bodies: list[dict], count: int) -> float:
    """Median seconds of a request alone."""
    seconds = []
    for body in bodies[:count]:
        seconds += load.open_loop(service.port, "/v1/translate", [body], 1, 1).seconds
    return measure.median(seconds)


def translate_rate(run: Path, lines: list[str], a: argparse.Namespace) -> float:
    """Sentences a second of `synth translate` with batches of that many; start-up is taken off."""
    command = [SYNTH, "translate", run, "--beam", a.beam, "--max-length", a.length, "--threads", a.threads,
               "--batch-tokens", a.batch * 34]  # fmt: skip

    def seconds(text: str) -> float:
        begin = time.perf_counter()
        subprocess.run(list(map(str, command)), input=text, text=True, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    start = seconds("")
    return len(lines) / (seconds("".join(line + "\n" for line in lines)) - start)


def figures(service: Service, bodies: list[dict], a: argparse.Namespace) -> dict:
    load.closed_loop(service.port, "/v1/translate", bodies, a.batch, 2)  # sets up threads and memory
    alone = one_at_a_time(service, bodies, 8)
    full = load.closed_loop(service.port, "/v1/translate", bodies, 2 * a.batch, a.seconds)
    saturation = full.rate
    half = load.open_loop(service.port, "/v1/translate", bodies, saturation / 2, a.seconds)
    before = service.memory()
    triple = load.open_loop(service.port, "/v1/translate", bodies, 3 * saturation, a.seconds)
    row = {
        "alone": alone,
        "saturation": saturation,
        "half": {"p50": half.quantile(0.5), "p99": half.quantile(0.99), "refused": len(half.refused)},
        "triple": {
            "rate": triple.rate,
            "p99": triple.quantile(0.99),
            "refused": len(triple.refused),
            "refused_median": measure.median(triple.refused) if triple.refused else None,
            "memory_growth": service.memory() - before,
        },
        "failed": full.failed + half.failed + triple.failed,
    }
    if a.soak:
        before = service.memory()
        soak = load.closed_loop(service.port, "/v1/translate", bodies, 2 * a.batch, a.soak)
        row["soak"] = {
            "seconds": a.soak,
            "failed": soak.failed,
            "growth": service.memory() - before,
            "rate": soak.rate,
        }
    return row


def texts(service: Service, bodies: list[dict]) -> list[str]:
    """What the server answers, one request after another."""
    found = []
    for body in bodies:
        request = urllib.request.Request(
            f"http://127.0.0.1:{service.port}/v1/translate", json.dumps(body).encode()
        )
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=120) as answer:
            found.append(json.load(answer)["results"][0]["text"])
    return found


def check_same_work(ours: list[str], theirs: list[str]) -> None:
    """Both compute in float32 with the same weights: rounding may decide a near tie, no more."""
    share = sum(a == b for a, b in zip(ours, theirs)) / len(ours)
    if share < 0.75:
        raise RuntimeError(
            f"the servers do different work: {share:.0%} of outputs agree: {ours[0]} / {theirs[0]}"
        )


def overhead(service: Service) -> float:
    """Median seconds of a request that asks the engine for nothing: HTTP, JSON and checks alone."""
    result = load.closed_loop(service.port, "/v1/translate", [{"text": ""}], 1, 1)
    return result.quantile(0.5)


def printed(rows: dict[str, dict]) -> str:
    names = f"{'alone':>9}{'saturation':>13}{'p50 half':>11}{'p99 half':>11}{'p99 at 3x':>11}{'refused':>9}"
    lines = [" " * 28 + names]
    for name, row in rows.items():
        half, triple = row["half"], row["triple"]
        lines.append(
            f"{name:<28}{row['alone'] * 1e3:>6.0f} ms{row['saturation']:>9.1f} /s{half['p50'] * 1e3:>8.0f} ms"
            f"{half['p99'] * 1e3:>8.0f} ms{triple['p99'] * 1e3:>8.0f} ms{triple['refused']:>9}"
        )
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench serve")
    p.add_argument("--seconds", type=float, default=20, help="of each load (%(default)s)")
    p.add_argument("--beam", type=int, default=1)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--length", type=int, default=30, help="tokens of every output (%(default)s)")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--kinds", type=list_of(["float32", "int8"]), default=["float32", "int8"])
    p.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True)
    p.add_argument("--soak", type=float, default=0, help="seconds at saturation, for errors and memory")
    p.add_argument("--json", type=Path)
    p.add_argument("--picture", type=Path)
    return p.parse_args()


def main() -> None:
    a = arguments()
    measure.torch.set_num_threads(a.threads)
    machine = measure.machine_facts()
    about = f"Transformer base, 20 to 40 tokens to {a.length}, beam {a.beam}, batch {a.batch}"
    print(table.facts(machine, about), flush=True)
    rows: dict[str, dict] = {}
    lines = sentences(256)
    bodies = [{"text": line, "beam": a.beam, "max_length": a.length} for line in lines]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = make_run(folder)
        vocabulary = load_file(run / "model.safetensors")["embedding.weight"].size(0)
        facts = {"layers": 6, "heads": 8, "width": 512, "max_length": 128, "activation": "relu",
                 "vocabulary": vocabulary, "begin": 1, "end": 2}  # fmt: skip
        (folder / "facts.json").write_text(json.dumps(facts))
        for kind in a.kinds:
            own = folder / ("base" if kind == "float32" else "base-int8")
            service = Service(
                [SYNTH, "serve", own, "--port", 0, "--batch", a.batch, "--threads", a.threads], None
            )
            outputs = texts(service, bodies[:8])
            rows[f"ours {kind}"] = figures(service, bodies, a) | {"overhead": overhead(service)}
            service.close()
            rows[f"ours {kind}"]["translate"] = translate_rate(own, lines[: 4 * a.batch], a)
            if a.peers:
                service = peer(folder, kind, a)
                if kind == "float32":
                    check_same_work(outputs, texts(service, bodies[:8]))
                rows[f"CTranslate2 {kind}"] = figures(service, bodies, a)
                service.close()
    print(printed(rows))
    for name, row in rows.items():
        if "translate" in row:
            share = row["saturation"] / row["translate"]
            print(f"{name}: {share:.2f} of synth translate ({row['translate']:.1f} /s), "
                  f"overhead of a request {row['overhead'] * 1e3:.2f} ms")  # fmt: skip
    if a.json:
        a.json.write_text(json.dumps({"machine": machine, "about": about, "rows": rows}, indent=2))
    if a.picture:
        from report import serving_picture  # late: matplotlib is needed for nothing else

        serving_picture.draw(rows, about, a.picture)


if __name__ == "__main__":
    main()
