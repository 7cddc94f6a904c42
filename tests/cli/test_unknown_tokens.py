"""Text that a tokenizer has no token for: counted, warned about, never generated; and byte order marks."""

import json

import pytest
from program import changes

LATIN = "a few words of plain text\n" * 30


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A file in another script, and one with a few foreign letters."""
    folder = tmp_path_factory.mktemp("foreign")
    (folder / "greek.txt").write_text("αβγ δεζ ηθι\n" * 40, encoding="utf-8")
    (folder / "some.txt").write_text(LATIN + "é\n", encoding="utf-8")
    return folder


def test_the_share_is_reported(synth, language_run, foreign):
    done = synth("eval", language_run, "--data", foreign / "greek.txt", "--json")
    found = json.loads(done.stdout)
    assert found["unknown_percent"] == pytest.approx(100 * 9 / 11)  # blanks are known
    assert "warning" in done.stderr and "81.8%" in done.stderr and "greek.txt" in done.stderr
    table = synth("eval", language_run, "--data", foreign / "greek.txt").stdout
    assert "unknown_percent" in table and "81.8182" in table


def test_little_is_not_warned_about(synth, language_run, foreign):
    done = synth("eval", language_run, "--data", foreign / "some.txt", "--json")
    assert 0 < json.loads(done.stdout)["unknown_percent"] < 1
    assert "warning" not in done.stderr
    assert json.loads(synth("eval", language_run, "--json").stdout)["unknown_percent"] < 1


def test_training_warns_about_dev(synth, language_recipe, foreign, tmp_path):
    done = synth(
        "train", language_recipe, "--run", tmp_path / "run", *changes([f"data.dev={foreign}/greek.txt"])
    )
    assert "warning: 81.8% of the tokens" in done.stderr


@pytest.mark.parametrize("tokenizer", ["characters", "words"])
def test_it_is_never_generated(synth, train, language_recipe, text, tmp_path, tokenizer):
    """Trained on a text in which most is unknown, a model that may choose would write nothing else."""
    train_on = tmp_path / "train.txt"
    lines = (text / "train.txt").read_text().splitlines()
    train_on.write_text("".join(line + "\n" for line in lines[:300]))
    settings = [f"data.train={train_on}", f"data.tokenizer={tokenizer}", "data.vocabulary=12",
                "train.steps=60", "train.eval_every=60", "train.save_every=60"]  # fmt: skip
    run = train(language_recipe, tmp_path / "run", *settings)
    for temperature in ["0", "1"]:
        out = synth("generate", run, "--tokens", "60", "--temperature", temperature).stdout
        assert len(out) > 30
        assert "\ufffd" not in out and "<unk>" not in out, out


def test_a_prompt_with_unknown_characters(synth, language_run):
    done = synth("generate", language_run, "--prompt", "to γδ", "--tokens", "2")
    assert "2 of the prompt's 5 tokens are unknown" in done.stderr
    assert synth("generate", language_run, "--prompt", "to", "--tokens", "2").stderr == ""


def test_lines_to_translate_with_unknown_characters(synth, translation_recipe, train, tmp_path):
    run = train(translation_recipe, tmp_path / "run", "train.steps=1")
    lines = "one\nδύο\nthree\nx δ\n"
    done = synth("translate", run, "--beam", "1", input=lines)
    warning = f"are unknown to the tokenizer of {run}, in 2 lines, first in line 2"
    assert done.stderr.count("warning") == 1 and warning in done.stderr
    assert "4 of the input's 14 tokens" in done.stderr
    assert synth("translate", run, "--beam", "1", "--quiet", input=lines).stderr == ""
    assert synth("translate", run, "--beam", "1", input="one\n").stderr == ""


def test_lines_to_classify_with_unknown_characters(synth, class_run):
    done = synth("classify", class_run, input="red\nred γ δ\n")
    assert "2 of the input's 4 tokens are unknown" in done.stderr and "1 line, first in line 2" in done.stderr
    assert synth("classify", class_run, "--quiet", input="γ\n").stderr == ""


def test_a_byte_order_mark_is_no_text(synth, train, language_recipe, language_run, text, tmp_path):
    """Training text, dev text, lines to be scored: as if it were not there."""
    for name in ["train.txt", "dev.txt"]:
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (text / name).read_bytes())
    run = train(
        language_recipe, tmp_path / "run", f"data.train={tmp_path}/train.txt", f"data.dev={tmp_path}/dev.txt"
    )
    assert (run / "tokenizer.model").read_bytes() == (language_run / "tokenizer.model").read_bytes()
    plain = json.loads(synth("eval", language_run, "--data", text / "dev.txt", "--json").stdout)
    assert json.loads(synth("eval", language_run, "--data", tmp_path / "dev.txt", "--json").stdout) == plain
    both = ["--hyp", tmp_path / "dev.txt", "--ref", text / "dev.txt"]
    assert json.loads(synth("score", "bleu", *both, "--json").stdout)["bleu"] == pytest.approx(100)


def test_a_byte_order_mark_on_standard_input(synth, numbers_run):
    plain = synth("translate", numbers_run, input="twenty-one\n").stdout
    assert synth("translate", numbers_run, input=b"\xef\xbb\xbftwenty-one\n").stdout == plain
