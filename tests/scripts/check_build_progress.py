#!/usr/bin/env python3
"""Checks what the build says: how far it has come, what failed, and nothing where there is nothing to do; and
what is built, tested and looked at.

usage: check_build_progress.py FOLDER-OF-TOOLS
"""

import contextlib
import importlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import results

TOOLS = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(TOOLS))
sys.dont_write_bytecode = True
build, test, lint = map(importlib.import_module, ["build", "test", "lint"])

COMPILING = "Building CXX object src/a.cpp.o"
GROUPS = {
    "cli_compare": ["synth"],
    "cli_resume": ["synth"],
    "clip_test": ["clip_test"],
    "docs": ["synth"],
    "kernel_test": ["kernel_test"],
    "kernel_test_SSE4": ["kernel_test"],
    "include_order": [],
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


def said(seconds_a_step, steps, out, built=True, name="synth"):
    """What is said during a build of so many steps."""
    clock = Clock()
    progress = build.Progress(name, [COMPILING] * steps, out=out, clock=clock)
    progress.say()
    for _ in range(steps):
        clock.time += seconds_a_step
        progress.step(COMPILING)
    progress.end(built)
    return out.getvalue()


def seconds_in(text):
    number, unit = text.split()
    return int(number) * {"s": 1, "min": 60}[unit]


def durations_are_said_in_minutes_and_seconds():
    wanted = {0: "0 s", 9.6: "10 s", 59.4: "59 s", 59.6: "1 min 0 s", 61: "1 min 1 s", 3600: "60 min 0 s"}
    assert {seconds: build.clock(seconds) for seconds in wanted} == wanted


def estimates_are_round():
    wanted = {
        0: "10 s",
        3: "10 s",
        16: "20 s",
        49: "50 s",
        50: "1 min",
        70: "1 min",
        100: "2 min",
        601: "10 min",
    }
    assert {seconds: build.roughly(seconds) for seconds in wanted} == wanted


def a_log_gets_a_line_every_fifteen_seconds():
    lines = said(4, 100, io.StringIO()).splitlines()
    assert "\r" not in "".join(lines) and "\x1b" not in "".join(lines), lines
    *going, built = lines
    assert built == "built synth in 6 min 40 s", built
    counts = []
    for line in going:
        match = re.fullmatch(r"building synth (\d+)/100(, about (\d+ s|\d+ min) left)?", line)
        assert match and bool(match[2]) == (int(match[1]) < 100), line
        counts.append(int(match[1]))
    # Four seconds a step: the first to end more than fifteen seconds later is the fourth.
    assert counts == list(range(0, 101, 4)), counts


def a_quick_build_says_that_it_began():
    assert re.fullmatch(r"building synth 0/3, about \d+ s left\n", said(3, 3, io.StringIO()))
    assert said(5, 2, io.StringIO()).endswith("built synth in 10 s\n")


def a_terminal_has_one_line_that_is_kept_up_to_date():
    text = said(1, 30, Terminal())
    assert text.count("\n") == 1 and text.endswith("\r\x1b[Kbuilt synth in 30 s\n"), text
    written = text.split("\r")
    assert written[0] == "" and written[1].startswith("building synth 0/30, about "), written
    assert written[-2] == "building synth 30/30\x1b[K" and len(written) == 1 + 31 + 1, written
    assert all(line.endswith("\x1b[K") for line in written[1:-1]), written
    assert said(0.1, 30, Terminal()).endswith("\r\x1b[K"), "nothing stays of a quick build"


def a_long_name_does_not_wrap():
    width = shutil.get_terminal_size().columns
    for line in said(1, 3, Terminal(), name="x" * 1000).split("\r")[1:-1]:
        assert len(line.removesuffix("\x1b[K")) < width, line


def a_failed_build_is_not_called_built():
    assert "built" not in said(20, 3, io.StringIO(), built=False)
    assert said(20, 3, Terminal(), built=False).endswith("\r\x1b[K")


def the_estimate_falls_to_nothing():
    for seconds_a_step in [0.1, 2, 30]:
        clock = Clock()
        progress = build.Progress("synth", [COMPILING] * 200, out=io.StringIO(), clock=clock)
        left = []
        for _ in range(200):
            clock.time += seconds_a_step
            progress.step(COMPILING)
            left.append(progress.left())
        assert min(left) >= 0 and left[-1] == 0, left
        half = left[100:]
        assert half == sorted(half, reverse=True), half
        # Half-way the speed is known.
        assert 0.4 < left[99] / (100 * seconds_a_step) < 2.5 or seconds_a_step < 1, left[99]
        # More steps than were foreseen.
        progress.step(COMPILING)
        assert progress.left() == 0


def the_estimates_said_fall():
    estimates = re.findall(r"about (\d+ s|\d+ min) left", said(8, 100, io.StringIO()))
    seconds = [seconds_in(text) for text in estimates]
    assert seconds[len(seconds) // 3 :] == sorted(seconds[len(seconds) // 3 :], reverse=True), seconds
    assert seconds[-1] == 10 and seconds[0] > 10, seconds


def no_steps_are_no_trouble():
    out = io.StringIO()
    progress = build.Progress("synth", [], out=out, clock=Clock())
    assert progress.left() == 0
    progress.end()
    assert out.getvalue() == ""


@contextlib.contextmanager
def project(rules):
    """A folder laid out as the build's, with rules for ninja instead of CMake's."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve() / "a project"
        folder = root / "build" / "release"
        folder.mkdir(parents=True)
        (folder / "build.ninja").write_text(rules, encoding="utf-8")
        yield root


def built(root, targets=()):
    """(exit status, standard output, lines of standard error) of a build in another process."""
    code = (
        "import pathlib, sys; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1]); import build; "
    )
    code += "build.ROOT = pathlib.Path(sys.argv[2]); sys.exit(build.build('release', sys.argv[3:]))"
    command = [sys.executable, "-c", code, str(TOOLS), str(root), *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr.splitlines()


RULES = """
rule touch
  command = touch $out
  description = Building CXX object $out
rule fail
  command = echo "a.cpp:3: error: $out is wrong" && echo "of no use" && exit 1
  description = Building CXX object $out
build good: touch
build bad: fail
build after: touch bad
build build.ninja: phony
default good bad after
"""


def a_failing_step_is_shown():
    with project(RULES) as root:
        status, out, lines = built(root)
        assert status == 1 and out == "", (status, out)
        assert lines[0].startswith("building everything 0/3, about "), lines
        assert lines[1].startswith("    FAILED: ") and lines[1].split()[-1] == "bad", lines
        assert "    a.cpp:3: error: bad is wrong" in lines and "    of no use" in lines, lines
        log = root / "build" / "release.log"
        assert lines[-1] == f"run: error: the build failed; the whole log: {log}", lines
        assert "a.cpp:3: error: bad is wrong" in log.read_text(encoding="utf-8")


def only_what_is_asked_for_is_built():
    with project(RULES) as root:
        status, out, lines = built(root, ["good"])
        assert (status, out) == (0, "") and lines[0].startswith("building good 0/1, about "), lines
        assert (root / "build" / "release" / "good").exists() and len(lines) == 1, lines


def nothing_to_do_is_nothing_said():
    with project(RULES) as root:
        assert built(root, ["good"])[0] == 0
        assert built(root, ["good"]) == (0, "", [])


def an_unknown_target_is_said():
    with project(RULES) as root:
        status, _, lines = built(root, ["god"])
        assert status == 1 and "god" in " ".join(lines[:-1]) and "release.log" in lines[-1], lines


LISTS = """cmake_minimum_required(VERSION 3.20)
project(tiny NONE)
file(GLOB names CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} *.name)
file(WRITE ${CMAKE_BINARY_DIR}/names.txt "${names}")
"""


@contextlib.contextmanager
def cmake_project():
    """One that CMake configures, without a compiler."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()
        (root / "CMakeLists.txt").write_text(LISTS, encoding="utf-8")
        preset = '{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}'
        text = f'{{"version": 3, "configurePresets": [{preset}]}}'
        (root / "CMakePresets.json").write_text(text, encoding="utf-8")
        before, build.ROOT = build.ROOT, root
        try:
            yield root
        finally:
            build.ROOT = before


def what_cmake_wrote_is_brought_up_to_date():
    """A list of test groups from before a file was added would leave its tests out."""
    with cmake_project() as root:
        for names in ["", "one.name", "one.name;two.name"]:
            for name in filter(None, names.split(";")):
                (root / name).touch()
            assert build.build("release", None) == 0
            assert (root / "build" / "release" / "names.txt").read_text(encoding="utf-8") == names


def what_cmake_complains_of_is_shown():
    with cmake_project() as root:
        for number in [1, 2]:  # before there is anything, and in a build folder
            with open(root / "CMakeLists.txt", "a", encoding="utf-8") as file:
                file.write('message(FATAL_ERROR "there is no such thing")\n')
            os.utime(root / "CMakeLists.txt", (4e9, 4e9))
            with contextlib.redirect_stderr(io.StringIO()) as err:
                assert build.build("release", []) == 1, number
            assert "there is no such thing" in err.getvalue() and "release.log" in err.getvalue(), (
                err.getvalue()
            )
            (root / "CMakeLists.txt").write_text(LISTS, encoding="utf-8")
            assert build.build("release", None) == 0, number


def a_name_stands_for_groups():
    for names, wanted in [
        (["cli"], ["cli_compare", "cli_resume"]),
        (["cli_resume"], ["cli_resume"]),
        (["kernel_test"], ["kernel_test", "kernel_test_SSE4"]),
        (["docs", "cli_compare", "cli"], ["docs", "cli_compare", "cli_resume"]),
        (["include_order"], ["include_order"]),
    ]:
        assert test.chosen(names, GROUPS) == {group: GROUPS[group] for group in wanted}, names


def an_unknown_group_is_refused():
    for names in [["clo"], ["cli", "nothing"], ["cli_"], [""], ["CLI"]]:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            assert test.chosen(names, GROUPS) is None, names
        assert f"no test group '{names[-1]}'" in err.getvalue() and "./run test list" in err.getvalue()


def what_is_asked_for(words):
    """(exit status, what was built, which groups were run) of test.py with these words."""
    asked = {"built": [], "run": []}

    def build_them(preset, targets, name=None):
        asked["built"].append(targets)
        return 0

    def run(preset, folder, groups):
        asked["run"] = list(groups)
        return []

    kept = build.build, build.ROOT, test.run, test.count_tests.report, sys.argv
    with tempfile.TemporaryDirectory() as name:
        build.ROOT = pathlib.Path(name)
        folder = build.ROOT / "build" / "release" / "tests"
        folder.mkdir(parents=True)
        lines = "".join(f"{group} {' '.join(targets)}\n" for group, targets in GROUPS.items())
        (folder / "groups.txt").write_text(lines, encoding="utf-8")
        build.build, test.run, test.count_tests.report = build_them, run, lambda folder, failed: 0
        sys.argv = ["test.py", "release", *words]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                status = test.main()
        finally:
            build.build, build.ROOT, test.run, test.count_tests.report, sys.argv = kept
    assert asked["built"][0] is None, "the list of groups comes first"
    return status, asked["built"][1:], asked["run"]


def tests_build_only_what_they_need():
    assert what_is_asked_for([]) == (0, [[]], list(GROUPS))
    assert what_is_asked_for(["kernel_test", "docs"]) == (
        0,
        [["kernel_test", "synth"]],
        ["kernel_test", "kernel_test_SSE4", "docs"],
    )
    assert what_is_asked_for(["include_order"]) == (0, [], ["include_order"])
    assert what_is_asked_for(["nothing"]) == (2, [], [])
    assert what_is_asked_for(["list"]) == (0, [], [])


def only_what_changed_is_looked_at():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name).resolve()

        def git(*words):
            who = ["-c", "user.name=nobody", "-c", "user.email=nobody"]
            subprocess.run(["git", *who, *words], cwd=root, env=environment, capture_output=True, check=True)

        git("init")
        for file in ["old", "committed", "edited"]:
            (root / file).touch()
            git("add", file)
            git("commit", "-m", file)
        (root / "edited").write_text("more", encoding="utf-8")
        (root / "new").touch()
        kept = lint.ROOT, dict(os.environ)
        lint.ROOT = root
        os.environ.clear()
        os.environ.update(environment)
        try:
            assert lint.changed_files("HEAD") == {root / "edited", root / "new"}
            assert lint.changed_files("HEAD~2") == {root / "committed", root / "edited", root / "new"}
            assert lint.changed_files("HEAD~9") is None
            assert lint.changed_files("old") is None, "a file is no commit"
        finally:
            lint.ROOT = kept[0]
            os.environ.update(kept[1])


if __name__ == "__main__":
    sys.exit(
        results.run(
            "build_progress",
            [
                durations_are_said_in_minutes_and_seconds,
                estimates_are_round,
                a_log_gets_a_line_every_fifteen_seconds,
                a_quick_build_says_that_it_began,
                a_terminal_has_one_line_that_is_kept_up_to_date,
                a_long_name_does_not_wrap,
                a_failed_build_is_not_called_built,
                the_estimate_falls_to_nothing,
                the_estimates_said_fall,
                no_steps_are_no_trouble,
                a_failing_step_is_shown,
                only_what_is_asked_for_is_built,
                nothing_to_do_is_nothing_said,
                an_unknown_target_is_said,
                what_cmake_wrote_is_brought_up_to_date,
                what_cmake_complains_of_is_shown,
                a_name_stands_for_groups,
                an_unknown_group_is_refused,
                tests_build_only_what_they_need,
                only_what_changed_is_looked_at,
            ],
        )
    )
