"""Messages that once misled: what is wrong, with numbers people can read, and what to do."""

import json
import pathlib
import re
import shlex
import shutil

import pytest
import tensors
from program import changes

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [["generate", "{run}", "--tokens", "-5"], ["generate", "{run}", "--samples", "0"],
     ["average", "{run}", "--last", "0"], ["inspect", "{run}", "--lines", "-1"],
     ["translate", "{run}", "--nbest", "0"], ["bench", "attention", "--repeats", "-7"]],
    ids=lambda words: " ".join(words[:1] + words[-2:]),
)  # fmt: skip
def test_a_number_out_of_range(mistake, language_run, arguments):
    option, value = arguments[-2:]
    line = mistake(*[word.format(run=language_run) for word in arguments], words=[option, value, "at least"])
    assert len(line) < 100, line


@pytest.fixture(scope="module")
def numeric_options(synth):
    """(command, option, kind) of every option of every command that takes a number."""

    def found(*above):
        help = synth(*above, "--help").stdout
        names = re.findall(r"^  (\S+)", help.partition("\nSubcommands:\n")[2], re.MULTILINE)
        own = re.findall(r"^  (--[a-z-]+) (INT|UINT|FLOAT)", help, re.MULTILINE)
        return [(above, *one) for one in own] + [one for name in names for one in found(*above, name)]

    return found()


def test_no_number_is_altered(numeric_options, mistake):
    """What is not wholly a number, or too large to be held, is refused: not 0, and not the largest number."""
    assert {"--seed", "--temperature", "--processes", "--timeout", "--port", "--jobs"} <= {
        option for _, option, _ in numeric_options
    }
    for command, option, kind in numeric_options:
        for text in ["", "1x", "x", "1 2", *([] if kind == "FLOAT" else ["010", "0x10", "9" * 20, "1e3"])]:
            line = mistake(*command, option, text, words=[option, text])
            assert (
                "a number" if kind == "FLOAT" else "must be" if text[:1] == "9" else "a whole number"
            ) in line, line


def test_a_seed_has_its_whole_range(synth, mistake, language_run):
    largest = 2**64 - 1
    synth("generate", language_run, "--tokens", "2", "--seed", largest)
    for seed in [-5, largest + 1]:
        mistake(
            "generate", language_run, "--seed", seed, words=[f"--seed: it is {seed}", f"from 0 to {largest}"]
        )


@pytest.mark.parametrize(
    "arguments, words",
    [(["compare", "{recipe}", "--attention", "V", "--run", "{new}", "--seeds", "100000000000"],
      ["--seeds is 100000000000", "from 1 to 1000"]),
     (["compare", "{recipe}", "--attention", "V,R", "--run", "{new}", "--seeds", "1000"],
      ["--seeds is 1000", "2,000", "1,024 is the most"]),
     (["translate", "{numbers}", "--beam", "99999999999999"], ["decode.beam", "from 1 to 1024"]),
     (["params", "{recipe}", "--set", "model.layers=100000000"], ["model.layers", "from 1 to 10000"])],
    ids=["seeds", "runs", "beam", "layers"],
)  # fmt: skip
def test_a_huge_number(mistake, language_recipe, numbers_run, tmp_path, arguments, words):
    places = {"recipe": language_recipe, "numbers": numbers_run, "new": tmp_path / "new"}
    mistake(*[word.format(**places) for word in arguments], words=words)
    assert not (tmp_path / "new").exists()


