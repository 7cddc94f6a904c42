"""What fewer bits cost a trained model: its BLEU before and after."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

LARGEST_DROPS = {"int8": 0.2, "bfloat16": 0.1}  # that were asked for


def bleu_of(synth: Path, run: Path) -> float:
    done = subprocess.run([synth, "eval", run, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["bleu"]


def cost(synth: Path, run: Path, kind: str, quantized: Path) -> dict:
    """Of a translation run, on its test split (dev where it has none), decoded as its recipe says. The
    exported run is made in the folder `quantized`."""
    command = [synth, "export", run, "--quantize", kind, "--no-scores", "--run", quantized]
    subprocess.run(command, check=True, capture_output=True)
    size = {name: (path / "model.safetensors").stat().st_size for name, path in
            (("before", run), ("after", quantized))}  # fmt: skip
    return {
        "run": run.name,
        "kind": kind,
        "bleu_before": bleu_of(synth, run),
        "bleu_after": bleu_of(synth, quantized),
        "bytes_before": size["before"],
        "bytes_after": size["after"],
    }
