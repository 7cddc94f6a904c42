"""Competitors that translate, each in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from safetensors.torch import load_file

from .process import SYNTH, Process

ROOT = Path(__file__).resolve().parents[2]

LEAST_SHARE = 0.9  # of hypotheses that float32 competitors have in common: rounding may decide a near tie
PEERS = {
    "ctranslate2-float32": "CTranslate2 float32",
    "ctranslate2-int8": "CTranslate2 int8",
    "eager": "eager V",
    "eager-R": "eager R",  # not measured unless asked for: nobody has to beat it, but it can check our R
}

Outputs = list[list[list[int]]]  # sentences × hypotheses × tokens


class Decoding(Process):
    """A process that translates the first sentences of its batch, as many and with such a beam as asked."""

    def __init__(self, command: list[str], attention: str, exact: bool) -> None:
        """exact: computes in float32, so must find what others find."""
        super().__init__(command)
        self.attention, self.exact = attention, exact
        self.outputs: Outputs = []
        self.tokens = 0

    def translate(self, beam: int, batch: int) -> None:
        done = self.ask(json.dumps({"beam": beam, "batch": batch}))
        self.outputs, self.tokens = done["outputs"], done["tokens"]


def ours(command: list[str], attention: str, quantize: str, folder: Path) -> Decoding:
    """command: our program with the lengths and the threads."""
    command = command + ["--peer-folder", str(folder), "--attention", attention]
    return Decoding(command + (["--quantize", quantize] if quantize else []), attention, exact=not quantize)


def imported(folder: Path, setting: dict) -> dict[str, Decoding]:
    """A MarianMT model with random weights: as transformers has it, imported by ours, and from there exported
    to CTranslate2. All translate the same texts."""
    from peers import marian  # late: only this comparison needs transformers

    book = ROOT / "data" / "tiny-shakespeare"
    marian.make(folder / "model", book / "train.txt")
    for words in [
        ["import", folder / "model", "--run", folder / "run"],
        ["export", folder / "run", "--to", "ctranslate2", "--out", folder / "ctranslate2"],
    ]:
        subprocess.run([SYNTH, *words, "--quiet"], check=True)
    words = (book / "dev.txt").read_text(encoding="utf-8").split()
    count = setting["source_length"] * 3 // 4  # a word is about four thirds of a piece
    texts = [" ".join(words[n * count : (n + 1) * count]) for n in range(setting["sentences"])]
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    names = {"ours": "ours V", "ctranslate2": "CTranslate2 float32", "transformers": "transformers"}
    command = [sys.executable, "-m", "peers.text_translator"]
    return {
        name: Decoding([*command, kind, str(folder), json.dumps(setting)], "V", exact=True)
        for kind, name in names.items()
    }


def missing(kind: str) -> str:
    """The package this peer wants and does not find, if any."""
    wanted = "ctranslate2" if kind.startswith("ctranslate2") else ""
    return wanted if wanted and importlib.util.find_spec(wanted) is None else ""


def attention_of(kind: str) -> str:
    return "R" if kind == "eager-R" else "V"


def peer(kind: str, facts: dict, folder: Path) -> Decoding:
    """After ours of the same attention has left its weights in the folder."""
    if kind.startswith("ctranslate2") and not (folder / "ctranslate2").exists():
        from peers.conversion import convert  # late: where the package is missing, others can still run

        convert(facts, load_file(folder / "model.safetensors"), folder / "ctranslate2")
    command = [sys.executable, "-m", "peers.translator", kind, str(folder), json.dumps(facts)]
    return Decoding(command, attention_of(kind), exact=not kind.endswith("int8"))


def share(ours: Outputs, theirs: Outputs) -> float:
    """Of our hypotheses those that they have, too, whatever their order: ours are ranked with their end."""
    common = count = 0
    for mine, other in zip(ours, theirs, strict=True):
        found = Counter(map(tuple, mine)) & Counter(map(tuple, other))
        common, count = common + found.total(), count + len(mine)
    return common / count


def different(outputs: Outputs) -> int:
    """How many hypotheses there are, equal ones counted once: agreement on one for all would mean little."""
    return len({tuple(hypothesis) for sentence in outputs for hypothesis in sentence})


def check_same_work(competitors: dict[str, Decoding]) -> dict[str, float]:
    """The share of hypotheses that each has in common with ours of the same attention; RuntimeError where
    competitors that should agree have too few."""
    shares = {}
    for name, competitor in competitors.items():
        first = f"ours {competitor.attention}"
        if name == first:
            continue
        shares[name] = share(competitors[first].outputs, competitor.outputs)
        if competitor.exact and shares[name] < LEAST_SHARE:
            raise RuntimeError(
                f"{first} and {name} do different work: {shares[name]:.0%} of hypotheses agree"
            )
    return shares
