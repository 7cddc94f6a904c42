#!/usr/bin/env python3
"""Builds and runs tests, several groups at a time, and counts them.

usage: test.py PRESET [list | GROUP…]

A group is a test program or a file of Python tests; `list` names them. A name stands for all groups that
begin with it: `cli` for cli_compare, cli_resume and the others. Without one, everything runs. Builds only
what is asked for. The last line is the count; the exit status is 1 where anything failed.
"""

import os
import re
import shutil
import subprocess
import sys
import time

import count_tests

import build

# What runs under ThreadSanitizer: whatever has threads of its own. LibTorch's OpenMP threads are switched off
# there: its OpenMP library is not instrumented, so that every parallel loop would be reported.
THREADED = ["threads_test", "text_test", "runtime_test", "serve_test", "train_test"]
THREAD_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "TSAN_OPTIONS": f"halt_on_error=0 suppressions={build.ROOT / 'tests/threads/suppressions.txt'}",
}
RESULT = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (\S+) \.* *(.*)$")


def groups_of(folder):
    """{group: the targets it needs}, as CMake wrote it (tests/CMakeLists.txt)."""
    lines = (folder / "tests" / "groups.txt").read_text(encoding="utf-8").splitlines()
    return {words[0]: words[1:] for words in map(str.split, lines) if words}


def chosen(names, groups):
    """The groups that the names stand for, or None where one stands for nothing."""
    result = {}
    for name in names:
        found = [g for g in groups if g == name or g.startswith((name + "_", name + "."))]
        if not found:
            print(f"run: error: no test group '{name}'; './run test list' names them", file=sys.stderr)
            return None
        result.update({g: groups[g] for g in found})
    return result


def run(preset, folder, groups):
    """Runs the groups in parallel, a line for each as it ends. Returns the names of those that failed, or
    None where ctest itself did."""
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    pattern = "^(" + "|".join(map(re.escape, groups)) + ")$"
    command = [
        "ctest",
        "--test-dir",
        str(folder),
        "--output-on-failure",
        f"-j{len(os.sched_getaffinity(0)) + 1}",
    ]
    # What LibTorch keeps until the program ends is not ours to call a leak; and too much memory is to be
    # refused as it is without a sanitizer, by an exception.
    asan = "detect_leaks=0:allocator_may_return_null=1"
    environment = {"ASAN_OPTIONS": asan, **os.environ, "RESULTS": str(results)}
    if preset == "thread":
        environment |= THREAD_ENVIRONMENT
    log = results / "ctest.log"
    failed = []
    with open(log, "w", encoding="utf-8") as file:
        tests = subprocess.Popen([*command, "-R", pattern], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, errors="replace")  # fmt: skip
        for line in tests.stdout:
            file.write(line)
            if match := RESULT.match(line):
                print(f"{match[1]:>3}/{match[2]} {match[3]:<28} {match[4].strip()}", flush=True)
                if not match[4].startswith(("Passed", "***Skipped")):
                    failed.append(match[3])
        status = tests.wait()
    if status != 0:
        print(log.read_text(encoding="utf-8"))
        print(f"the whole log: {log}")
    return failed if failed or status == 0 else None


def main():
    preset, names = sys.argv[1], sys.argv[2:]
    folder = build.ROOT / "build" / preset
    begin = time.monotonic()
    if status := build.build(preset, None):  # CMake writes the list of groups
        return status
    groups = groups_of(folder)
    if names == ["list"]:
        print("\n".join(groups))
        return 0
    if preset == "thread" and not names:
        names = THREADED
    if names:
        groups = chosen(names, groups)
        if groups is None:
            return 2
    targets = sorted({target for needed in groups.values() for target in needed}) if names else []
    if targets or not names:  # a script needs nothing, and no targets would be all of them
        if status := build.build(preset, targets, name=" ".join(names) or "everything"):
            return status
    built = time.monotonic()
    print(f"running {len(groups)} groups of tests", flush=True)
    failed = run(preset, folder, groups)
    setup = float(os.environ.get("SETUP_SECONDS", 0))
    parts = [("set-up", setup), ("compiling", built - begin), ("testing", time.monotonic() - built)]
    said = ", ".join(f"{name} {build.clock(seconds)}" for name, seconds in parts if seconds >= 1)
    print(f"times: {said}, in all {build.clock(sum(seconds for _, seconds in parts))}")
    counted = count_tests.report(folder / "results", failed or [])
    return 0 if failed == [] and counted == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
