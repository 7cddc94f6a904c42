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


SUMMARIES = ["The cats sat . <n> A dog barked .", "two dogs played in the snow"]
TARGETS = ["A cat was sitting . <n> The dogs barked .", "two dogs are playing in snow"]
VECTORS = (
    "the 0.25 0.5 1\ndog 1 0.5 -0.5\ndogs 0.75 0.5 -0.25\ntwo -1 0.25 0\nsnow 0.5 -1 0.25\nin 0.1 0.2 0.3\n"
)
# Of each metric: files, options, and what the implementation that it follows says.
FOUND = [
    (
        ["rouge", "--hyp", "summaries", "--ref", "targets"],
        {
            "rouge1": 56.41025641,
            "rouge1_precision": 58.333333333,
            "rouge1_recall": 54.761904762,
            "rouge2": 10.0,
            "rouge2_precision": 10.0,
            "rouge2_recall": 10.0,
            "rougeL": 48.717948718,
            "rougeL_precision": 50.0,
            "rougeL_recall": 47.619047619,
            "rougeLsum": 56.41025641,
            "rougeLsum_precision": 58.333333333,
            "rougeLsum_recall": 54.761904762,
        },
    ),
    (
        ["rouge", "--hyp", "summaries", "--ref", "targets", "--stem"],
        {
            "rouge1": 80.128205128,
            "rouge1_precision": 83.333333333,
            "rouge1_recall": 77.380952381,
            "rouge2": 29.090909091,
            "rouge2_precision": 30.0,
            "rouge2_recall": 28.333333333,
            "rougeL": 64.743589744,
            "rougeL_precision": 66.666666667,
            "rougeL_recall": 63.095238095,
            "rougeLsum": 80.128205128,
            "rougeLsum_precision": 83.333333333,
            "rougeLsum_recall": 77.380952381,
        },
    ),
    (
        ["caption", "--hyp", "summaries", "--ref", "targets"],
        {
            "bleu1": 62.367132327,
            "bleu2": 36.693602855,
            "bleu3": 0.000225395,
            "bleu4": 5.87e-07,
            "rougeL": 54.188034188,
            "cider": 218.711598261,
        },
    ),
    (
        ["caption", "--hyp", "summaries", "--ref", "targets", "--ref", "summaries"],
        {
            "bleu1": 99.999999987,
            "bleu2": 99.999999986,
            "bleu3": 99.999999986,
            "bleu4": 99.999999985,
            "rougeL": 100.0,
            "cider": 609.35579913,
        },
    ),
    (
        ["embedding", "--hyp", "summaries", "--ref", "targets", "--vectors", "vectors"],
        {"average": 94.828713376, "extrema": 95.025601633, "greedy": 99.869314347},
    ),
    (
        ["embedding", "--hyp", "summaries", "--ref", "targets", "--vectors", "vectors.gz"],
        {"average": 94.828713376, "extrema": 95.025601633, "greedy": 99.869314347},
    ),
    (["exact_match", "--hyp", "labels", "--ref", "gold"], {"exact_match": 66.666666667}),
    (
        ["classify", "--hyp", "labels", "--ref", "gold", "--positive", "yes"],
        {"accuracy": 66.666666667, "macro_f1": 66.666666667, "f1": 66.666666667, "matthews": 33.333333333},
    ),
    (
        ["classify", "--hyp", "labels", "--ref", "gold"],
        {"accuracy": 66.666666667, "macro_f1": 66.666666667, "matthews": 33.333333333},
    ),
    (["regress", "--hyp", "numbers", "--ref", "right"], {"pearson": 57.146163909, "spearman": 49.259218307}),
]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    for name, lines in {
        "summaries": SUMMARIES,
        "targets": TARGETS,
        "labels": ["yes", "no", "yes", "yes", "no", "no"],
        "gold": ["yes", "yes", "no", "yes", "no", "no"],
        "numbers": ["1", "2.5", "2.5", "-3", "4e1", ".5"],
        "right": ["2", "2", "3", "-1", "5", "5"],
        "words": ["1", "2.5", "two", "-3", "4", "5"],
        "equal": ["2"] * 6,
    }.items():
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    (tmp_path / "vectors").write_text(VECTORS)
    (tmp_path / "vectors.gz").write_bytes(gzip.compress(f"6 3\n{VECTORS}".encode()))
    (tmp_path / "ragged").write_text("the 1 2 3\ndog 1 2\n")
    (tmp_path / "unread").write_text("the 1 2 3\ndog 1 b 3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("arguments, expected", FOUND, ids=[" ".join(f[0]) for f in FOUND])
def test_metrics(synth, texts, arguments, expected):
    found = json.loads(synth("score", *arguments, "--json").stdout)
    assert list(found) == list(expected)
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, abs=1e-6), key
    said = synth("score", *arguments).stdout
    for key, value in expected.items():
        if not key.startswith("rouge"):
            assert f"{key} = {value:.2f}" in said


def test_rouge_for_people(synth, texts):
    said = synth("score", "rouge", "--hyp", "summaries", "--ref", "targets", "--stem").stdout
    assert said.splitlines()[0] == "rouge1 = 80.13 (precision 83.33, recall 77.38)"
    assert [line.split(" = ")[0] for line in said.splitlines()] == ["rouge1", "rouge2", "rougeL", "rougeLsum"]


TEXTS = ["--hyp", "summaries", "--ref", "targets"]
MISTAKES_OF_METRICS = [
    (["rouge", "--hyp", "summaries", "--ref", "gold"], ["summaries has 2", "gold has 6"]),
    (["rouge", *TEXTS, "--stm"], ["'--stm'", "did you mean '--stem'"]),
    (["caption", *TEXTS, "--stem"], ["caption takes no option stem"]),
    (["meteor", *TEXTS, "--wordnet", "nowhere"], ["nowhere/data.noun", "wordnet-base", "./run setup"]),
    (["embedding", *TEXTS], ["embedding needs the option vectors"]),
    (["embedding", *TEXTS, "--vectors", "nowhere"], ["nowhere", "No such file"]),
    (["embedding", *TEXTS, "--vectors", "ragged"], ["ragged:2:", "2 numbers, but 3 in line 1"]),
    (["embedding", *TEXTS, "--vectors", "unread"], ["unread:2:", "'b' is not a number"]),
    (["embedding", *TEXTS, "--vectors", "vectors", "--unknown", "skp"], ["did you mean 'skip'"]),
    (
        ["classify", "--hyp", "labels", "--ref", "gold", "--positive", "maybe"],
        ["'maybe', a label that no reference has (there are no, yes)"],
    ),
    (
        ["classify", "--hyp", "labels", "--ref", "gold", "--ref", "gold"],
        ["classify takes one reference", "2"],
    ),
    (["regress", "--hyp", "words", "--ref", "right"], ["line 3 of the hypotheses is 'two'"]),
    (["regress", "--hyp", "numbers", "--ref", "words"], ["line 3 of the references is 'two'"]),
    (["regress", "--hyp", "numbers", "--ref", "equal"], ["undefined", "references"]),
    (["regress", "--hyp", "numbers", "--ref", "right", "--ref", "right"], ["regress takes one reference"]),
]


@pytest.mark.parametrize(
    "arguments, words", MISTAKES_OF_METRICS, ids=[" ".join(m[0]) for m in MISTAKES_OF_METRICS]
)
def test_mistakes_of_metrics(mistake, texts, arguments, words):
    mistake("score", *arguments, words=words)


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
