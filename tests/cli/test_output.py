"""Standard output arrives whole, or the program ends with one error line and status 1."""

import os
import re
import subprocess

import pytest
import tensors
from program import changes

NO_SPACE = "standard output could not be written: No space left on device"


@pytest.fixture(scope="module")
def labels_run(train, tmp_path_factory):
    """A classifier of one step."""
    folder = tmp_path_factory.mktemp("labels")
    rows = [f"{'good' if n % 2 else 'bad'}\ta text with the number {n}\n" for n in range(40)]
    (folder / "train.tsv").write_text("".join(rows))
    recipe = folder / "labels.toml"
    recipe.write_text(
        f'task = "classification"\n[data]\nroot = "{folder}"\ntrain = "train.tsv"\ntokenizer = "characters"\n'
        "vocabulary = 0\n[model]\nwidth = 16\nheads = 2\nlayers = 1\nfeed_forward = 32\nmax_length = 48\n"
        "[train]\nsteps = 1\nbatch_tokens = 512\n"
    )
    return train(recipe, folder / "run")


@pytest.fixture
def into(environment):
    """Runs the program with its outputs going elsewhere."""

    def run(*arguments, input="", **outputs):
        done = subprocess.run([os.environ["SYNTH"], *map(str, arguments)], input=input.encode(), timeout=180,
                              env=environment, **outputs)  # fmt: skip
        return done.returncode, (done.stderr or b"").decode()

    return run


def errors_of(text):
    return [line for line in text.splitlines() if "error" in line]


COMMANDS = {
    "help": ["--help"],
    "version": ["--version"],
    "help of a command": ["train", "--help"],
    "explain": ["train", "--explain"],
    "train": ["train", "{recipe}", "--run", "{new}"],
    "dry run": ["train", "{recipe}", "--dry-run"],
    "variants": ["variants"],
    "variants --json": ["variants", "--json"],
    "params": ["params", "--attention", "R+V"],
    "params --json": ["params", "--attention", "R+V", "--json"],
    "eval": ["eval", "{language}"],
    "eval --json": ["eval", "{language}", "--json"],
    "generate": ["generate", "{language}", "--tokens", "20"],
    "inspect": ["inspect", "{language}"],
    "average": ["average", "{language}"],
    "convert": ["convert", "{language}", "--attention", "R+V", "--run", "{new}"],
    "export": ["export", "{language}", "--quantize", "int8", "--run", "{new}"],
    "grow": ["grow", "{language}", "--max-length", "32", "--run", "{new}"],
    "runs": ["runs", "{runs}"],
    "runs --json": ["runs", "{runs}", "--json"],
    "tokenize": ["tokenize", "{language}"],
    "completion": ["completion", "bash"],
    "score": ["score", "bleu", "--hyp", "{text}/dev.txt", "--ref", "{text}/dev.txt"],
    "compare csv": ["compare", "{language}", "--run", "{new}", "--format", "csv"],
    "bench attention": ["bench", "attention", "--attention", "V", "--width", "8", "--heads", "2",
                        "--max-length", "8", "--repeats", "1"],
    "bench step": ["bench", "step", "--attention", "V", "--repeats", "1"],
    "bench decode": ["bench", "decode", "--attention", "V", "--beam", "1", "--batch", "1", "--length", "1",
                     "--source-length", "1", "--repeats", "1"],
}  # fmt: skip
# The first two: test_many_lines_to_a_full_disk. The others print nothing to standard output.
ELSEWHERE = ["translate", "classify", "import", "serve"]


@pytest.fixture(scope="module")
def helps(synth):
    """What --help says of each command; where a command has subcommands, of those instead."""

    def leaves(*above):
        help = synth(*above, "--help").stdout
        names = re.findall(r"^  (\S+)", help.partition("\nSubcommands:\n")[2], re.MULTILINE)
        return {key: text for name in names for key, text in leaves(*above, name).items()} or {above: help}

    return leaves()


def test_no_command_is_forgotten(helps):
    tried = [tuple(words[: 2 if words[0] == "bench" else 1]) for words in COMMANDS.values()]
    assert [command for command in helps if command not in tried and command[0] not in ELSEWHERE] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk(into, language_recipe, copy, text, tmp_path, name):
    """`copy`: some commands write into the run."""
    places = {"language": copy, "text": text, "new": tmp_path / "new", "runs": tmp_path}
    arguments = [word.format(**places, recipe=language_recipe) for word in COMMANDS[name]]
    with open("/dev/full", "wb") as full:
        status, said = into(*arguments, input="to be\n", stdout=full, stderr=subprocess.PIPE)
    assert status == 1, said
    assert len(errors_of(said)) == 1 and said.splitlines()[-1].startswith(f"synth: error: {NO_SPACE}"), said


@pytest.mark.parametrize("command", ["translate", "classify"])
def test_many_lines_to_a_full_disk(into, numbers_run, labels_run, command):
    """More than any buffer holds: this once wrote behind the end of one."""
    run = {"translate": numbers_run, "classify": labels_run}[command]
    lines = "".join(f"{word} hundred\n" for word in ["one", "two", "three", "four"] * 1500)
    with open("/dev/full", "wb") as full:
        status, said = into(command, run, "--json" if command == "classify" else "--beam=1", input=lines,
                            stdout=full, stderr=subprocess.PIPE)  # fmt: skip
    assert status == 1, said
    assert len(errors_of(said)) == 1 and NO_SPACE in said, said


