"""Metrics from Python: the same numbers as the command line."""

import json
import os
import pathlib
import subprocess

import pytest

from synthesizer import metrics

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYNTH = os.environ.get("SYNTH", str(ROOT / "build/release/bin/synth"))
TEXTS = (
    ["the cat sat on the mat", "a dog barks at the cat"],
    ["the cat sat on a mat today", "a dog barks at cats"],
)
CALLS = {
    "bleu": (TEXTS, {"lowercase": True, "smooth_value": 0.5, "smooth": "floor"}),
    "chrf": (TEXTS, {"word_order": 2}),
    "rouge": (TEXTS, {"stem": True}),
    "caption": (TEXTS, {}),
    "meteor": (TEXTS, {}),
    "embedding": (TEXTS, {"vectors": "vectors", "unknown": "skip"}),
    "exact_match": ((["a b", "b", "a"], ["a b", "B", "a "]), {}),
    "classify": ((["a", "b", "a"], ["a", "b", "b"]), {"positive": "a"}),
    "regress": (([1, 2.5, -3], [2, 2, 0.1]), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_command_line(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (hyps, refs), options = CALLS[name]
    pathlib.Path("vectors").write_text("the 1 2\ncat 2 -1\ndog 2 -0.5\n")
    for file, lines in [("h", hyps), ("r", refs)]:
        pathlib.Path(file).write_text("".join(f"{line}\n" for line in lines))
    command = [SYNTH, "score", name, "--hyp", "h", "--ref", "r", "--json"]
    for key, value in options.items():
        command += [f"--{key.replace('_', '-')}"] + ([] if value is True else [str(value)])
    expected = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    found = getattr(metrics, name)(hyps, refs, **options)
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert found[key] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-9)), key


def test_every_metric_has_a_function():
    done = subprocess.run([SYNTH, "score", "--help"], check=True, capture_output=True, text=True)
    names = [line.split()[0] for line in done.stdout.split("Metrics:\n")[1].splitlines() if line.strip()]
    assert names == list(CALLS)
    for name in names:
        assert getattr(metrics, name).__doc__, name


def test_several_references():
    hyps, refs = TEXTS
    assert metrics.bleu(hyps, [refs, hyps])["bleu"] == pytest.approx(100)
    assert metrics.rouge(hyps, iter([refs, hyps]))["rougeL"] == pytest.approx(100)
    with pytest.raises(ValueError, match="one reference"):
        metrics.classify(["a"], [["a"], ["b"]])


def test_mistakes(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        metrics.embedding(*TEXTS, vectors=tmp_path / "none")
    with pytest.raises(ValueError, match="stem"):
        metrics.rouge(*TEXTS, stems=True)
    with pytest.raises(ValueError, match="could not convert|number"):
        metrics.regress(["one"], ["two"])
