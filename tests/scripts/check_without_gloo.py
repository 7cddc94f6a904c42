#!/usr/bin/env python3
"""Configures the project as if Gloo's headers were missing: it says so, and builds the part that stands in.

usage: check_without_gloo.py PROJECT TORCH_DIR
"""

import pathlib
import subprocess
import sys
import tempfile

import results


def the_project_is_configured_without_gloo():
    project, torch = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        command = ["cmake", "-S", project, "-B", folder, "-G", "Ninja", f"-DTorch_DIR={torch}"]
        done = subprocess.run([*command, "-DGLOO_INCLUDE_DIR="], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "libgloo-dev" in done.stdout, done.stdout
        built = (pathlib.Path(folder) / "build.ninja").read_text(encoding="utf-8")
        assert "no_process_group.cpp" in built and "synthesizer_processes" not in built


if __name__ == "__main__":
    sys.exit(results.run("without_gloo", [the_project_is_configured_without_gloo]))
