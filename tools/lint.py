#!/usr/bin/env python3
"""What the compiler does not say: clang-format, ruff, clang-tidy.

usage: lint.py                   everything
       lint.py changed [BASE]    clang-tidy only on what differs from the commit BASE (default: HEAD~1)
       lint.py --fix             formats all sources instead of checking them

clang-tidy reads sources as they are compiled, several in one unit and without GCC's precompiled headers,
which it cannot read: a build folder of its own (build/lint) says how. A tool that cannot run is a failure.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from build import ROOT, clock

FOLDER = ROOT / "build" / "lint"
PYTHON_FOLDERS = ["python", "tests", "bench", "tools"]
RUFF = [sys.executable, "-m", "ruff"]
UNIT_SOURCES = re.compile(r'#include "([^"]+)"')


def fail(message):
    print(f"lint: error: {message}", file=sys.stderr)
    return False


def run(command, **options):
    return subprocess.run(command, cwd=ROOT, text=True, check=False, **options)


def files(*patterns):
    listed = run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns], stdout=subprocess.PIPE
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def fix():
    done = [
        run(["clang-format", "-i", *files("*.cpp", "*.h", "*.js")]),
        run([*RUFF, "check", "-q", "--fix", *PYTHON_FOLDERS]),
        run([*RUFF, "format", "-q", *PYTHON_FOLDERS]),
    ]
    return all(one.returncode == 0 for one in done)


def check_format():
    done = [
        run(["clang-format", "--dry-run", "--Werror", *files("*.cpp", "*.h", "*.js")]),
        run([*RUFF, "check", "-q", *PYTHON_FOLDERS]),
        run([*RUFF, "format", "-q", "--check", *PYTHON_FOLDERS]),
    ]
    return all(one.returncode == 0 for one in done) or fail("see above; './run format' mends most of it")


def configure():
    """A build folder that is never built, only read."""
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_CXX_COMPILER_LAUNCHER": "",
        "CMAKE_DISABLE_PRECOMPILE_HEADERS": "ON",
        "CMAKE_EXPORT_COMPILE_COMMANDS": "ON",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "12",
        "Python_EXECUTABLE": str(ROOT / ".venv/bin/python"),
        "SYNTHESIZER_PYTHON": "ON",
    }
    command = [
        "cmake",
        "-S",
        ".",
        "-B",
        str(FOLDER),
        "-G",
        "Ninja",
        *(f"-D{k}={v}" for k, v in options.items()),
    ]
    done = run(command, capture_output=True)
    return done.returncode == 0 or fail("cmake cannot configure build/lint\n" + done.stderr[-2000:])


def units():
    """{file to be compiled: the sources in it}; what the build itself writes is left out."""
    entries = json.loads((FOLDER / "compile_commands.json").read_text(encoding="utf-8"))
    result = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"])
        if path.parent.name == "Unity":
            result[path] = [
                pathlib.Path(name) for name in UNIT_SOURCES.findall(path.read_text(encoding="utf-8"))
            ]
        elif FOLDER not in path.parents:
            result[path] = [path]
    return result


def tidy_one(unit):
    command = ["clang-tidy", "-p", str(FOLDER), "--quiet", "--extra-arg=-Wno-unknown-warning-option"]
    return run([*command, str(unit)], capture_output=True)


def tidy(chosen):
    """clang-tidy on the units, as many at a time as there are cores."""
    print(f"lint: clang-tidy on {len(chosen)} units", file=sys.stderr)
    begin, clean, seen = time.monotonic(), True, set()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        running = {pool.submit(tidy_one, unit): unit for unit in chosen}
        for number, future in enumerate(concurrent.futures.as_completed(running), 1):
            done, unit = future.result(), running[future]
            print(f"lint: {number}/{len(chosen)} {unit.parent.parent.stem} {unit.stem}", file=sys.stderr)
            if done.returncode == 0:
                continue
            clean = False
            if done.stdout not in seen:  # headers are in several units
                seen.add(done.stdout)
                print(done.stdout, end="", flush=True)
            if "error:" not in done.stdout:  # it has not come so far as to find anything
                print(done.stderr[-2000:])
    print(f"lint: clang-tidy took {clock(time.monotonic() - begin)}", file=sys.stderr)
    return clean or fail("clang-tidy found something, or could not run: see above")


def changed_files(base):
    """Absolute paths of what differs from the commit, committed or not; None if there is no such commit."""
    done = run(["git", "diff", "--name-only", base, "--"], capture_output=True)
    if done.returncode != 0:
        return None
    new = run(["git", "ls-files", "--others", "--exclude-standard"], stdout=subprocess.PIPE)
    return {ROOT / name for name in done.stdout.splitlines() + new.stdout.splitlines()}


def tidy_changed(base):
    changed = changed_files(base)
    if changed is None:
        print(f"lint: no commit {base} here to compare with: clang-tidy is left out", file=sys.stderr)
        return True
    # A header has no unit of its own: the source beside it is looked at.
    changed |= {path.with_suffix(".cpp") for path in changed if path.suffix == ".h"}
    return tidy([unit for unit, sources in units().items() if changed.intersection(sources)])


def main():
    words = sys.argv[1:]
    if words == ["--fix"]:
        return 0 if fix() else 1
    if words and words[0] != "changed" or len(words) > 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    clean, configured = check_format(), configure()
    if configured:
        clean &= tidy_changed(words[1] if len(words) == 2 else "HEAD~1") if words else tidy(list(units()))
    clean &= configured
    print("lint: clean" if clean else "lint: not clean")
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
