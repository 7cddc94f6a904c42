#!/usr/bin/env python3
"""Checks the program that adds up test results: it must not call a failure, or nothing at all, a success.

usage: check_count_tests.py PATH-OF-COUNT_TESTS
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile

import results

PASSED = '<testcase classname="A" name="good"/>'
FAILED = '<testcase classname="A" name="bad"><failure message="no"/></testcase>'
BROKEN = '<testcase classname="A" name="worse"><error message="no"/></testcase>'
SKIPPED = '<testcase classname="A" name="later"><skipped/></testcase>'
DISABLED = '<testcase classname="A" name="off" status="notrun" result="suppressed"/>'


def counted(files):
    """(exit status, lines printed) for files given as {name: test cases}."""
    with tempfile.TemporaryDirectory() as folder:
        for name, cases in files.items():
            text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
            pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, sys.argv[1], folder], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout.splitlines()


def adds_up_files():
    assert counted({"one.xml": PASSED * 2, "two.xml": PASSED}) == (0, ["3 passed, 0 failed"])


def names_what_failed():
    status, lines = counted({"one.xml": PASSED + FAILED + BROKEN})
    assert status == 1 and lines[-1] == "1 passed, 2 failed", lines
    assert any("A.bad" in line for line in lines[:-1]) and any("A.worse" in line for line in lines[:-1]), (
        lines
    )


def counts_what_was_skipped():
    assert counted({"one.xml": PASSED + SKIPPED + DISABLED}) == (0, ["1 passed, 0 failed, 2 skipped"])


def a_group_that_wrote_nothing_is_a_failure():
    sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
    import count_tests

    with tempfile.TemporaryDirectory() as folder:
        for name, cases in {"one": PASSED, "two": FAILED}.items():
            text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
            pathlib.Path(folder, f"{name}.xml").write_text(text, encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = count_tests.report(folder, ["two", "three"])
    lines = said.getvalue().splitlines()
    assert status == 1 and lines[-1] == "1 passed, 2 failed", lines
    assert "failed: three: ended with an error" in lines


def nothing_is_a_failure():
    status, lines = counted({})
    assert status == 1 and lines[-1] == "0 passed, 0 failed", lines


def an_empty_suite_is_a_failure():
    status, lines = counted({"one.xml": ""})
    assert status == 1 and lines[-1] == "0 passed, 1 failed", lines


def a_cut_off_file_is_a_failure():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "one.xml").write_text("<testsuites><testsuite>", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, sys.argv[1], folder], capture_output=True, text=True, check=False
        )
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "0 passed, 1 failed", done.stdout


if __name__ == "__main__":
    sys.exit(
        results.run(
            "count_tests",
            [
                adds_up_files,
                names_what_failed,
                counts_what_was_skipped,
                a_group_that_wrote_nothing_is_a_failure,
                nothing_is_a_failure,
                an_empty_suite_is_a_failure,
                a_cut_off_file_is_a_failure,
            ],
        )
    )
