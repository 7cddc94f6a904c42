#!/usr/bin/env python3
"""Checks that modules include only the modules that CONTRIBUTING.md allows.

usage: check_includes.py FOLDER-OF-SOURCES [FOLDER=MODULE …]

FOLDER=MODULE: a folder elsewhere that is a module too (the Python bindings).
"""

import pathlib
import re
import sys
import tempfile

import results

# Module: the modules it may include, beside itself. A name with a file's ending allows that file alone.
ALLOWED = {
    "base": [],
    "runtime": ["base"],
    "attention": ["base", "runtime", "attention/kernel"],
    "attention/kernel": ["base", "attention/logits.h"],
    "model": ["base", "attention", "attention/kernel"],
    "text": ["base"],
    "metric": ["base", "text"],
    "run": ["base"],
    "decode": ["base", "model"],
    "train": ["base", "runtime", "attention", "attention/kernel", "model", "text", "run"],
    "task": [
        "base",
        "runtime",
        "attention",
        "attention/kernel",
        "model",
        "text",
        "metric",
        "run",
        "decode",
        "train",
    ],
    "picture": ["base"],
    "inspect": ["base", "attention", "model", "text", "metric", "run", "decode", "train", "task", "picture"],
    "interop": ["base", "attention", "model", "text", "run", "decode", "train", "task"],
    "report": ["base", "metric", "run"],
    "compare": ["base", "runtime", "text", "metric", "run", "train", "task", "inspect", "report"],
    "bench": [
        "base",
        "runtime",
        "attention",
        "attention/kernel",
        "model",
        "text",
        "decode",
        "train",
        "report",
    ],
    "serve": ["base", "runtime", "run", "model", "text", "decode", "task", "inspect", "report"],
    "cli": None,  # everything
    "python": ["base", "runtime", "attention", "attention/kernel", "model", "metric", "decode", "task"],
}
WITHOUT_TENSORS = {"base", "text", "metric", "run", "picture", "report"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCES = {".h", ".hpp", ".cpp", ".cc", ".inl"}


def module_of(path):
    """The module of a file or of an include such as attention/kernel/tile.h; None outside every folder."""
    folders = path.split("/")[:-1]
    for depth in (2, 1):
        if "/".join(folders[:depth]) in ALLOWED:
            return "/".join(folders[:depth])
    return folders[0] if folders else None


def allowed(module, included):
    """Whether a file of the module may include that path."""
    wanted = module_of(included)
    if wanted == module or ALLOWED[module] is None:
        return True
    return wanted in ALLOWED[module] or included in ALLOWED[module]


def violations(folder, as_module=None):
    """One line for each include that goes where it may not, and for each folder that is not a module."""
    folder = pathlib.Path(folder)
    found = []
    for file in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
        name = file.relative_to(folder).as_posix()
        module = as_module or module_of(name)
        if module not in ALLOWED:
            found.append(f"{name}: '{module}' is not a module")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, path = match.groups()
            tensors = quote == "<" and path.split("/")[0] in ("torch", "ATen", "c10")
            if tensors and module in WITHOUT_TENSORS:
                found.append(f"{name}:{number}: {module} does without tensors, yet includes {path}")
            if quote == '"' and "/" in path and module_of(path) in ALLOWED and not allowed(module, path):
                found.append(f"{name}:{number}: {module} may not include {path}")
    return found


def violations_of(files):
    """The same for files given as {path: text}."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return violations(folder)


def the_sources_keep_to_the_table():
    folders = [(sys.argv[1], None)] + [tuple(a.split("=", 1)) for a in sys.argv[2:]]
    files = [p for folder, _ in folders for p in pathlib.Path(folder).rglob("*") if p.suffix in SOURCES]
    assert len(files) > 10, f"only {len(files)} sources under {folders}"
    found = [line for folder, module in folders for line in violations(folder, module)]
    assert not found, "\n" + "\n".join(found)


def upward_includes_are_found():
    for file, include in [
        ("attention/multi_head_attention.cpp", "model/block.h"),
        ("attention/kernel/tile.cpp", "attention/multi_head_attention.h"),
        ("attention/kernel/deep/tile.cpp", "attention/multi_head_attention.h"),
        ("model/block.cpp", "text/batch.h"),
        ("text/batch.cpp", "attention/spec.h"),
        ("metric/bleu.cpp", "model/block.h"),
        ("decode/beam.cpp", "train/loop.h"),
        ("train/loop.cpp", "task/translation.h"),
        ("report/page.cpp", "attention/attention.h"),
        ("run/settings.cpp", "train/options.h"),
        ("task/training.cpp", "inspect/tables.h"),
        ("picture/canvas.cpp", "inspect/tables.h"),
        ("serve/engine.cpp", "cli/main.h"),
        ("python/bindings.cpp", "train/loop.h"),
    ]:
        found = violations_of({file: f'// why\n#include "{include}"\n'})
        assert len(found) == 1 and found[0].startswith(f"{file}:2:") and include in found[0], (file, found)


def includes_that_are_allowed_are_not():
    for file, include in [
        ("attention/multi_head_attention.cpp", "attention/multi_head_attention.h"),
        ("attention/multi_head_attention.cpp", "attention/kernel/attend.h"),
        ("attention/kernel/tile.cpp", "attention/kernel/tile.h"),
        ("attention/kernel/attend.h", "attention/logits.h"),
        ("attention/kernel/problem.cpp", "base/error.h"),
        ("model/block.cpp", "attention/attention.h"),
        ("task/translation.cpp", "decode/beam.h"),
        ("cli/main.cpp", "serve/engine.h"),
        ("text/batch.cpp", "nlohmann/json.hpp"),
    ]:
        assert violations_of({file: f'#include "{include}"\n'}) == [], (file, include)


def tensors_stay_out_of_modules_without_them():
    assert len(violations_of({"text/batch.h": "#include <ATen/ATen.h>\n"})) == 1
    assert violations_of({"attention/heads.h": "#include <ATen/ATen.h>\n"}) == []


def folders_that_are_no_module_are_found():
    assert len(violations_of({"cellar/wine.h": "\n"})) == 1


if __name__ == "__main__":
    sys.exit(
        results.run(
            "include_order",
            [
                the_sources_keep_to_the_table,
                upward_includes_are_found,
                includes_that_are_allowed_are_not,
                tensors_stay_out_of_modules_without_them,
                folders_that_are_no_module_are_found,
            ],
        )
    )
