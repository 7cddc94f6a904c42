#!/usr/bin/env python3
"""Configures and compiles, and says how far it has come. Speaks on standard error only.

usage: build.py PRESET [TARGET…]

On a terminal one line is kept up to date ("building synth 37/80, about 2 min left"); elsewhere a line is
printed now and then. Says nothing where there is nothing to do. What the compiler printed is in
build/PRESET.log; where something fails, what was said about it is shown.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")
LINES_OF_A_FAILURE = 40


def weight(step):
    """Roughly the seconds that a step takes on one core."""
    if ".gch" in step:
        return 22
    if "Unity/" in step:
        return 8
    if "Building CXX" in step:
        return 4
    return 0.5


def clock(seconds):
    """How long something took."""
    seconds = round(seconds)
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60} min {seconds % 60} s"


def roughly(seconds):
    """How long something may take."""
    if seconds < 50:
        return f"{max(10, round(seconds / 10) * 10)} s"
    return f"{max(1, round(seconds / 60))} min"


class Progress:
    """Says how far a build has come, on one line of a terminal or on lines of a log."""

    def __init__(self, name, steps, out=sys.stderr, clock=time.monotonic):
        self.name, self.out, self.clock = name, out, clock
        self.total, self.work = len(steps), sum(map(weight, steps))
        self.finished, self.done = 0, 0.0
        self.begin = self.said = clock()
        self.terminal = out.isatty()

    def left(self):
        """Seconds, from the speed so far; at first from an assumed one, since the first steps say little."""
        assumed = 20.0 * (os.cpu_count() or 1)
        spent = self.clock() - self.begin
        return (self.work - self.done) * (spent + 20) / (self.done + assumed)

    def step(self, text):
        self.finished += 1
        self.done = min(self.work, self.done + weight(text))
        if self.terminal or self.clock() - self.said > 15:
            self.say()

    def say(self):
        self.said = self.clock()
        line = f"building {self.name} {self.finished}/{self.total}"
        if self.finished < self.total:
            line += f", about {roughly(self.left())} left"
        if self.terminal:  # a line that wraps could not be written over
            line = f"\r{line[: shutil.get_terminal_size().columns - 1]}\x1b[K"
        self.out.write(line if self.terminal else line + "\n")
        self.out.flush()

    def end(self, built=True):
        if self.terminal:
            self.out.write("\r\x1b[K")
        spent = self.clock() - self.begin
        if built and spent >= 10:
            self.out.write(f"built {self.name} in {clock(spent)}\n")
        self.out.flush()


def configure(preset, folder, log):
    """Writes build.ninja, or brings it up to date: what it says is asked before anything is compiled."""
    if (folder / "build.ninja").exists():
        command = ["ninja", "-C", str(folder), "build.ninja"]
    else:
        command = ["cmake", "--preset", preset, f"-DPython_EXECUTABLE={ROOT / '.venv/bin/python'}"]
    subprocess.run(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=True)


def jobs():
    """One more than there are cores, if there is memory for as many compilers."""
    cores = len(os.sched_getaffinity(0))
    memory = re.search(r"MemAvailable: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    most = int(memory[1]) // 1_500_000 if memory else cores + 1
    return max(1, min(cores + 1, most))


def pending(folder, ninja, environment):
    """The steps that would be run. Asked of a copy of build.ninja: about the file itself ninja would only say
    that it has to look first whether CMake must write it anew."""
    shutil.copyfile(folder / "build.ninja", folder / "plan.ninja")
    command = [*ninja, "-f", "plan.ninja", "-n"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return [match[3] for match in map(STEP.match, done.stdout.splitlines()) if match]


def compile_all(folder, targets, name, log):
    ninja = ["ninja", "-C", str(folder), f"-j{jobs()}", *targets]
    environment = {**os.environ, "NINJA_STATUS": "[%f/%t] "}
    steps = pending(folder, ninja, environment)
    progress = Progress(name, steps)
    if steps:
        progress.say()
    built = False
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    try:
        with subprocess.Popen(ninja, env=environment, **streams) as build:
            for line in build.stdout:
                log.write(line)
                if (match := STEP.match(line)) and "Re-checking globbed" not in line:
                    progress.total = int(match[2])
                    progress.step(match[3])
        built = build.returncode == 0
    finally:  # also where it is interrupted: the terminal's line is cleared
        progress.end(built)
    if not built:
        raise subprocess.CalledProcessError(build.returncode, ninja)


def show_failure(path):
    """The compiler's own words about the first thing that failed, or the end of the log."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    # (What CMake has to say comes before ninja's line.)
    named = (i for i, line in enumerate(lines) if line.startswith("FAILED: ") and "build.ninja" not in line)
    failed = next(named, None)
    shown = lines[-LINES_OF_A_FAILURE:] if failed is None else lines[failed : failed + LINES_OF_A_FAILURE]
    width = max(200, shutil.get_terminal_size().columns)
    for line in shown:
        print("    " + line[:width], file=sys.stderr)
    print(f"run: error: the build failed; the whole log: {path}", file=sys.stderr)


def build(preset, targets, name=None):
    """Compiles the targets (none named: all of them; None: only configures); the exit status."""
    folder, path = ROOT / "build" / preset, ROOT / "build" / f"{preset}.log"
    folder.parent.mkdir(exist_ok=True)
    try:
        with open(path, "w", encoding="utf-8") as log:
            configure(preset, folder, log)
            if targets is not None:
                compile_all(folder, targets, name or " ".join(targets) or "everything", log)
    except subprocess.CalledProcessError:
        show_failure(path)
        return 1
    except KeyboardInterrupt:
        print("run: interrupted; what was compiled is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(build(sys.argv[1], sys.argv[2:]))
