"""What int8 costs a trained model: its BLEU before and after."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

LARGEST_DROP = 0.3


def bleu_of(synth: Path, run: Path) -> float:
    done = subprocess.run([synth, "eval", run, "--json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["bleu"]


def int8_costs(synth: Path, run: Path, folder: Path) -> dict:
    """Of a translation run, on its test split (dev where it has none), decoded as its recipe says."""
    quantized = folder / "int8"
    command = [synth, "export", run, "--quantize", "int8", "--no-scores", "--run", quantized]
    subprocess.run(command, check=True, capture_output=True)
    size = {name: (path / "model.safetensors").stat().st_size for name, path in
            (("before", run), ("after", quantized))}  # fmt: skip
    return {
        "run": run.name,
        "bleu_before": bleu_of(synth, run),
        "bleu_after": bleu_of(synth, quantized),
        "bytes_before": size["before"],
        "bytes_after": size["after"],
    }
