"""synth score: files of texts against files of references."""

import gzip
import json

import pytest

# sacreBLEU 2's own example.
HYPOTHESES = ["The dog bit the man.", "It wasn't surprising.", "The man had just bitten him."]
REFERENCES = [
    ["The dog bit the man.", "It was not unexpected.", "The man bit him first."],
    ["The dog had bit the man.", "No one was surprised.", "The man had bitten the dog."],
]


@pytest.fixture
def files(tmp_path):
    for name, lines in [("hyp", HYPOTHESES), ("ref0", REFERENCES[0]), ("ref1", REFERENCES[1])]:
        whole = "".join(line + "\n" for line in lines)
        (tmp_path / name).write_text(whole)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(whole.encode()))
    return tmp_path


def both(files, ending=""):
    return [
        "--hyp",
        files / f"hyp{ending}",
        "--ref",
        files / f"ref0{ending}",
        "--ref",
        files / f"ref1{ending}",
    ]


def test_bleu(synth, files):
    found = json.loads(synth("score", "bleu", *both(files), "--json").stdout)
    assert found["bleu"] == pytest.approx(48.530827, abs=1e-5)
    assert found["signature"].startswith("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.")
    said = synth("score", "bleu", *both(files)).stdout
    assert said.startswith(
        "BLEU = 48.53 82.4/50.0/45.5/37.5 (BP = 0.943 ratio = 0.944 hyp_len = 17 ref_len = 18)\n"
    )
    assert found["signature"] in said


def test_chrf(synth, files):
    found = json.loads(synth("score", "chrf", *both(files), "--json").stdout)
    assert found["chrf"] == pytest.approx(59.73, abs=0.005)
    assert found["signature"].startswith("nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.")
    assert synth("score", "chrf", *both(files)).stdout.startswith("chrF2 = 59.73\n")


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_the_same_text_is_100(synth, files, metric):
    found = json.loads(
        synth("score", metric, "--hyp", files / "ref0", "--ref", files / "ref0", "--json").stdout
    )
    assert found[metric] == pytest.approx(100)


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_gzip_and_standard_input(synth, files, metric):
    plain = synth("score", metric, *both(files), "--json").stdout
    assert synth("score", metric, *both(files, ".gz"), "--json").stdout == plain
    arguments = ["--hyp", "-", *both(files)[2:], "--json"]
    assert synth("score", metric, *arguments, input="\n".join(HYPOTHESES) + "\n").stdout == plain


def test_lower_case_and_tokenizations(synth, files):
    (files / "shout").write_text("".join(line.upper() + "\n" for line in HYPOTHESES))
    arguments = ["--hyp", files / "shout", *both(files)[2:], "--json"]
    quiet = json.loads(synth("score", "bleu", *both(files), "--lowercase", "--json").stdout)
    assert json.loads(synth("score", "bleu", *arguments, "--lowercase").stdout) == quiet
    assert "case:lc" in quiet["signature"]
    assert json.loads(synth("score", "bleu", *arguments).stdout)["bleu"] < quiet["bleu"]
    found = {}
    for tokenization in ["13a", "none", "char", "intl"]:
        one = json.loads(synth("score", "bleu", *both(files), "--tokenize", tokenization, "--json").stdout)
        assert f"tok:{tokenization}" in one["signature"]
        found[tokenization] = one["bleu"]
    assert len({found["13a"], found["none"], found["char"]}) == 3


MISTAKES = [
    (["blue", "--hyp", "hyp", "--ref", "ref0"], ["'blue'", "did you mean 'bleu'", "chrf"]),
    (["bleu", "--hyp", "hyp"], ["--ref"]),
    (["bleu", "--ref", "ref0"], ["--hyp"]),
    (["bleu", "--hyp", "nowhere", "--ref", "ref0"], ["nowhere", "No such file"]),
    (["bleu", "--hyp", ".", "--ref", "ref0"], ["folder"]),
    (["bleu", "--hyp", "hyp", "--ref", "two"], ["hyp", "3", "two", "2"]),
    (["bleu", "--hyp", "hyp", "--ref", "ref0", "--ref", "two"], ["two", "2"]),
    (["bleu", "--hyp", "empty", "--ref", "empty"], ["empty"]),
    (["bleu", "--hyp", "latin", "--ref", "ref0"], ["latin:2", "byte 4", "UTF-8"]),
    (["bleu", "--hyp", "cut.gz", "--ref", "ref0"], ["cut.gz", "damaged"]),
    (
        ["bleu", "--hyp", "hyp", "--ref", "ref0", "--tokenize", "13b"],
        ["tokenize", "13b", "did you mean '13a'"],
    ),
    (["bleu", "--hyp", "hyp", "--ref", "ref0", "--beta", "2"], ["bleu", "beta"]),
    (["chrf", "--hyp", "hyp", "--ref", "ref0", "--char-order", "0"], ["char-order", "0"]),
    (["chrf", "--hyp", "hyp", "--ref", "ref0", "--beta", "two"], ["beta", "two"]),
    (["bleu", "--hyp", "-", "--ref", "-"], ["standard input", "twice"]),
    (["bleu", "--hyp", "hyp", "--ref", "ref0", "--lowercas"], ["'--lowercas'", "did you mean '--lowercase'"]),
]


@pytest.mark.parametrize("arguments, words", MISTAKES, ids=[" ".join(m[0]) for m in MISTAKES])
def test_mistakes(mistake, files, monkeypatch, arguments, words):
    (files / "two").write_text("one\ntwo\n")
    (files / "empty").write_text("")
    (files / "latin").write_bytes(b"fine\ncaf\xe9\nfine\n")
    (files / "cut.gz").write_bytes((files / "hyp.gz").read_bytes()[:-12])
    monkeypatch.chdir(files)
    mistake("score", *arguments, words=words)
