"""The examples do what their first lines say. (examples/program is built and run by the group consumer.)"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command, home):
    """Its output; nothing of the user's is read or written."""
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=120, env={**os.environ, **own}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_layer_in_a_model_of_pytorch(tmp_path):
    out = run(sys.executable, ROOT / "examples" / "layer.py", home=tmp_path)
    first, last, accuracy = map(float, re.findall(r"\d\.\d+", out))
    assert last < first and accuracy > 0.9, out


def test_fine_tuning_an_imported_model(tmp_path):
    text = "".join(f"{n} apples and {n + 1} pears\n" for n in range(20))
    for name in ("source", "target"):
        (tmp_path / name).write_text(text)
    model = ROOT / "tests" / "interop" / "references" / "marian"
    settings = ["train.steps=6", "train.save_every=6", "train.log_every=1", "train.schedule=constant"]
    out = run(
        ROOT / "examples" / "fine_tune.sh",
        model,
        tmp_path / "source",
        tmp_path / "target",
        tmp_path / "out",
        *settings,
        home=tmp_path,
    )
    assert "loss" in out
    for name in ("imported", "mixed", "tuned"):
        assert (tmp_path / "out" / name / "model.safetensors").exists()
