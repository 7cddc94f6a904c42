"""Scripts that make data: ListOps by rule, word vectors from a corpus."""

import gzip
import json
import pathlib
import subprocess
import sys

import pytest
import samples

ROOT = pathlib.Path(__file__).resolve().parents[2]


def script(name, *arguments, ok=True):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / name, *map(str, arguments)], capture_output=True, text=True
    )
    assert not ok or done.returncode == 0, done.stderr
    return done


def rows(path):
    return [line.split("\t") for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


# ListOps.


def value_of(symbols):
    """The value of an expression, by a reader of its own: symbols are taken from the front."""
    first = symbols.pop(0)
    if first.isdigit():
        return int(first)
    values = []
    while symbols[0] != "]":
        values.append(value_of(symbols))
    symbols.pop(0)
    assert 2 <= len(values) <= 4
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2
    return {"[MIN": min(values), "[MAX": max(values), "[MED": median, "[SM": sum(values) % 10}[first]


LISTOPS = ["--train", 300, "--dev", 40, "--test", 40, "--min-length", 5, "--max-length", 40, "--max-args", 4]


def test_listops_are_what_they_say(tmp_path):
    script("make_listops.py", tmp_path, *LISTOPS, "--max-depth", 4)
    splits = {name: rows(tmp_path / f"{name}.tsv.gz") for name in ["train", "dev", "test"]}
    assert [len(splits[name]) for name in ["train", "dev", "test"]] == [300, 40, 40]
    texts = [text for split in splits.values() for _, text in split]
    assert len(set(texts)) == 380
    operations = set()
    for value, text in (row for split in splits.values() for row in split):
        symbols = text.split()
        assert 5 < len(symbols) < 40
        operations |= {symbol for symbol in symbols if symbol.startswith("[")}
        depth = deepest = 0
        for symbol in symbols:
            depth += symbol.startswith("[")
            depth -= symbol == "]"
            deepest = max(deepest, depth)
        assert depth == 0 and deepest <= 3  # the digits of the last are at depth 4
        assert value_of(symbols) == int(value) and not symbols
    assert operations == {"[MIN", "[MAX", "[MED", "[SM"}


def test_listops_are_made_again_from_the_seed(tmp_path):
    for name, seed in [("a", 1), ("b", 1), ("c", 2)]:
        script("make_listops.py", tmp_path / name, *LISTOPS, "--seed", seed)
    read = {name: (tmp_path / name / "train.tsv.gz").read_bytes() for name in "abc"}
    assert read["a"] == read["b"] != read["c"]
    assert script("make_listops.py", tmp_path, "--max-args", 1, ok=False).returncode == 2


@pytest.mark.parametrize("lengths", [[1, 4], [1900, 1950], [4, 6]], ids=["none", "too long", "few"])
def test_listops_that_there_are_not_enough_of(tmp_path, lengths):
    options = ["--train", 10000, "--min-length", lengths[0], "--max-length", lengths[1], "--max-depth", 2]
    done = script("make_listops.py", tmp_path / "made", *options, ok=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    # Four operations on three digits; none with fewer than 4 or more than 12 symbols.
    found = "4,000" if lengths == [4, 6] else "0"
    assert done.stderr.startswith(f"make_listops: found {found} different expressions")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_listops_of_negative_counts(tmp_path, split):
    done = script("make_listops.py", tmp_path / "made", *LISTOPS, f"--{split}", -1, ok=False)
    assert done.returncode == 2 and "must be 0 or more" in done.stderr
    assert not (tmp_path / "made").exists()


# Word vectors.


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    pytest.importorskip("gensim")
    folder = tmp_path_factory.mktemp("vectors")
    samples.dialogues(folder)
    script(
        "train_word_vectors.py",
        folder / "train.tsv.gz",
        folder / "vectors.txt.gz",
        "--size",
        8,
        "--epochs",
        2,
    )
    return folder


def test_vectors_are_a_word2vec_file(vectors):
    lines = gzip.decompress((vectors / "vectors.txt.gz").read_bytes()).decode().splitlines()
    count, size = map(int, lines[0].split())
    assert size == 8 and count == len(lines) - 1
    words = [line.split(" ")[0] for line in lines[1:]]
    assert {"my", "likes", "dog", "red"} <= set(words) and "<t>" not in words and "|" not in words
    assert all(len(line.split(" ")) == 9 for line in lines[1:])


def test_vectors_are_made_again_from_the_seed(vectors):
    script(
        "train_word_vectors.py", vectors / "train.tsv.gz", vectors / "again.txt", "--size", 8, "--epochs", 2
    )
    whole = gzip.decompress((vectors / "vectors.txt.gz").read_bytes()).decode()
    assert (vectors / "again.txt").read_text() == whole


def test_scores_use_them(synth, vectors):
    samples.write(vectors / "hyp.txt", ["my dog likes red", "my cat likes blue"])
    samples.write(vectors / "ref.txt", ["my dog likes red", "my house is red"])
    files = ["--hyp", vectors / "hyp.txt", "--ref", vectors / "ref.txt"]
    found = synth("score", "embedding", *files, "--vectors", vectors / "vectors.txt.gz", "--json")
    scores = json.loads(found.stdout)
    assert 0 < scores["average"] <= 100 and {"extrema", "greedy"} <= set(scores)


def test_what_is_wrong_is_said(vectors, tmp_path):
    done = script(
        "train_word_vectors.py", vectors / "train.tsv.gz", tmp_path / "v.txt", "--columns", "reply", ok=False
    )
    assert done.returncode == 1 and "no column 'reply' among dialogue, turn, persona" in done.stderr
    samples.write(tmp_path / "few.txt", ["one two"])
    done = script("train_word_vectors.py", tmp_path / "few.txt", tmp_path / "v.txt", ok=False)
    assert done.returncode == 1 and "no word occurs 2 times" in done.stderr
    assert not (tmp_path / "v.txt").exists()
