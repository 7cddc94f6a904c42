"""The command line through its real binary: what it prints, its exit status, and its words for mistakes.

The binary is named by the environment variable SYNTH."""

import json
import os
import subprocess

import pytest


def synth(*arguments):
    return subprocess.run([os.environ["SYNTH"], *arguments], capture_output=True, text=True, timeout=120)


def answer(*arguments):
    done = synth(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_variants_as_json():
    rows = {row["short"]: row for row in answer("variants")}
    assert list(rows) == ["V", "D", "R", "Fix", "FR", "FD"]
    assert rows["V"] == {
        "name": "vanilla",
        "short": "V",
        "tokens": "all",
        "sample": "local",
        "interacts": True,
        "parameters": "2d²",
    }
    assert rows["FR"]["tokens"] == "none" and rows["FR"]["sample"] == "global"
    assert rows["FD"]["tokens"] == "own" and not rows["FD"]["interacts"]


def test_variants_agree_with_python():
    synthesizer = pytest.importorskip("synthesizer")
    assert answer("variants") == synthesizer.variants()


def test_variants_as_a_table():
    done = synth("variants")
    assert done.returncode == 0
    for word in ["vanilla", "fixed-random", "d² + d(a+b)", "share_heads"]:
        assert word in done.stdout


def test_variants_shows_the_baselines_in_a_second_table():
    table, baselines = synth("variants").stdout.split("baseline ", 1)
    assert "light-conv" not in table
    for word in ["light-conv", "dynamic-conv", "linformer", "never", "2d² + 2kN", "kernel", "share_kv"]:
        assert word in baselines


D, H, N, L = 64, 4, 32, 20
LAYER = ["--width", str(D), "--heads", str(H), "--max-length", str(N), "--length", str(L)]
FRAME = 2 * L * D * D + L * L * D  # value and output projections, weights times values
COUNTS = {
    "V": (2 * D * D, 2 * L * D * D + L * L * D),
    "D": (D * D + D + D * N + H * N, L * D * D + L * L * D),
    "R": (H * N * N, 0),
    "Fix": (0, 0),
    "FR": (2 * H * N * 8, H * L * L * 8),
    "FD": (D * D + D + D * (4 + 8) + H * (4 + 8), L * D * D + L * D * (4 + 8) + H * L * L),
    "R+V": (H * N * N + 2 * D * D + 2, 2 * L * D * D + L * L * D),
}


@pytest.mark.parametrize("attention", COUNTS)
def test_params(attention):
    counts = answer("params", "--attention", attention, *LAYER)
    synthesis, macs = COUNTS[attention]
    assert counts["synthesis"] == synthesis
    assert counts["total"] == synthesis + 2 * D * D
    assert counts["macs"] == macs + FRAME


BASELINES = {
    "light-conv": (H * 7, 3 * D * D, L * D * 7),
    "light-conv:15": (H * 15, 3 * D * D, L * D * 15),
    "dynamic-conv": (D * H * 7, 3 * D * D, L * D * 7 + L * D * H * 7),
    "linformer:8": (2 * D * D + 2 * 8 * N, 2 * D * D, 2 * L * D * D + 4 * L * D * 8),
}


@pytest.mark.parametrize("attention", BASELINES)
def test_params_of_baselines(attention):
    counts = answer("params", "--attention", attention, *LAYER)
    synthesis, projections, macs = BASELINES[attention]
    assert counts["attention"] == attention
    assert counts["synthesis"] == synthesis
    assert counts["total"] == synthesis + projections
    assert counts["macs"] == macs + L * projections


def test_params_with_options_and_bias():
    counts = answer("params", "--attention", "FR", *LAYER, "--option", "rank=3", "--bias")
    assert counts["synthesis"] == 2 * H * N * 3
    assert counts["total"] == 2 * H * N * 3 + 2 * (D * D + D)
    shared = answer(
        "params", "--attention", "D", *LAYER, "--option", "share_heads=true", "--option", "hidden=5"
    )
    assert shared["synthesis"] == H * 5 * D + H * 5 + 5 * N + N


def test_params_as_a_table():
    done = synth("params", "--attention", "Fix", *LAYER)
    assert done.returncode == 0
    assert "logits.Fix.table" in done.stdout and "4,096 fixed" in done.stdout


def test_bench_measures_every_attention():
    found = answer("bench", "attention", "--width", "16", "--heads", "2", "--max-length", "8", "--batch", "1",
                   "--repeats", "1")  # fmt: skip
    rows = {row["attention"]: row for row in found["rows"]}
    assert {"V", "D", "R", "Fix", "FR", "FD", "R+V"} <= set(rows)
    assert all(row["forward_ms"] > 0 and row["forward_backward_ms"] > 0 for row in rows.values())
    assert [(ratio["attention"], ratio["over"]) for ratio in found["ratios"]] == [
        ("R", "V"),
        ("FR", "R"),
        ("R+V", "V"),
    ]
    for ratio in found["ratios"]:
        one, other = rows[ratio["attention"]], rows[ratio["over"]]
        assert ratio["forward"] == pytest.approx(other["forward_ms"] / one["forward_ms"])
        assert ratio["forward_backward"] == pytest.approx(
            other["forward_backward_ms"] / one["forward_backward_ms"]
        )


def test_bench_compares_ours_with_ours_where_both_were_timed():
    small = ["bench", "attention", "--width", "16", "--heads", "2", "--max-length", "8", "--repeats", "1"]
    done = synth(*small, "--attention", "V,R")
    assert "R over V" in done.stdout and "FR over R" not in done.stdout
    assert "ours" not in synth(*small, "--attention", "V").stdout.lower()


def test_bench_measures_training_steps():
    rows = answer("bench", "step", "--attention", "V,R,light-conv", "--repeats", "1")["rows"]
    assert [row["attention"] for row in rows] == ["V", "R", "light-conv"]
    assert all(row["seconds"] > 0 for row in rows)


def test_bench_says_where_a_step_goes():
    done = synth("bench", "step", "--attention", "V", "--repeats", "2", "--parts")
    assert done.returncode == 0
    for part in ("projections", "core", "feed-forward", "loss", "optimizer"):
        assert part in done.stdout


def test_bench_takes_a_step_for_every_line(tmp_path):
    command = [os.environ["SYNTH"], "bench", "step", "--attention", "V", "--peer-folder", tmp_path]
    done = subprocess.run(command, input="check\n\n", capture_output=True, text=True, check=True)
    facts, *steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert facts["task"] == "language-model" and facts["length"] == 64
    assert len(steps) == 2 and 0 < steps[1]["loss"] < steps[0]["loss"]
    assert (tmp_path / "model.safetensors").exists() and (tmp_path / "tokens.safetensors").exists()


@pytest.mark.parametrize(
    "quantize",
    [[], ["--quantize", "int8"], ["--quantize", "bfloat16"]],
    ids=["float32", "int8", "bfloat16"],
)
def test_bench_translates_for_every_line(tmp_path, quantize):
    command = [os.environ["SYNTH"], "bench", "decode", "--attention", "R", "--length", "3", *quantize]
    done = subprocess.run(
        [*command, "--peer-folder", tmp_path],
        input='{"beam": 1, "batch": 2}\n{"beam": 2, "batch": 1}\n',
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    facts, greedy, beam = [json.loads(line) for line in done.stdout.splitlines()]
    assert (facts["vocabulary"], facts["length"], facts["begin"], facts["end"]) == (32000, 3, 1, 2)
    assert greedy["tokens"] == 8 and [len(sentence) for sentence in greedy["outputs"]] == [1, 1]
    assert [len(tokens) for tokens in beam["outputs"][0]] == [3, 3]
    assert beam["outputs"][0][0] != beam["outputs"][0][1]
    assert facts["end"] not in beam["outputs"][0][0]


@pytest.mark.parametrize(
    "command",
    [[], ["variants"], ["params"], ["export"], ["bench"], ["bench", "attention"], ["bench", "step"],
     ["bench", "decode"]],
)  # fmt: skip
def test_help(command):
    done = synth(*command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert "--help" in done.stdout


MISTAKES = [
    ([], ["synth needs a command", "synth --help"]),
    (["bench"], ["synth bench needs a command", "synth bench --help"]),
    (["score", "bleu"], ["--hyp is required", "synth score --help"]),
    (["--threads", "2", "variants"], ["'--threads'", "after the command", "synth variants --help"]),
    (["--threads", "2"], ["'--threads'", "after the command", "synth --help"]),
    (["bench", "--threads", "2", "step"], ["'--threads'", "after the command", "synth bench step --help"]),
    (
        ["bench", "step", "--model", "x"],
        ["synth bench step has no option '--model'", "synth bench step --help"],
    ),
    (["generate", "x", "--tokens", "3", "--tokens", "4"], ["--tokens is given twice: give it once"]),
    (["generate", "x", "--tokens"], ["--tokens needs a value", "synth generate --help"]),
    (["parms"], ["'parms'", "did you mean 'params'"]),
    (["params"], ["--attention"]),
    (["params", "--atention", "V"], ["'--atention'", "did you mean '--attention'"]),
    (["params", "--attention", "R+X"], ["'X'", "known:", "vanilla"]),
    (["params", "--attention", "vanila"], ["did you mean 'vanilla'"]),
    (["params", "--attention", "V+V"], ["twice"]),
    (["params", "--attention", "R+"], ["empty member"]),
    (["params", "--attention", "R+light-conv"], ["light-conv", "cannot be a member of a mixture"]),
    (["params", "--attention", "light-conf"], ["did you mean 'light-conv'"]),
    (["params", "--attention", "light-conv", "--option", "kernel=4"], ["kernel", "4", "odd"]),
    (["params", "--attention", "linformer:33", "--max-length", "32"], ["rank", "33", "max_length 32"]),
    (["params", "--attention", "V", "--width", "10", "--heads", "3"], ["10", "3", "divisible"]),
    (["params", "--attention", "V", "--width", "wide"], ["--width", "wide"]),
    (["params", "--attention", "V", "--max-length", "0"], ["max_length", "0"]),
    (["params", "--attention", "V", "--length", "999"], ["999", "256"]),
    (["params", "--attention", "FR", "--option", "rank=0"], ["rank", "0", "at least 1"]),
    (["params", "--attention", "FR", "--option", "rank=1e3"], ["rank", "is 1000.0", "whole number"]),
    (["params", "--attention", "FR", "--option", "rang=4"], ["'rang'", "did you mean 'rank'"]),
    (["params", "--attention", "V", "--option", "rank"], ["NAME=VALUE"]),
    (["bench", "atention"], ["did you mean 'attention'"]),
    (["bench", "attention", "--batch", "0"], ["--batch"]),
    (["bench", "step", "--setting", "huge"], ["no setting 'huge'", "demo, translation, encoder"]),
    (["bench", "step", "--precision", "float8"], ["precision", "float8"]),
    (["bench", "decode", "--quantize", "int3"], ["--quantize", "int3"]),
    (["bench", "decode", "--batch", "33"], ["--batch", "33"]),
]


@pytest.mark.parametrize("arguments, words", MISTAKES, ids=[" ".join(m[0]) or "nothing" for m in MISTAKES])
def test_a_mistake_is_one_line_and_status_2(arguments, words):
    done = synth(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("synth: error: ") and done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
