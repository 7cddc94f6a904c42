"""With an open pipe every line is answered as it comes; whole files are worked on in large batches."""

import gzip
import os
import select
import subprocess

import pytest


@pytest.fixture
def conversation(environment):
    """A program whose standard input stays open."""
    running = []

    def start(*arguments):
        command = [os.environ["SYNTH"], *map(str, arguments)]
        pipes = dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE)
        process = subprocess.Popen(command, env=environment, **pipes)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def answer(process, seconds=30):
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    assert ready, "no answer came"
    return process.stdout.readline().decode()


def test_each_line_is_answered(conversation, synth, numbers_run):
    words = ["twenty-one", "ninety-nine", "four hundred"]
    expected = synth("translate", numbers_run, "--beam", "1", input="".join(w + "\n" for w in words)).stdout
    process = conversation("translate", numbers_run, "--beam", "1")
    for word, line in zip(words, expected.splitlines(keepends=True)):
        process.stdin.write(f"{word}\n".encode())
        process.stdin.flush()
        assert answer(process) == line
    process.stdin.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["labels", "--json"])
def test_each_line_is_classified(conversation, synth, class_run, form):
    texts = ["red bird runs", "blue stone", "green house walks"]
    expected = synth("classify", class_run, *form, input="".join(text + "\n" for text in texts)).stdout
    process = conversation("classify", class_run, *form)
    for text, line in zip(texts, expected.splitlines(keepends=True)):
        process.stdin.write(f"{text}\n".encode())
        process.stdin.flush()
        assert answer(process) == line
    process.stdin.close()
    assert process.wait(timeout=30) == 0


def test_half_a_line_is_waited_for(conversation, synth, numbers_run):
    expected = synth("translate", numbers_run, "--beam", "1", input="one\ntwenty-one\n").stdout.splitlines(
        True
    )
    process = conversation("translate", numbers_run, "--beam", "1")
    process.stdin.write(b"one\ntwenty-")
    process.stdin.flush()
    assert answer(process) == expected[0]
    process.stdin.write(b"one\n")
    process.stdin.flush()
    assert answer(process) == expected[1]


def test_gzip_through_a_pipe(synth, numbers_run):
    text = "twenty-one\nninety-nine\n" * 50
    plain = synth("translate", numbers_run, "--beam", "1", input=text).stdout
    assert synth("translate", numbers_run, "--beam", "1", input=gzip.compress(text.encode())).stdout == plain


@pytest.mark.parametrize("text", ["", "\n", "one", "one\n\ntwo"])
def test_ends_of_all_kinds(synth, numbers_run, text):
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "")
    assert synth("translate", numbers_run, "--beam", "1", input=text).stdout.count("\n") == count
