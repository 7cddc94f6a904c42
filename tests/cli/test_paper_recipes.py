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


# Options that a row of the paper's C4 table needs.
OPTIONS = {
    "R+V": ['model.options={ weights = "sum" }'],
    "D+V": ['model.options={ weights = "sum" }'],
    "light-conv:9": ["model.options={ groups = 768 }"],
    "dynamic-conv:9": ["model.options={ groups = 768 }"],
}


def stated_counts(recipe):
    """(attention, millions here, printed) of the sentence in which a recipe lists them."""
    text = (RECIPES / recipe).read_text().replace("\n#", "")
    sentence = re.search(r"Parameters here \(printed\), in millions[^:]*: (.*?)\.\s", text)[1]
    return re.findall(r"([A-Za-z][\w+-]*(?::\d+)?) ([\d.]+) \((\d+)\)", sentence)


COUNTED = ["paper/c4.toml", "language-model/lm1b.toml"]
COUNTED += ["translation/wmt14-en-de.toml", "translation/wmt14-en-fr.toml"]
COUNTS = [(recipe, *row) for recipe in COUNTED for row in stated_counts(recipe)]


@pytest.mark.parametrize("recipe, attention, here, printed", COUNTS)
def test_full_size_beside_the_papers(synth, recipe, attention, here, printed):
    settings = [f"model.attention={attention}", *(OPTIONS.get(attention, []) if "c4" in recipe else [])]
    found = count(synth, recipe, *settings)
    assert f"{found['total'] / 1e6:.1f}" == here
    assert sum(found["parts"].values()) == found["total"]
    if "en-fr" in recipe:
        return  # the paper's one column of parameters is listed with the German data
    assert found["paper"].startswith(f"{int(printed) * 1_000_000:,} parameters of {attention} on ")
    text = synth("params", RECIPES / recipe, *changes(settings)).stdout
    assert f"{found['total']:,}" in text and found["paper"] in text


def test_the_printed_count_is_that_of_both_sides(synth):
    sides = [f"model.{side}_attention=R" for side in ("encoder", "decoder")]
    recipe = "translation/wmt14-en-de.toml"
    assert count(synth, recipe, *sides)["paper"].startswith("67,000,000 parameters of R on ")
    assert count(synth, recipe, sides[0])["paper"] == ""


@pytest.mark.parametrize("recipe", [name for name in PAPER if name.startswith("paper/")])
def test_a_recipe_says_where_no_count_is_printed(synth, recipe):
    paper = count(synth, recipe)["paper"]
    wanted = "223,000,000 parameters of V on C4" if "c4" in recipe else "no count of parameters of V on "
    assert paper.startswith(wanted)
    assert f"  paper  {paper}\n" in synth("params", RECIPES / recipe).stdout


def test_every_row_of_the_papers_tables_is_counted():
    rows = {recipe: [row[0] for row in stated_counts(recipe)] for recipe in COUNTED}
    every = ["V", "Fix", "R", "FR", "D", "FD", "D+R", "D+V", "R+V"]
    assert rows.pop("paper/c4.toml") == ["V", "dynamic-conv:9", "light-conv:9", "D", "R", "R+V", "D+V"]
    assert len(rows) == 3 and all(row == every for row in rows.values())


def test_what_is_said_of_the_convolutions_on_c4(synth):
    """Without the authors' pointwise maps, and with a kernel for each head."""

    def millions(name, groups, more=0):
        options = f"model.options={{ groups = {groups} }}"
        total = count(synth, "paper/c4.toml", f"model.attention={name}", options)["total"]
        return round((total + more) / 1e6, 1)

    assert millions("light-conv:9", 768, 24 * 768**2) == 223.8
    assert [millions(f"{kind}-conv:9", 12) for kind in ["light", "dynamic"]] == [209.5, 211.5]


def test_the_universal_transformer_on_c4(synth):
    settings = ["model.recurrent_depth=24", "model.halting_threshold=0.5", "model.positions=relative"]
    found = count(synth, "paper/c4.toml", *settings)
    assert round(found["total"] / 1e6, 1) == 41.2
    assert found["paper"] == "84,000,000 parameters of recurrent V on C4, in Narang et al. 2021"
    found = count(synth, "paper/c4.toml", *settings[:2])
    assert found["paper"] == "no count of parameters of recurrent V on C4 is printed"


def test_the_vocabulary_is_that_of_pre_training(synth):
    totals = {count(synth, f"paper/{name}.toml")["total"] for name in ["c4", "en-mix", "glue", "superglue"]}
    assert len(totals) == 1


def test_options_of_the_pre_trained_run_are_given_again(synth, data, mistake, tmp_path):
    tiny = [*TINY, "model.attention=R+V"]
    sums = OPTIONS["R+V"]
    synth("train", RECIPES / "paper/c4.toml", "--run", tmp_path / "c4",
          *changes([f"data.root={data / 'c4'}", *tiny, *sums]))  # fmt: skip
    tiny += [f"data.root={data / 'glue'}", f"train.init_from={tmp_path / 'c4'}"]
    recipe = RECIPES / "paper/glue.toml"
    synth("train", recipe, "--run", tmp_path / "glue", *changes([*tiny, *sums]))
    words = ["no tensor", "logits.mixture"]
    mistake("train", recipe, "--run", tmp_path / "other", *changes(tiny), words=words)


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


def test_lm1b_differs_between_rows_as_its_recipe_says():
    stated = {name: (float(here), int(printed)) for name, here, printed in stated_counts(COUNTED[1])}

    def difference(a, b):
        return round(stated[a][0] - stated[b][0], 1), stated[a][1] - stated[b][1]

    for name in ["V", "R", "FR"]:
        here, printed = difference(name, "Fix")
        assert abs(here - printed) <= 1
    text = (RECIPES / COUNTED[1]).read_text().replace("\n#", "")
    others = re.findall(r"([\w+]+) - (\w+) (?:is )?([\d.]+)(?: here)? and (\d+)", text)
    for a, b, here, printed in others:
        rounded, exact = difference(a, b)
        assert abs(float(here) - rounded) < 0.15 and int(printed) == exact  # of two counts that are rounded
    assert len(others) == 5


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
