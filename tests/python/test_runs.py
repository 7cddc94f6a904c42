"""Trained runs from Python: the same numbers as the command line."""

import inspect
import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import synthesizer
from synthesizer import _C

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYNTH = os.environ.get("SYNTH", str(ROOT / "build/release/bin/synth"))


def train(folder, recipe, name):
    (folder / f"{name}.toml").write_text(recipe, encoding="utf-8")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [SYNTH, "train", f"{name}.toml", "--run", name]
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)
    return folder / name


MODEL = "[model]\nwidth = 16\nheads = 2\nlayers = 1\nfeed_forward = 16\nmax_length = 16\ndropout = 0.0\n"
TRAIN = "[train]\nsteps = 3\nbatch_tokens = 64\neval_every = 3\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs")
    (path / "a.txt").write_text("one two three\ntwo two\n", encoding="utf-8")
    (path / "b.txt").write_text("eins zwei drei\nzwei zwei\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def language_model(folder):
    data = '[data]\ntrain = "a.txt"\ndev = "a.txt"\ntokenizer = "characters"\nvocabulary = 0\n'
    return train(folder, 'task = "language-model"\n' + data + MODEL + TRAIN, "lm")


@pytest.fixture(scope="module")
def translation(folder):
    data = (
        '[data]\ntrain = ["a.txt", "b.txt"]\ndev = ["a.txt", "b.txt"]\ntokenizer = "words"\nvocabulary = 0\n'
    )
    return train(folder, 'task = "translation"\n' + data + MODEL + TRAIN, "mt")


def test_generate_is_that_of_the_command_line(language_model):
    m = synthesizer.load(language_model)
    text = m.generate("one ", tokens=30, seed=5)
    command = [SYNTH, "generate", language_model, "--prompt", "one ", "--tokens", "30", "--seed", "5"]
    assert subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout == text + "\n"
    assert text == m.generate("one ", tokens=30, seed=5) != m.generate("one ", tokens=30, seed=6)


def test_translate_is_that_of_the_command_line(translation):
    m = synthesizer.load(translation)
    lines = ["one two", "", "three"]
    command = [SYNTH, "translate", translation, "--beam", "3"]
    text = subprocess.run(
        command, check=True, input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8"
    )
    assert m.translate(lines, beam=3) == text.stdout.split("\n")[:-1]
    best = m.translate(lines, beam=3, nbest=2)
    assert [len(row) for row in best] == [2, 1, 2] and best[0][0][1] >= best[0][1][1]


def test_scores_are_log_probabilities(language_model, translation):
    m = synthesizer.load(language_model)
    (whole,) = m.score(["one two"])
    assert whole < 0
    assert m.score(["one two", "x"])[0] == whole
    loss = m.evaluate("dev")["loss"]
    assert math.isfinite(loss)
    pairs = synthesizer.load(translation).score(
        [("one two three", "eins zwei drei"), ("two two", "zwei zwei")]
    )
    evaluation = synthesizer.load(translation).evaluate("dev")
    assert -sum(pairs) == pytest.approx(evaluation["loss"] * evaluation["tokens"], rel=1e-5)


def test_a_run_says_what_it_is(translation):
    m = synthesizer.load(translation)
    assert m.task == "translation" and "[model]" in m.config and "translation" in repr(m)


def test_mistakes_are_value_errors(translation, language_model, tmp_path):
    with pytest.raises(ValueError, match="not a run folder"):
        synthesizer.load(tmp_path / "none")
    with pytest.raises(ValueError, match="does not continue a text"):
        synthesizer.load(translation).generate("x")
    with pytest.raises(ValueError, match="does not turn one text into another"):
        synthesizer.load(language_model).translate(["x"])
    with pytest.raises(ValueError, match="decode.beam"):
        synthesizer.load(translation).translate(["x"], beam=0)
    with pytest.raises(TypeError, match=r"\[text\]"):
        synthesizer.load(translation).translate("one")


INTEGER_OPTIONS = ["beam", "nbest", "max_length", "no_repeat_ngram", "batch_tokens"]


@pytest.mark.parametrize("option", INTEGER_OPTIONS)
@pytest.mark.parametrize("value", [2.7, 2.0, float("nan"), "2"])
def test_an_integer_option_takes_integers_alone(translation, option, value):
    with pytest.raises(TypeError, match=f"^{option} is {value!r}: it must be an integer$"):
        synthesizer.load(translation).translate(["one"], **{option: value})


@pytest.mark.parametrize("option", ["tokens", "top_k", "seed"])
def test_an_integer_option_of_generate_takes_integers_alone(language_model, option):
    with pytest.raises(TypeError, match=f"^{option} is 2.7: it must be an integer$"):
        synthesizer.load(language_model).generate("one", **{option: 2.7})


def test_every_decode_option_is_a_keyword():
    def keywords(method):
        return set(inspect.signature(method).parameters)

    assert set(_C.decode_option_names(False)) <= keywords(synthesizer.runs.Run.translate)
    assert set(_C.decode_option_names(True)) <= keywords(synthesizer.runs.Run.generate)


def test_options_of_other_kinds(translation):
    m = synthesizer.load(translation)
    command = [SYNTH, "translate", translation, "--beam", "2", "--length-normalization", "gnmt"]
    done = subprocess.run(
        [*command, "--no-early-stopping", "--min-length", "2"],
        input="one two\n", check=True, capture_output=True, text=True,
    )  # fmt: skip
    options = {"beam": 2, "length_normalization": "gnmt", "early_stopping": False, "min_length": 2}
    assert m.translate(["one two"], **options) == done.stdout.split("\n")[:-1]
    with pytest.raises(TypeError, match="^early_stopping is 1: it must be True or False$"):
        m.translate(["one"], early_stopping=1)
    with pytest.raises(TypeError, match="^length_normalization is 1: it must be a string$"):
        m.translate(["one"], length_normalization=1)
    with pytest.raises(ValueError, match="^length_normalization is \"gmnt\": .* did you mean 'gnmt'"):
        m.translate(["one"], length_normalization="gmnt")


def test_integers_of_other_libraries_are_integers(translation):
    numpy = pytest.importorskip("numpy")
    m = synthesizer.load(translation)
    assert m.translate(["one two"], beam=numpy.int64(3)) == m.translate(["one two"], beam=3)
    assert m.translate(["one two"], length_penalty=1) == m.translate(["one two"], length_penalty=1.0)


def test_a_number_option_takes_numbers_alone(translation, language_model):
    with pytest.raises(TypeError, match="^length_penalty is '1': it must be a number$"):
        synthesizer.load(translation).translate(["one"], length_penalty="1")
    with pytest.raises(TypeError, match=r"^temperature is \[1\]: it must be a number$"):
        synthesizer.load(language_model).generate("one", temperature=[1])


def test_large_seeds_are_exact(language_model):
    m = synthesizer.load(language_model)
    texts = []
    for seed in [2**53, 2**53 + 1, 2**63 - 2, 2**63 - 1]:
        command = [SYNTH, "generate", language_model, "--prompt", "one ", "--tokens", "40"]
        done = subprocess.run([*command, "--seed", str(seed)], check=True, capture_output=True)
        texts.append(m.generate("one ", tokens=40, seed=seed))
        assert done.stdout.decode() == texts[-1] + "\n"
    assert len(set(texts)) == 4


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, 10**30])
def test_seeds_out_of_range(language_model, seed):
    with pytest.raises(ValueError, match=f"^seed is {seed}: it must be from 0 to {2**63 - 1}$"):
        synthesizer.load(language_model).generate("one", seed=seed)


