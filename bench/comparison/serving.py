"""Servers of one Transformer base: ours, and CTranslate2 behind FastAPI with the same weights."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import measure
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from . import load
from .process import SYNTH, environment

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
batch_tokens = 64
eval_every = 100
"""


def make_runs(folder: Path) -> dict[str, Path]:
    """Runs of a Transformer base with weights as they are drawn, in float32 and int8; made where the folder
    does not have them."""
    run, int8 = folder / "base", folder / "base-int8"
    if int8.exists():
        return {"float32": run, "int8": int8}
    folder.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    words = [f"w{n}" for n in range(WORDS)]
    rng.shuffle(words)
    lines = [" ".join(words[n : n + 40]) for n in range(0, WORDS, 40)]
    for split, part in [("train", lines), ("dev", lines[:1])]:
        for side in "ab":
            (folder / f"{split}.{side}").write_text("".join(line + "\n" for line in part))
    recipe = folder / "recipe.toml"
    recipe.write_text(RECIPE.format(folder=folder))
    cache = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    for command in [("train", recipe, "--run", run), ("export", run, "--quantize", "int8", "--run", int8)]:
        done = subprocess.run([SYNTH, *command], check=False, capture_output=True, text=True, env=cache)
        if done.returncode != 0:
            raise RuntimeError(f"synth {command[0]}: {done.stderr.strip()}")
        if command[0] == "train":
            turn_signs(run / "model.safetensors")
    return {"float32": run, "int8": int8}


def turn_signs(file: Path) -> None:
    """A tied model with drawn weights says its first token over and over, which every server would repeat
    whatever it did wrong. With every other sign of its last norm turned, its words depend on everything."""
    with safe_open(file, "pt") as opened:
        metadata = opened.metadata()
    metadata.pop("crc32c", None)  # of the weights before
    weights = load_file(file)
    weights["decoder.norm.weight"][1::2] *= -1
    save_file(weights, file, metadata)


def make_bodies(count: int, beam: int) -> list[dict]:
    """Requests: sentences of 20 to 40 tokens with their end, each to be translated into as many tokens."""
    rng = random.Random(2)
    bodies = []
    for _ in range(count):
        length = rng.randint(20, 40)
        text = " ".join(f"w{rng.randrange(WORDS)}" for _ in range(length - 1))
        bodies.append({"text": text, "beam": beam, "max_length": length})
    return bodies


class Service:
    """A server's process."""

    def __init__(self, command: list, port: int | None) -> None:
        """`port`: None where the server says it on standard error."""
        self.process = subprocess.Popen(
            list(map(str, command)), stderr=subprocess.PIPE, text=True, env=environment()
        )
        self.port, said = port, []
        while self.port is None:
            line = self.process.stderr.readline()
            said.append(line)
            if found := re.match(r"listening on .*:(\d+)$", line):
                self.port = int(found[1])
            elif not line:
                raise RuntimeError(f"the server ended with status {self.process.wait()}: {''.join(said)}")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        try:
            load.wait_until_ready(self.port)
        except RuntimeError:
            self.close()
            raise

    def memory(self) -> int:
        return measure.proc_bytes(f"{self.process.pid}/status", "VmRSS")

    def metric(self, name: str) -> float:
        """Ours only: one of GET /metrics."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])

    def close(self) -> None:
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()
        self.process.wait()


def ours(run: Path, batch: int, threads: int) -> Service:
    command = [SYNTH, "serve", run, "--port", 0, "--batch", batch, "--queue", batch, "--threads", threads]
    return Service(command, None)


def peer(run: Path, kind: str, batch: int, threads: int) -> Service:
    """CTranslate2 with the weights of our float32 run, which it quantizes itself where `kind` is int8."""
    folder = run.parent / "ctranslate2"
    if not folder.exists():
        from peers.conversion import convert  # late: ctranslate2 is needed for nothing else

        weights = load_file(run / "model.safetensors")
        facts = {"layers": 6, "heads": 8, "width": 512, "max_length": 128, "activation": "relu",
                 "vocabulary": weights["embedding.weight"].size(0), "begin": 1, "end": 2}  # fmt: skip
        convert(facts, weights, folder)
        _rename_words(folder, run)
    with contextlib.closing(socket.socket()) as own:
        own.bind(("127.0.0.1", 0))
        port = own.getsockname()[1]
    setting = {"compute_type": kind, "threads": threads, "batch": batch}
    module = [sys.executable, "-m", "peers.translation_service"]
    return Service([*module, folder, port, json.dumps(setting)], port)


def _rename_words(model: Path, run: Path) -> None:
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