def test_a_closed_pipe(into, numbers_run):
    reader, writer = os.pipe()
    os.close(reader)
    status, said = into("translate", numbers_run, "--beam", "1", input="one\n" * 50, stdout=writer,
                        stderr=subprocess.PIPE)  # fmt: skip
    os.close(writer)
    assert status == 1
    assert "Broken pipe" in said and len(errors_of(said)) == 1


def test_a_closed_standard_output(into):
    close = lambda: os.close(1)  # noqa: E731
    status, said = into("variants", stderr=subprocess.PIPE, preexec_fn=close)
    assert status == 1 and "Bad file descriptor" in said


def test_output_before_an_error_is_not_lost(synth, numbers_run):
    text = "one\n" * 4096 + "two\n" + "\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "\n"
    done = synth("translate", numbers_run, "--beam", "1", input=text.encode("latin-1"), ok=False)
    assert done.returncode == 2 and "UTF-8" in done.stderr
    assert done.stdout.count("\n") >= 4096


def test_closed_descriptors_are_not_taken_by_files(into, train, language_recipe, tmp_path):
    """What is written for people must not end up in a file that was opened under their number."""
    whole = train(language_recipe, tmp_path / "whole")
    close = lambda: (os.close(0), os.close(1), os.close(2))  # noqa: E731
    status, _ = into("train", language_recipe, "--run", tmp_path / "run", preexec_fn=close)
    assert status == 1  # the name of the run, at the end, could not be written
    tensors.same(tmp_path / "run" / "train_state.safetensors", whole / "train_state.safetensors")
    assert {path.name for path in (tmp_path / "run").iterdir()} >= {"model.safetensors", "report.html"}
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == len((whole / "metrics.jsonl").read_text().splitlines())


@pytest.mark.parametrize("where", ["/dev/full", "a closed pipe"])
def test_progress_that_cannot_be_written_ends_nothing(into, train, language_recipe, tmp_path, where):
    settings = ["train.steps=12", "train.log_every=1"]
    whole = train(language_recipe, tmp_path / "whole", *settings)
    if where == "/dev/full":
        gone = os.open(where, os.O_WRONLY)
    else:
        reader, gone = os.pipe()
        os.close(reader)
    status, _ = into("train", language_recipe, "--run", tmp_path / "run", *changes(settings), stderr=gone,
                     stdout=subprocess.DEVNULL)  # fmt: skip
    os.close(gone)
    assert status == 0
    tensors.same(tmp_path / "run" / "train_state.safetensors", whole / "train_state.safetensors")


def test_a_reader_that_leaves_loses_no_work(environment, train, language_recipe, tmp_path):
    """synth train … 2>&1 | head -n 1: only the name of the run, at the end, finds nobody."""
    settings = ["train.steps=40", "train.log_every=1", "train.save_every=40", "train.eval_every=40"]
    whole = train(language_recipe, tmp_path / "whole", *settings)
    command = [os.environ["SYNTH"], "train", language_recipe, "--run", tmp_path / "run", *changes(settings)]
    training = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    training.stdout.readline()
    training.stdout.close()
    assert training.wait(timeout=120) == 1  # the last line, the run's folder, could not be written
    tensors.same(tmp_path / "run" / "train_state.safetensors", whole / "train_state.safetensors")


def test_quiet(synth, language_recipe, language_run, tmp_path):
    done = synth("train", language_recipe, "--run", tmp_path / "run", "--quiet")
    assert done.stderr == "" and done.stdout == f"{tmp_path}/run\n"
    assert synth("average", tmp_path / "run", "--quiet").stderr == ""
    done = synth("compare", language_recipe, "--attention", "V,R", "--run", tmp_path / "all", "--quiet")
    assert done.stderr == "" and "R" in done.stdout
    failed = synth("eval", tmp_path / "none", "--quiet", ok=False)
    assert failed.returncode == 2 and failed.stderr.startswith("synth: error: ")


def test_every_command_can_be_quiet(helps):
    assert len(helps) >= 20
    for command, help in helps.items():
        assert re.search(r"^  --quiet ", help, re.MULTILINE), command


def test_a_line_for_each_line_though_the_model_writes_line_breaks(train, synth, translation_recipe, tmp_path):
    """A vocabulary of characters has the line break, and a model may choose it: here it always does."""
    run = train(translation_recipe, tmp_path / "run", "train.steps=1", "model.output_bias=true")
    path, line_break = run / "model.safetensors", 3  # after the special tokens, the lowest character
    arrays = dict(tensors.read(path))
    arrays["output.bias"] = arrays["output.bias"] * 0
    arrays["output.bias"][line_break] = 100
    tensors.write(path, arrays, {k: v for k, v in tensors.metadata(path).items() if k != "crc32c"})
    for beam in [1, 3]:
        translated = synth("translate", run, "--beam", beam, input="one\ntwo\n").stdout
        assert translated.count("\n") == 2
        assert not translated.strip()  # it wrote nothing else