def test_integers_out_of_range(translation):
    with pytest.raises(ValueError, match=f"^beam is {2**63}: it must be from {-(2**63)} to {2**63 - 1}$"):
        synthesizer.load(translation).translate(["one"], beam=2**63)


def test_an_unknown_option_names_the_nearest(translation, language_model, folder):
    with pytest.raises(TypeError, match=r"^translate\(\) has no option 'baem', did you mean 'beam'\?$"):
        synthesizer.load(translation).translate(["one"], baem=3)
    with pytest.raises(TypeError, match=r"'no_repeat_ngrams', did you mean 'no_repeat_ngram'\?$"):
        synthesizer.load(translation).translate(["one"], no_repeat_ngrams=3)
    with pytest.raises(TypeError, match=r"^generate\(\) has no option 'topk', did you mean 'top_k'\?$"):
        synthesizer.load(language_model).generate("one", topk=3)
    with pytest.raises(TypeError, match=r"^translate\(\) has no option 'zzzzzzzzz'$"):
        synthesizer.load(translation).translate(["one"], zzzzzzzzz=3)
    with pytest.raises(ValueError, match=r"no decode option 'baem', did you mean 'beam'\?"):
        synthesizer.load(translation)._run.translate(["one"], {"baem": 3}, 4096, True)


