#!/usr/bin/env python3
"""Checks that rooms include only the rooms they may: the table of the architecture, as data.

usage: check_includes.py FOLDER-OF-SOURCES [FOLDER=ROOM …]

The second form names a folder elsewhere that is a room too (the Python bindings).
"""

import pathlib
import re
import sys
import tempfile

import results

# Room: the rooms it may include, beside itself. A name with a file's ending allows that file alone.
ALLOWED = {
    "base": [],
    "runtime": ["base"],
    "attention": ["base", "runtime", "attention/kernel"],
    "attention/kernel": ["base", "attention/logits.h"],
    "model": ["base", "attention", "attention/kernel"],
    "text": ["base"],
    "metric": ["base", "text"],
    "decode": ["base", "model"],
    "train": ["base", "runtime", "attention", "attention/kernel", "model", "text"],
    "task": [
        "base",
        "runtime",
        "attention",
        "attention/kernel",
        "model",
        "text",
        "metric",
        "decode",
        "train",
    ],
    "picture": ["base"],
    "inspect": ["base", "attention", "model", "text", "metric", "decode", "train", "task", "picture"],
    "report": ["base", "metric"],
    "compare": ["base", "runtime", "text", "metric", "train", "task", "inspect", "report"],
    "serve": ["base", "runtime", "decode", "task"],
    "cli": None,  # everything
    "python": ["base", "runtime", "attention", "attention/kernel", "model", "metric", "decode", "task"],
}
WITHOUT_TENSORS = {"base", "text", "metric", "picture", "report"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCES = {".h", ".hpp", ".cpp", ".cc", ".inl"}


def room_of(path):
    """The room of a file or of an include such as attention/kernel/tile.h; None outside every folder."""
    folders = path.split("/")[:-1]
    for depth in (2, 1):
        if "/".join(folders[:depth]) in ALLOWED:
            return "/".join(folders[:depth])
    return folders[0] if folders else None


def allowed(room, included):
    """Whether a file of the room may include that path."""
    wanted = room_of(included)
    if wanted == room or ALLOWED[room] is None:
        return True
    return wanted in ALLOWED[room] or included in ALLOWED[room]


def violations(folder, as_room=None):
    """One line for each include that goes where it may not, and for each folder that is no room."""
    folder = pathlib.Path(folder)
    found = []
    for file in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
        name = file.relative_to(folder).as_posix()
        room = as_room or room_of(name)
        if room not in ALLOWED:
            found.append(f"{name}: '{room}' is no room")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, path = match.groups()
            tensors = quote == "<" and path.split("/")[0] in ("torch", "ATen", "c10")
            if tensors and room in WITHOUT_TENSORS:
                found.append(f"{name}:{number}: {room} does without tensors, yet includes {path}")
            if quote == '"' and "/" in path and room_of(path) in ALLOWED and not allowed(room, path):
                found.append(f"{name}:{number}: {room} may not include {path}")
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
    found = [line for folder, room in folders for line in violations(folder, room)]
    assert not found, "\n" + "\n".join(found)


def upward_includes_are_found():
    for file, include in [
        ("attention/frame.cpp", "model/block.h"),
        ("attention/kernel/tile.cpp", "attention/frame.h"),
        ("attention/kernel/deep/tile.cpp", "attention/frame.h"),
        ("model/block.cpp", "text/batch.h"),
        ("text/batch.cpp", "attention/spec.h"),
        ("metric/bleu.cpp", "model/block.h"),
        ("decode/beam.cpp", "train/loop.h"),
        ("train/loop.cpp", "task/translation.h"),
        ("report/page.cpp", "attention/attention.h"),
        ("task/training.cpp", "inspect/tables.h"),
        ("picture/canvas.cpp", "inspect/tables.h"),
        ("serve/engine.cpp", "cli/main.h"),
        ("python/bindings.cpp", "train/loop.h"),
    ]:
        found = violations_of({file: f'// why\n#include "{include}"\n'})
        assert len(found) == 1 and found[0].startswith(f"{file}:2:") and include in found[0], (file, found)


def includes_that_are_allowed_are_not():
    for file, include in [
        ("attention/frame.cpp", "attention/frame.h"),
        ("attention/frame.cpp", "attention/kernel/attend.h"),
        ("attention/kernel/tile.cpp", "attention/kernel/tile.h"),
        ("attention/kernel/attend.h", "attention/logits.h"),
        ("attention/kernel/problem.cpp", "base/error.h"),
        ("model/block.cpp", "attention/attention.h"),
        ("task/translation.cpp", "decode/beam.h"),
        ("cli/main.cpp", "serve/engine.h"),
        ("text/batch.cpp", "nlohmann/json.hpp"),
    ]:
        assert violations_of({file: f'#include "{include}"\n'}) == [], (file, include)


def tensors_stay_out_of_rooms_without_them():
    assert len(violations_of({"text/batch.h": "#include <ATen/ATen.h>\n"})) == 1
    assert violations_of({"attention/heads.h": "#include <ATen/ATen.h>\n"}) == []


def folders_that_are_no_room_are_found():
    assert len(violations_of({"cellar/wine.h": "\n"})) == 1


if __name__ == "__main__":
    sys.exit(
        results.run(
            "include_order",
            [
                the_sources_keep_to_the_table,
                upward_includes_are_found,
                includes_that_are_allowed_are_not,
                tensors_stay_out_of_rooms_without_them,
                folders_that_are_no_room_are_found,
            ],
        )
    )
