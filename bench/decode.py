"""Translation by whole models, in tokens per second: ours, CTranslate2 and PyTorch eager with a cache.

    ./run bench decode [--beam 1,4] [--batch 1,32] [--length 32] [--source-length 32] [--rounds 5]
                       [--peers ctranslate2-float32,ctranslate2-int8,eager] [--trained RUN,…]
                       [--hf] [--json FILE] [--picture FILE]

Every competitor is a process of its own that starts from the same random weights and sources; they translate
in turn. All outputs have the same length, and those that compute in float32 must find the same ones.
--trained names translation runs whose BLEU is measured before and after they are quantized, to int8 and to
bfloat16.
--hf: a MarianMT model of the base size with random weights, imported by ours and exported to CTranslate2,
beside the package transformers; all from text to text.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import random
import sys
import tempfile
from pathlib import Path

import measure
from comparison import decoding, quality
from comparison.options import list_of, numbers
from comparison.process import SYNTH

from report import decoding as report
from report import table

OURS = [("V", ""), ("R", ""), ("V", "int8"), ("V", "bfloat16")]
SENTENCES = 32  # that ours leaves for its peers


def make_competitors(a: argparse.Namespace, folder: Path) -> dict[str, decoding.Decoding]:
    """Ours first. Peers take the weights of ours in float32."""
    if a.hf:
        setting = {"length": a.length, "source_length": a.source_length, "threads": a.threads}
        return decoding.imported(folder, setting | {"sentences": SENTENCES})
    command = [str(SYNTH), "bench", "decode", "--threads", str(a.threads)]
    command += ["--length", str(a.length), "--source-length", str(a.source_length)]
    made: dict[str, decoding.Decoding] = {}
    for attention, quantize in OURS:
        name = f"ours {attention} {quantize}".strip()
        made[name] = decoding.ours(command, attention, quantize, folder / name)
    for kind in a.peers:
        if package := decoding.missing(kind):
            print(f"{decoding.PEERS[kind]}: left out, {package} is not installed", file=sys.stderr)
            continue
        own = f"ours {decoding.attention_of(kind)}"
        made[decoding.PEERS[kind]] = decoding.peer(kind, made[own].facts, folder / own)
    return made


def run(competitors: dict[str, decoding.Decoding], beam: int, batch: int, rounds: int) -> dict:
    for competitor in competitors.values():  # the first translation sets up threads and memory
        competitor.translate(beam, batch)
        competitor.seconds.clear()
    shares = decoding.check_same_work(competitors)
    order = list(competitors)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            competitors[name].translate(beam, batch)
    seconds = {name: measure.median(c.seconds) for name, c in competitors.items()}
    return {
        "beam": beam,
        "batch": batch,
        "tokens_per_second": {name: c.tokens / seconds[name] for name, c in competitors.items()},
        "seconds": seconds,
        "tokens": {name: c.tokens for name, c in competitors.items()},
        "shared_hypotheses": shares,
        "different_hypotheses": decoding.different(competitors["ours V"].outputs),
        "peak_bytes": {name: c.peak for name, c in competitors.items()},
    }


def arguments() -> argparse.Namespace:
    known = list(decoding.PEERS)
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0], prog="./run bench decode")
    p.add_argument("--beam", type=numbers(), default=[1, 4])
    p.add_argument("--batch", type=numbers(SENTENCES), default=[1, SENTENCES])
    p.add_argument("--length", type=int, default=32, help="tokens of every output (%(default)s)")
    p.add_argument("--source-length", type=int, default=32, help="tokens of every source (%(default)s)")
    p.add_argument("--peers", type=list_of(known), default=known[:3], help=f"some of {', '.join(known)}")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--trained", type=lambda text: [Path(name) for name in text.split(",")], default=[],
                   help="runs to measure the BLEU of, before and after they are quantized")  # fmt: skip
    p.add_argument("--hf", action="store_true", help="an imported MarianMT model beside transformers")
    p.add_argument("--json", type=Path, help="the figures, as a file")
    p.add_argument("--picture", type=Path, help="the figures, as bars (PNG)")
    return p.parse_args()


def main() -> None:
    a = arguments()
    measure.torch.set_num_threads(a.threads)
    machine = measure.machine_facts()
    if not decoding.missing("ctranslate2-float32"):
        machine["ctranslate2"] = importlib.metadata.version("ctranslate2")
    model = "MarianMT of the base size, from text to text" if a.hf else "Transformer base"
    about = f"{model}, {a.length} tokens from {a.source_length}"
    result = {"machine": machine, "about": about, "rounds": a.rounds, "rows": []}
    beside = f"CTranslate2 {machine.get('ctranslate2', 'not installed')}"
    print(table.facts(machine, f"{beside}; {about}, medians of {a.rounds} rounds"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        competitors = make_competitors(a, Path(folder))
        result["facts"] = competitors["ours V"].facts
        for beam in a.beam:
            for batch in a.batch:
                result["rows"].append(run(competitors, beam, batch, a.rounds))
                print(f"beam {beam}, batch {batch}: done", file=sys.stderr)
        for competitor in competitors.values():
            competitor.close()
        result["quantized"] = [
            quality.cost(SYNTH, run, kind, Path(folder) / f"trained{n}-{kind}")
            for n, run in enumerate(a.trained)
            for kind in quality.LARGEST_DROPS
        ]
    print(report.tables(result["rows"], result["quantized"]))
    if a.json:
        a.json.write_text(json.dumps(result, indent=2), encoding="utf-8")
    if a.picture:
        from report import decoding_picture  # late: matplotlib is needed for nothing else

        decoding_picture.draw(result, a.picture)


if __name__ == "__main__":
    main()
