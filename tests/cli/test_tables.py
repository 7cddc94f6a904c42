"""Tables (.tsv): with data.columns the first line is a header, without there is none; in doubt, an error."""

import pytest

RECIPE = """
task = "{task}"
[data]
root = "{root}"
train = "train.tsv"
tokenizer = "characters"
vocabulary = 0
[model]
width = 16
heads = 2
layers = 1
feed_forward = 32
max_length = 48
[train]
steps = 1
batch_tokens = 512
"""

ROWS = [f"{'pos' if n % 2 else 'neg'}\ttext number {n}" for n in range(20)]


@pytest.fixture
def table(tmp_path):
    """Writes a table and a recipe for it."""

    def write(rows, task="classification", keys=""):
        (tmp_path / "train.tsv").write_text("".join(row + "\n" for row in rows))
        recipe = tmp_path / "recipe.toml"
        recipe.write_text(RECIPE.format(task=task, root=tmp_path).replace("[model]", keys + "\n[model]"))
        return recipe

    return write


def config(run):
    return (run / "config.toml").read_text()


def test_without_columns_there_is_no_header(train, table, tmp_path):
    run = train(table(ROWS), tmp_path / "run")
    assert 'labels = ["neg", "pos"]' in config(run)


def test_with_columns_the_first_line_is_one(train, table, tmp_path):
    run = train(table(["label\ttext", *ROWS], keys='columns = ["label", "text"]'), tmp_path / "run")
    assert 'labels = ["neg", "pos"]' in config(run)


HEADERS = {
    "known names": "label\ttext",
    "in capitals": "Label\tSentence",
    "a name of their own": "sentiment\treview of the film",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_a_header_is_no_class(mistake, table, tmp_path, kind):
    recipe = table([HEADERS[kind], *ROWS])
    mistake("train", recipe, "--run", tmp_path / "run", words=["train.tsv:1", "data.columns"])
    assert not (tmp_path / "run").exists()


def test_a_class_that_is_only_in_the_first_line(train, table, tmp_path):
    """Who lists the classes has decided."""
    rows = ["neutral\tone of a kind", *ROWS]
    run = train(table(rows, keys='labels = ["neg", "neutral", "pos"]'), tmp_path / "run")
    assert '"neutral"' in config(run)


def test_two_rows_of_two_classes_are_fine(train, table, tmp_path):
    train(table(["good\tone", "bad\ttwo"]), tmp_path / "run")


@pytest.mark.parametrize("label", ["", " "])
def test_an_empty_label(mistake, table, tmp_path, label):
    recipe = table([*ROWS[:4], f"{label}\tno label", *ROWS[4:]])
    mistake("train", recipe, "--run", tmp_path / "run", words=["train.tsv:5", "label is empty"])
    assert not (tmp_path / "run").exists()


def test_a_header_of_pairs(mistake, train, table, tmp_path):
    rows = [f"number {n}\tnummer {n}" for n in range(20)]
    mistake("train", table(["source\ttarget", *rows], task="translation"), "--run", tmp_path / "run",
            words=["train.tsv:1", "'source', 'target'", 'data.columns = ["source", "target"]'])  # fmt: skip
    keys = 'columns = ["source", "target"]'
    train(table(["source\ttarget", *rows], task="translation", keys=keys), tmp_path / "run")


@pytest.mark.parametrize(
    "task, header",
    [("translation", "en\tde"), ("translation", "English\tGerman"), ("dialogue", "context\tresponse"),
     ("dialogue", "prompt\tresponse"), ("summarization", "document\thighlights"),
     ("summarization", '"Article"\t"Highlights"')],
)  # fmt: skip
def test_a_header_of_known_names(mistake, table, tmp_path, task, header):
    rows = [f"number {n}\tnummer {n}" for n in range(20)]
    mistake("train", table([header, *rows], task=task), "--run", tmp_path / "run",
            words=["train.tsv:1", "looks like a header line", "data.columns"])  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_dictionary_is_no_header(train, table, tmp_path):
    """A word that is the same in both languages is an example."""
    train(table(["no\tno", "yes\tsí"], task="translation"), tmp_path / "run")
