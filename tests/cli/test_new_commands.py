"""synth runs, tokenize, completion; synth train --dry-run; synth generate --samples."""

import json
import os
import shutil
import subprocess

import pytest
import tensors
from program import changes


@pytest.fixture(scope="module")
def folder(language_run, numbers_run, synth, train, language_recipe, tmp_path_factory):
    """A folder with runs of all kinds, at different depths."""
    top = tmp_path_factory.mktemp("all")
    shutil.copytree(language_run, top / "shakespeare")
    shutil.copytree(numbers_run, top / "translation" / "numbers")
    random = train(language_recipe, top / "random", "model.attention=R")
    synth("convert", random, "--attention", "FR", "--rank", "2", "--run", top / "converted")
    (top / "empty").mkdir()
    damaged = shutil.copytree(language_run, top / "damaged")
    (damaged / "metrics.jsonl").write_text("no metrics\n")
    longer = shutil.copytree(language_run, top / "unfinished")
    config = (longer / "config.toml").read_text()
    (longer / "config.toml").write_text(config.replace("steps = 4\n", "steps = 9\n"))
    return top


def test_runs(synth, folder):
    found = {run["run"]: run for run in json.loads(synth("runs", folder, "--json").stdout)["runs"]}
    assert list(found) == [
        "converted",
        "damaged",
        "random",
        "shakespeare",
        "translation/numbers",
        "unfinished",
    ]
    states = [run["state"] for run in found.values()]
    assert states == ["made by convert", "damaged", "finished", "finished", "finished", "unfinished"]
    assert found["random"]["attention"] == "R" and found["random"]["steps"] == 4
    assert "metrics.jsonl:1" in found["damaged"]["error"]
    dev = [json.loads(line) for line in (folder / "random" / "metrics.jsonl").read_text().splitlines()]
    best = min(line["loss"] for line in dev if line["split"] == "dev")
    assert found["random"]["best"]["score"] == "loss" and found["random"]["best"]["value"] == best
    done = synth("runs", folder)
    rows = done.stdout.splitlines()
    assert rows[0].split()[:3] == ["run", "task", "attention"] and len(rows) == 8
    numbers = next(row for row in rows if row.startswith("translation/numbers"))
    assert "finished" in numbers and "300/300" in numbers
    assert "metrics.jsonl:1" in done.stderr


def test_runs_show_what_is_saved(synth, train, language_recipe, tmp_path):
    """A state may be saved long before the first line of the log."""
    rare = ["train.steps=8", "train.log_every=100000", "train.eval_every=100000"]
    run = train(language_recipe, tmp_path / "run", *rare)
    (run / "metrics.jsonl").write_text("")
    config = (run / "config.toml").read_text()
    (run / "config.toml").write_text(config.replace("steps = 8\n", "steps = 100000\n"))
    (row,) = [line for line in synth("runs", tmp_path).stdout.splitlines() if line.startswith("run ")][1:]
    assert "unfinished" in row and "8/100,000" in row
    (found,) = json.loads(synth("runs", tmp_path, "--json").stdout)["runs"]
    assert found["steps"] == 8


def test_runs_of_no_steps_are_finished(synth, train, language_recipe, tmp_path):
    train(language_recipe, tmp_path / "run", "train.steps=0")
    (found,) = json.loads(synth("runs", tmp_path, "--json").stdout)["runs"]
    assert found["state"] == "finished" and found["steps"] == 0


def test_runs_of_nothing(synth, mistake, folder, tmp_path):
    assert json.loads(synth("runs", tmp_path, "--json").stdout) == {"runs": []}
    assert synth("runs", tmp_path).stdout == ""
    mistake("runs", tmp_path / "none", words=[tmp_path / "none", "is not a folder"])


def test_tokenize_and_back(synth, language_run, numbers_run):
    text = "twenty-one\n\nfour hundred\n"
    for run in [language_run, numbers_run]:
        ids = synth("tokenize", run, "--ids", input=text).stdout
        assert synth("tokenize", run, "--decode", input=ids).stdout == text
        pieces = synth("tokenize", run, input=text).stdout.splitlines()
        assert len(pieces) == 3 and pieces[1] == ""
        assert [len(line.split()) for line in pieces] == [len(line.split()) for line in ids.splitlines()]
    assert synth("tokenize", language_run, input="to be\n").stdout == "t o ▁ b e\n"
    found = json.loads(synth("tokenize", language_run, "--json", input="to γ\n").stdout)
    assert found["tokens"][:3] == ["t", "o", " "] and found["unknown"] == 1
    assert len(found["ids"]) == 4


def test_tokenize_mistakes(mistake, language_run, tmp_path):
    mistake("tokenize", language_run, "--decode", input="5 x\n", words=["standard input:1:", "'x'"])
    mistake("tokenize", language_run, "--decode", input="99999\n", words=["99999", "from 0 to"])
    mistake("tokenize", language_run, "--decode", "--ids", words=["--decode"])
    mistake("tokenize", tmp_path, words=[tmp_path, "is not a run folder"])