def test_classify_is_that_of_the_command_line(folder):
    rows = ["good\tone two", "bad\ttwo three", "good\tone", "bad\tthree three"]
    (folder / "c.tsv").write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    data = '[data]\ntrain = "c.tsv"\ndev = "c.tsv"\ntokenizer = "words"\nvocabulary = 0\n'
    run = train(folder, 'task = "classification"\n' + data + MODEL + TRAIN, "classes")
    m = synthesizer.load(run)
    lines = ["one two", "three", "two two two"]
    command = [SYNTH, "classify", run]
    printed = subprocess.run(
        command, check=True, capture_output=True, encoding="utf-8", input="\n".join(lines)
    )
    assert m.classify(lines) == printed.stdout.splitlines()
    shares = m.classify(lines, probabilities=True)
    assert [max(s, key=s.get) for s in shares] == m.classify(lines)
    assert m.score([(lines[0], "bad")]) == [pytest.approx(math.log(shares[0]["bad"]), abs=1e-5)]
    with pytest.raises(ValueError, match="classification"):
        m.translate(lines)
    with pytest.raises(ValueError, match="'fair' is not a label"):
        m.score([(lines[0], "fair")])


def test_evaluate_takes_the_split_that_synth_eval_takes(folder):
    (folder / "test.txt").write_text("three three two\none\n", encoding="utf-8")
    data = '[data]\ntrain = "a.txt"\ndev = "a.txt"\ntest = "test.txt"\ntokenizer = "characters"\n'
    data += "vocabulary = 0\n"
    run = train(folder, 'task = "language-model"\n' + data + MODEL + TRAIN, "with_test")
    m = synthesizer.load(run)
    said = subprocess.run([SYNTH, "eval", run, "--json"], check=True, capture_output=True, cwd=folder).stdout
    assert m.evaluate() == pytest.approx(json.loads(said))
    assert m.evaluate() == m.evaluate("test") != m.evaluate("dev")


INTERRUPTED = """
import sys, time, synthesizer
m = synthesizer.load(sys.argv[1])
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted at", time.monotonic(), flush=True)
"""
CALLS = {
    "translate": 'm.translate(["one two three"] * 200_000, batch_tokens=64)',
    "generate": 'm.generate("one", tokens=50_000_000)',
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_long_work_at_once(language_model, translation, call):
    """Within a decoding step or 50 ms; the rest of the 2 s is for a busy machine. What Python and LibTorch do
    at the end of the process does not count."""
    run = translation if call == "translate" else language_model
    program = [sys.executable, "-c", INTERRUPTED.format(call=CALLS[call]), run]
    process = subprocess.Popen(program, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(3)  # into the C++ code
        assert process.poll() is None
        sent = time.monotonic()  # a clock that both processes read
        process.send_signal(signal.SIGINT)
        *said, ended = process.communicate(timeout=60)[0].split()
        assert said == ["interrupted", "at"]
        assert float(ended) - sent < 2
    finally:
        process.kill()
        process.wait()
