"""Every recipe in the paper's size starts on a small sample of its format, and its parameters are counted at
full size beside the paper's."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import samples
from program import changes

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes"
PAPER = sorted(path.relative_to(RECIPES).as_posix() for path in [
    *RECIPES.glob("paper/*.toml"), *RECIPES.glob("lra/*.toml"), *RECIPES.glob("translation/wmt14*.toml"),
    RECIPES / "language-model/lm1b.toml", RECIPES / "small/listops.toml", RECIPES / "small/imdb-bytes.toml",
])  # fmt: skip

# The recipe as it is, cut in size and steps alone.
TINY = [
    "data.vocabulary=0",
    "data.tokenizer=characters",
    "model.width=16",
    "model.heads=2",
    "model.layers=1",
    "model.feed_forward=16",
    "train.steps=2",
    "train.batch_tokens=1024",
    "train.accumulate=1",
    "train.eval_every=2",
    "train.save_every=2",
    "train.watch=loss",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paper")
    samples.glue(folder / "glue", 24, 6)
    samples.superglue(folder / "superglue", 24, 6)
    samples.squad(folder / "squad", 24, 6)
    samples.plain(folder / "c4")
    samples.plain(folder / "lm1b", 100, 20)
    samples.translation(folder / "wmt14-en-de", "de", "newstest2013", "newstest2014")
    samples.translation(folder / "wmt14-en-fr", "fr", "newstest2013", "newstest2014")
    samples.summaries(folder / "cnn-dailymail")
    samples.dialogues(folder / "personachat")
    samples.labelled(folder / "imdb", 2)
    rng = samples.random.Random(9)
    for split, count in [("train", 80), ("dev", 16)]:
        rows = [f"{n % 4 + 1}\t{samples.sentence(rng)}" for n in range(count)]
        samples.write(folder / "ag-news" / f"{split}.tsv.gz", rows)
    lengths = ["--min-length", "3", "--max-length", "30"]
    counts = ["--train", "300", "--dev", "30", "--test", "30"]
    script = ROOT / "tools/make_listops.py"
    subprocess.run([sys.executable, script, folder / "listops", *counts, *lengths], check=True)
    return folder


def folder_of(data, recipe):
    name = pathlib.Path(recipe).stem.removesuffix("-control").removesuffix("-bytes")
    return data if name == "en-mix" else data / name


@pytest.mark.parametrize("recipe", PAPER)
def test_it_starts_on_a_sample_of_its_format(synth, data, tmp_path, recipe):
    keep_tokenizer = "bytes" in recipe or "listops" in recipe
    settings = [f"data.root={folder_of(data, recipe)}", *(TINY[2:] if keep_tokenizer else TINY)]
    if "bytes" in recipe:
        settings.append("model.max_length=64")
    done = synth("train", RECIPES / recipe, "--run", tmp_path / "run", *changes(settings))
    assert "parameters" in done.stderr
    assert len((tmp_path / "run/metrics.jsonl").read_text().splitlines()) >= 1
    assert (tmp_path / "run/model.safetensors").exists()


def count(synth, recipe, *settings):
    return json.loads(synth("params", RECIPES / recipe, "--json", *changes(settings)).stdout)


# What the recipes say of the paper's sizes. (In millions: ours, printed.)
COUNTS = [
    ("paper/c4.toml", "V", [], 223),
    ("paper/c4.toml", "R", [], 254),
    ("paper/c4.toml", "R+V", ['model.options={ weights = "sum" }'], 292),
    ("paper/c4.toml", "D+V", ['model.options={ weights = "sum" }'], 243),
    ("language-model/lm1b.toml", "V", [], 70),
    ("language-model/lm1b.toml", "Fix", [], 53),
    ("translation/wmt14-en-de.toml", "V", [], 68),
    ("translation/wmt14-en-de-control.toml", "V", [], 73),
]


@pytest.mark.parametrize("recipe, attention, settings, printed", COUNTS)
def test_full_size_beside_the_papers(synth, recipe, attention, settings, printed):
    found = count(synth, recipe, f"model.attention={attention}", *settings)
    assert found["paper"].startswith(f"{printed * 1_000_000:,} parameters of {attention} on ")
    assert sum(found["parts"].values()) == found["total"]
    text = synth("params", RECIPES / recipe, *changes([f"model.attention={attention}", *settings])).stdout
    assert f"{found['total']:,}" in text and found["paper"] in text


@pytest.mark.parametrize("recipe", PAPER)
def test_every_recipe_can_be_counted(synth, recipe):
    if "small" in recipe:
        pytest.skip("its vocabulary comes from the text")
    assert count(synth, recipe)["total"] > 3_000_000


def test_the_control_has_the_parameters_of_the_mixture(synth):
    for pair in ["de", "fr"]:
        control = count(synth, f"translation/wmt14-en-{pair}-control.toml")["total"]
        mixture = count(synth, f"translation/wmt14-en-{pair}.toml", "model.attention=R+V")["total"]
        assert abs(control - mixture) <= 6150  # half of what one more unit of width has
        stated = int(
            re.search(r"\(([\d,]+)\)", (RECIPES / f"translation/wmt14-en-{pair}-control.toml").read_text())[
                1
            ].replace(",", "")
        )
        assert stated == mixture


def test_lm1b_differs_between_rows_as_printed(synth):
    of = {
        a: count(synth, "language-model/lm1b.toml", f"model.attention={a}")["total"]
        for a in ["V", "Fix", "R"]
    }
    assert round((of["V"] - of["Fix"]) / 1e6) == 70 - 53
    assert 4e6 < of["R"] - of["Fix"] < 5e6  # printed: 58 - 53


def test_counting_without_data(mistake, synth):
    mistake("params", words=["--attention", "recipe"])
    mistake("params", RECIPES / "small/listops.toml", words=["data.labels"])
    words = ["data.vocabulary 0", "--dry-run"]
    mistake("params", RECIPES / "language-model/shakespeare.toml", words=words)
    mistake("params", RECIPES / "nothing.toml", words=["nothing.toml"])


def test_a_dry_run_names_the_papers_count_too(synth, data):
    settings = [f"data.root={data / 'lm1b'}", *TINY, "train.steps=1"]
    done = synth("train", RECIPES / "language-model/lm1b.toml", "--dry-run", *changes(settings))
    assert "paper  70,000,000 parameters of V on LM1B, as printed" in done.stdout