def test_tokenize_notices_a_damaged_tokenizer(mistake, copy):
    """One flipped bit changes a character, and what is read stays a tokenizer."""
    path = copy / "tokenizer.model"
    contents = path.read_text(encoding="utf-8")
    place = contents.rindex("z")
    path.write_text(contents[:place] + "{" + contents[place + 1 :], encoding="utf-8")
    mistake("tokenize", copy, input="a\n", words=[copy, "another tokenizer"])


def test_dry_run_makes_no_run(synth, language_recipe, tmp_path):
    before = tensors.contents(tmp_path)
    settings = changes(["train.steps=1000", "model.attention=R+V"])
    done = synth("train", language_recipe, "--run", tmp_path / "run", "--dry-run", *settings)
    for word in [
        "parameters",
        "train",
        "dev",
        "memory",
        "step",
        "s, median of 10",
        "tok/s",
        "peak",
        "1,000 steps",
    ]:
        assert word in done.stdout, word
    assert tensors.contents(tmp_path) == before
    assert synth("train", language_recipe, "--dry-run").stdout  # needs no folder


def test_dry_run_leaves_no_files(synth, language_recipe, text, environment, tmp_path):
    """Neither in the cache nor in the folder for temporary files; what the cache has is used."""
    cache = tmp_path / "cache"
    data = shutil.copytree(text, tmp_path / "text")
    for file in data.iterdir():  # old enough to be remembered
        os.utime(file, (1, 1))
    settings = changes(
        [f"data.root={data}", f"data.cache={cache}", "data.tokenizer=bpe", "data.vocabulary=80"]
    )
    (tmp_path / "temporary").mkdir()
    before = environment.get("TMPDIR", "/tmp")
    environment["TMPDIR"] = str(tmp_path / "temporary")
    try:
        first = synth("train", language_recipe, "--dry-run", *settings).stdout
        assert not cache.exists() or not list(cache.rglob("*"))
        synth("train", language_recipe, "--run", tmp_path / "run", *settings)
        kept = tensors.contents(cache)
        second = synth("train", language_recipe, "--dry-run", *settings).stdout
    finally:
        environment["TMPDIR"] = before
    changed = {name for name, data in tensors.contents(cache).items() if kept.get(name) != data}
    assert all(name.endswith("verified.json") for name in changed)
    assert not list((tmp_path / "temporary").iterdir())
    assert first.splitlines()[0] == second.splitlines()[0]


def test_dry_run_finds_mistakes(mistake, language_recipe):
    mistake("train", language_recipe, "--dry-run", "--set", "data.train=none.txt", words=["none.txt"])
    mistake("train", language_recipe, "--dry-run", "--set", "model.options={ rank = 2 }", words=["rank"])


def test_samples(synth, language_run):
    three = synth(
        "generate", language_run, "--prompt", "to", "--tokens", "12", "--samples", "3", "--seed", "5"
    ).stdout
    for number, seed in enumerate([5, 6, 7], 1):
        one = synth("generate", language_run, "--prompt", "to", "--tokens", "12", "--seed", str(seed)).stdout
        assert f"--- sample {number}, seed {seed} ---\n{one}" in three


def complete(script, *words):
    """What bash offers for the last of these words."""
    line = " ".join(words)
    program = f"""
        source {script}
        COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1} COMP_LINE='{line}'
        _synth
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture(scope="module")
def bash_script(synth, tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "synth.bash"
    path.write_text(synth("completion", "bash").stdout)
    return path


def test_completion_of_bash(bash_script):
    assert complete(bash_script, "synth", "tr") == ["train", "translate"]
    assert complete(bash_script, "synth", "bench", "") == ["attention", "step", "decode", "--help"]
    assert complete(bash_script, "synth", "train", "--acc") == ["--accept-changed-data"]
    assert complete(bash_script, "synth", "bench", "attention", "--wi") == ["--width"]
    assert complete(bash_script, "synth", "translate", "runs/x", "--too-long", "") == ["error", "truncate"]
    assert complete(bash_script, "synth", "train", "recipes/") == []  # files, which bash completes itself
    assert complete(bash_script, "synth", "completion", "") == ["bash", "zsh", "fish"]
    assert complete(bash_script, "synth", "score", "me") == ["meteor"]
    assert "bleu" not in complete(bash_script, "synth", "score", "bleu", "--hyp", "")
    assert complete(bash_script, "synth", "score", "--js") == ["--json"]
    assert complete(bash_script, "synth", "eval", "runs/x", "--weights", "") == ["best", "last", "averaged"]
    assert complete(bash_script, "synth", "eval", "runs/x", "--weights", "runs/") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command(synth, tmp_path, shell):
    script = synth("completion", shell).stdout
    for word in ["translate", "completion", "tokenize", "accept-changed-data", "length-penalty", "attention"]:
        assert word in script
    if shutil.which(shell):  # where the shell is installed, it reads the script
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_completion_quotes_for_its_shell(synth):
    """Descriptions have apostrophes."""
    assert "`" not in synth("completion", "fish").stdout.partition("\n")[2]
    assert "'average:average a run'\\''s last checkpoints'" in synth("completion", "zsh").stdout
    assert "-a average -d 'average a run\\'s last checkpoints'" in synth("completion", "fish").stdout


def test_completion_of_other_shells(mistake):
    mistake("completion", "tcsh", words=["tcsh", "bash"])