def test_a_huge_length_to_grow_to(synth, language_run, tmp_path):
    done = synth("grow", language_run, "--max-length", "999999999999", "--run", tmp_path / "new", ok=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    for word in ["the table of positions", "999,999,999,999 × 16", "64.0 TB", "this machine has"]:
        assert word in done.stderr
    assert not (tmp_path / "new").exists()


def test_weights_that_there_are_none_of(mistake, language_run):
    words = ["--weights nope", "no such file", "best, last, averaged"]
    mistake("eval", language_run, "--weights", "nope", words=words)
    mistake("eval", language_run, "--weights", "avreaged", words=["did you mean 'averaged'"])
    mistake("eval", language_run, "--weights", "averaged", words=["synth average"])


def test_a_run_of_no_steps(synth, train, mistake, language_recipe, language_run, tmp_path):
    """It is a run: its weights are those drawn at first."""
    run = train(language_recipe, tmp_path / "run", "train.steps=0")
    assert json.loads(synth("eval", run, "--json").stdout)["loss"] > 0
    words = [run, "train.steps = 0"]
    mistake("compare", language_run, run, "--run", tmp_path / "all", words=words)
    synth("train", language_recipe, "--run", run, "--resume", "--set", "train.steps=4")
    tensors.same(run / "model.safetensors", language_run / "model.safetensors")


def test_a_converted_run_is_not_compared(synth, train, mistake, language_recipe, tmp_path):
    run = train(language_recipe, tmp_path / "run", "model.attention=R")
    small = tmp_path / "small"
    synth("convert", run, "--attention", "FR", "--rank", "2", "--run", small)
    words = [small, "synth convert", f"--init-from {small}"]
    line = mistake("compare", run, small, "--run", tmp_path / "all", words=words)
    assert "train it first" not in line


@pytest.mark.parametrize("kind", ["int8", "bfloat16"])
def test_a_quantized_run_is_not_compared(synth, mistake, language_run, tmp_path, kind):
    """It cannot be trained further, so this is no advice."""
    small = tmp_path / "small"
    synth("export", language_run, "--quantize", kind, "--run", small, "--no-scores")
    words = [small, "synth export", f"synth eval {small}"]
    assert "--init-from" not in mistake(
        "compare", language_run, small, "--run", tmp_path / "all", words=words
    )


def advice(line, command):
    """The words of a command that a message tells to type."""
    return shlex.split(line[line.index(command) :].partition(")")[0].partition(", or")[0])


def test_advice_can_be_pasted(synth, mistake, language_run, train, language_recipe, tmp_path):
    """Also where paths have blanks and quotes."""
    folder = tmp_path / "it's a d ir"
    folder.mkdir()
    run = shutil.copytree(language_run, folder / "ü 日")
    grown, exported = folder / "grown run", folder / "exported run"
    said = synth("grow", run, "--max-length", "20", "--run", grown).stderr
    wanted = ["synth", "train", "--init-from", str(grown), "--run", "NEW"]
    assert advice(said.replace("\n", " "), "synth train") == wanted
    synth("export", run, "--run", exported)
    line = mistake("compare", run, exported, "--run", tmp_path / "all", words=["synth export"])
    assert advice(line, "synth train")[3] == str(exported)
    assert advice(line, "synth eval") == ["synth", "eval", str(exported)]
    (run / "metrics.jsonl").write_text("")
    line = mistake("compare", run, "--run", tmp_path / "all", words=["no finished steps"])
    assert advice(line, "synth train") == ["synth", "train", "--run", str(run), "--resume"]


def test_the_command_of_a_page_can_be_pasted(synth, language_run, tmp_path):
    synth("compare", language_run, "--run", tmp_path / "a b", "--text", "to be")
    page = (tmp_path / "a b" / "report.html").read_text(encoding="utf-8")
    assert f"synth compare {language_run} --run '{tmp_path / 'a b'}' --text 'to be'" in page


def test_each_task_has_its_command(mistake, class_run, language_run, numbers_run):
    for command, run, words in [
        ("generate", class_run, ["does not continue a text", "synth classify"]),
        ("generate", numbers_run, ["synth translate"]),
        ("translate", class_run, ["synth classify"]),
        ("translate", language_run, ["does not turn one text into another", "synth generate"]),
        ("classify", language_run, ["has no classes", "synth generate"]),
    ]:
        line = mistake(command, run, words=[run, *words])
        assert line.count("synth ") == 1, line  # no other command is named


def test_a_folder_that_is_no_run(mistake, tmp_path):
    for command in ["average", "eval", "tokenize"]:
        mistake(command, tmp_path / "none", words=[tmp_path / "none", "is not a run folder"])


def test_an_empty_config(mistake, copy):
    """It would be read as a run with all defaults, whose weights are not there."""
    (copy / "config.toml").write_text("")
    for command in ["eval", "tokenize", "average"]:
        mistake(command, copy, words=[copy / "config.toml", "has no task"])


def test_a_file_in_the_way_of_a_new_run(mistake, language_run, language_recipe, tmp_path):
    (tmp_path / "file").write_text("text")
    run = tmp_path / "file" / "run"
    for command in [
        ["grow", language_run, "--max-length", "32"],
        ["export", language_run],
        ["compare", language_run],
        ["train", language_recipe],
    ]:
        mistake(*command, "--run", run, words=[f"{run} cannot be made: {run.parent} is a file"])


def test_an_empty_file_to_evaluate(mistake, language_run, tmp_path):
    (tmp_path / "empty.txt").write_text("")
    mistake("eval", language_run, "--data", tmp_path / "empty.txt", words=["empty.txt", "has no text"])


def test_the_size_of_an_export(synth, language_run, tmp_path):
    assert re.search(
        r"its weights have \d+ kB\n", synth("export", language_run, "--run", tmp_path / "new").stderr
    )


def test_a_table_larger_than_the_memory(synth, language_recipe, tmp_path):
    settings = changes(["model.attention=R", "model.max_length=1000000"])
    done = synth("train", language_recipe, "--run", tmp_path / "run", *settings, ok=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    for word in ["2 × 1,000,000 × 1,000,000", "8.0 TB", "this machine has", "max_length"]:
        assert word in done.stderr
    assert not (tmp_path / "run").exists()
    bench = ["--attention", "R", "--width", "16", "--heads", "2", "--max-length", "1000000", "--length", "8"]
    done = synth("bench", "attention", *bench, ok=False)
    assert done.returncode == 1 and "8.0 TB" in done.stderr


def test_counts_are_never_negative(synth, mistake):
    found = json.loads(synth("params", "--attention", "V", "--max-length", "1000000", "--json").stdout)
    assert found["macs"] == 2 * 10**6 * 512**2 * 2 + 10**12 * 512 * 2
    for length in [10**9, 10**10, 9 * 10**18]:
        words = ["max_length", "smaller"]
        mistake("params", "--attention", "R+V", "--max-length", str(length), words=words)


def test_options_that_the_attention_has_not(mistake, train, synth, language_recipe, tmp_path):
    settings = ["model.attention=R+V", "model.options={ rank = 4 }"]
    words = ["model.options.rank", "R+V"]
    mistake("train", language_recipe, "--run", tmp_path / "run", *changes(settings), words=words)
    assert not (tmp_path / "run").exists()
    # A comparison serves several attention variants with one recipe: each takes what it has.
    options = changes(["model.options={ rank = 4 }"])
    synth("compare", language_recipe, "--attention", "V,FR", "--run", tmp_path / "all", *options)
    assert "rank = 4" in (tmp_path / "all" / "FR" / "config.toml").read_text()
    assert "rank" not in (tmp_path / "all" / "V" / "config.toml").read_text()
    mistake("compare", language_recipe, "--attention", "V,R", "--run", tmp_path / "no", *options,
            words=["model.options.rank", "none of these"])  # fmt: skip


def test_a_run_given_twice_is_not_two_seeds(mistake, synth, language_run, tmp_path):
    again = shutil.copytree(language_run, tmp_path / "again")
    link = tmp_path / "link"
    link.symlink_to(language_run)
    for other in [language_run, again, link]:
        words = [language_run, other, "same weights"]
        mistake("compare", language_run, other, "--run", tmp_path / "all", words=words)


def test_scores_that_fit_the_recipe(synth, train, numbers, tmp_path):
    """The README's recipe. Numbers are one word in German: BLEU, which counts four words in a row, is 0."""
    recipe = ROOT / "recipes" / "translation" / "numbers.toml"
    small = ["model.width=16", "model.layers=1", "model.feed_forward=32", "train.steps=2", "train.warmup=1"]
    run = train(recipe, tmp_path / "run", f"data.root={numbers}", *small)
    found = json.loads(synth("eval", run, "--json").stdout)
    assert {"exact_match", "chrf"} <= set(found) and "bleu" not in found


def test_a_score_that_is_not_measured_cannot_be_watched(mistake, translation_recipe, tmp_path):
    wrong = changes(["data.metrics=chrf", "train.watch=bleu"])
    mistake("train", translation_recipe, "--run", tmp_path / "run", *wrong, words=["train.watch", "chrf"])
    wrong = changes(["data.metrics=blue"])
    mistake("train", translation_recipe, "--run", tmp_path / "run", *wrong, words=["data.metrics", "bleu"])


def test_what_a_message_quotes_cannot_break_its_line(mistake, tmp_path):
    """`mistake` demands exactly one line."""
    recipe = tmp_path / "recipe.toml"
    for line, words in [
        ('task = "language-model"\n[data]\ntrain = [t\n', ["recipe.toml:3", "boolean"]),
        ('task = "language\\n\\u001b[31mmodel"\n', ["language ?[31mmodel"]),
    ]:
        recipe.write_text(line)
        mistake("train", recipe, "--run", tmp_path / "run", words=words)
