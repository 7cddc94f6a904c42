#!/usr/bin/env python3
"""Fuzzes one entry point with libFuzzer and sanitizers, or the kernel with random cases.

usage: fuzz.py [TARGET [--seconds N] [--runs N] [--file F]]
       fuzz.py kernel [--seconds N] [--cases N] [--seed N]

Without a TARGET it lists them. An input that is a fault (a crash, a hang over one second, more than 64 MB
beyond its size) is kept in build/fuzz/found/TARGET; --file F repeats one. New inputs that reach further are
kept in build/fuzz/corpus/TARGET for the next time. The exit status is 1 where a fault was found.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

import build

LIST = build.ROOT / "tests/fuzz/targets.inc"
FOLDER = build.ROOT / "build/fuzz"
KERNEL = (
    "attend and convolve on random shapes and numbers, against double precision, on every instruction set"
)
LONGEST_INPUT = 4096
STATISTIC = re.compile(r"^stat::(\w+): +(\d+)$")


def targets():
    """{name: (program, what it reads)}, as tests/fuzz/targets.inc lists them."""
    lines = re.findall(r'^(PLAIN|TENSORS)\((\w+), "(.*)"\)$', LIST.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: ("fuzz_" + kind.lower(), what) for kind, name, what in lines}


def show(known):
    print("usage: ./run fuzz TARGET [--seconds N] [--runs N] [--file F]\n")
    for name, (_, what) in known.items():
        print(f"  {name:<20} {what}")
    print(f"  {'kernel':<20} {KERNEL}")


def fuzz(name, program, options):
    """Builds the program, runs it, and says what came of it; the exit status."""
    if status := build.build("fuzz", [program]):
        return status
    kept, found = FOLDER / "corpus" / name, FOLDER / "found" / name
    for folder in (kept, found):
        folder.mkdir(parents=True, exist_ok=True)
    command = [str(FOLDER / "tests/fuzz" / program)]
    if options.file:
        command += [options.file]
    else:
        seeds = build.ROOT / "tests/fuzz/corpus" / name
        command += [str(kept), str(seeds), f"-max_total_time={options.seconds}", f"-runs={options.runs}"]
    command += [
        "-timeout=1",
        f"-max_len={LONGEST_INPUT}",
        "-malloc_limit_mb=64",  # one allocation; fuzzer.cpp watches the sum
        "-rss_limit_mb=2048",  # with what the sanitizers need themselves
        "-print_final_stats=1",
        "-verbosity=0",
        f"-artifact_prefix={found}/",
    ]
    environment = {
        **os.environ,
        "FUZZ_TARGET": name,
        "OMP_NUM_THREADS": "1",
        # What LibTorch keeps until the end is no leak of ours; a refused allocation ends in an exception.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16",
    }
    before = set(found.iterdir())
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    done = subprocess.run(command, env=environment, check=False, **streams)
    statistics = {
        match[1]: int(match[2]) for match in map(STATISTIC.match, done.stdout.splitlines()) if match
    }
    if done.returncode == 0:
        if options.file:
            print(f"fuzz: {name}: {options.file} is read or refused as it should be")
        else:
            count, speed = (
                statistics.get("number_of_executed_units", 0),
                statistics.get("average_exec_per_sec", 0),
            )
            print(f"fuzz: {name}: {count:,} inputs without a fault, {speed:,} per second")
        return 0
    print(done.stdout[-8000:])
    for path in sorted(set(found.iterdir()) - before):
        path = path.relative_to(build.ROOT)
        print(f"fuzz: {name}: a fault; repeat it with ./run fuzz {name} --file {path}")
        print(f"fuzz: when it is mended, keep it: cp {path} tests/fuzz/corpus/{name}/found-WHAT")
    return 1


def kernel(options):
    """The kernel's random cases: a program of the release build, without sanitizers."""
    if status := build.build("release", ["fuzz_kernel"]):
        return status
    command = [str(build.ROOT / "build/release/tests/fuzz/fuzz_kernel")]
    for option in ("seconds", "cases", "seed"):
        if getattr(options, option) is not None:
            command += [f"--{option}", str(getattr(options, option))]
    return subprocess.run(command, check=False).returncode


def path_of_caller(text):
    """./run changes the folder: a path is meant from where the user stands."""
    return pathlib.Path(os.environ.get("CALLER", "."), text).resolve()


def main():
    known = targets()
    if len(sys.argv) == 1:
        show(known)
        return 0
    parser = argparse.ArgumentParser(prog="./run fuzz", description="Fuzzes one entry point.")
    parser.add_argument("target", metavar="TARGET", help="./run fuzz alone lists them")
    parser.add_argument("--seconds", type=int, metavar="N", help="how long (default 60)")
    parser.add_argument("--runs", type=int, default=-1, metavar="N", help="at most so many inputs")
    parser.add_argument("--file", type=path_of_caller, metavar="F", help="one input, to repeat a fault")
    parser.add_argument("--cases", type=int, metavar="N", help="kernel: at most so many cases")
    parser.add_argument("--seed", type=int, metavar="N", help="kernel: this case, to repeat a fault")
    options = parser.parse_args()
    if options.target == "kernel":
        return kernel(options)
    if options.target not in known:
        print(
            f"run: error: no target '{options.target}' to fuzz; './run fuzz' alone lists them",
            file=sys.stderr,
        )
        return 2
    if options.file and not options.file.is_file():
        print(f"run: error: there is no file {options.file}: name an input to repeat", file=sys.stderr)
        return 2
    if options.seconds is None:
        options.seconds = 0 if options.runs >= 0 else 60
    return fuzz(options.target, known[options.target][0], options)


if __name__ == "__main__":
    sys.exit(main())
