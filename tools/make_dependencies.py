#!/usr/bin/env python3
"""Writes docs/dependencies.md: what tools/setup.sh installs, with versions and licences.

usage: make_dependencies.py        with the interpreter of .venv, where everything is installed

Versions and licences are those of this machine: of Debian packages from dpkg and
/usr/share/doc/NAME/copyright, of Python packages from their metadata, or from PyPI where one is not
installed.
"""

import email
import importlib.metadata
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What each list of tools/setup.sh is for, in the order of the document.
DEBIAN = {
    "build_packages": "Building and running",
    "test_packages": "Testing",
    "lint_packages": "Formatting and linting",
    "fuzz_packages": "Fuzzing",
}
PYTHON = {
    "test_tools": "Testing",
    "lint_tools": "Formatting and linting",
    "wheel_tools": "Making wheels",
    "bench_tools": "Benchmarks",
}

# How code of ours uses a package, where it does more than run it as a program.
USED = {
    "g++": "compiler; its libstdc++ and libgcc are linked",
    "python3-dev": "headers of the Python extension",
    "libhwy-dev": "linked: vector code",
    "libfmt-dev": "linked: text",
    "libcli11-dev": "header only: options of `synth`",
    "nlohmann-json3-dev": "header only: JSON",
    "libtomlplusplus-dev": "header only: TOML",
    "libxxhash-dev": "header only: hashes of files",
    "libcpp-httplib-dev": "linked: HTTP of `synth serve`",
    "libssl-dev": "linked: TLS of `synth serve`",
    "libsentencepiece-dev": "linked: tokenizers",
    "zlib1g-dev": "linked: gzip",
    "wordnet-base": "data, read at run time: METEOR",
    "libcairo2-dev": "linked: pictures",
    "fonts-dejavu-core": "used at run time: text in pictures",
    "libjs-vega": "copied into report.html: charts",
    "libgloo-dev": "headers only: several processes (the library is LibTorch's)",
    "libgtest-dev": "linked into tests",
    "libgmock-dev": "linked into tests",
    "librapidcheck-dev": "linked into tests",
    "torch": "linked: tensors (LibTorch)",
    "libclang-rt-dev": "linked into fuzzers: libFuzzer and sanitizers",
    "libomp-dev": "headers for clang-tidy",
    "python3": "interpreter",
}

# Packages whose file of copyrights is prose.
PROSE = {
    "g++": "GPL-3+ with GCC Runtime Library Exception",
    "python3": "PSF-2",
    "libcairo2-dev": "LGPL-2.1 or MPL-1.1",
    "clang": "Apache-2.0 with LLVM exception",
    "libomp-dev": "Apache-2.0 with LLVM exception",
    "libclang-rt-dev": "Apache-2.0 with LLVM exception",
}


INTRODUCTION = """\
Everything that `tools/setup.sh` installs, with its licence. Written by `tools/make_dependencies.py`;
`tests/docs/test_dependencies.py` checks that no package of `tools/setup.sh` is missing here. Only what is
linked, copied or read at run time becomes part of a program that is passed on; the rest is used as a
program. Versions and licences are those of one machine; other versions work too, but for LibTorch. What the
packages need themselves is not listed.
"""


def setup_lists():
    """{list: its entries}, as bash reads tools/setup.sh."""
    names = [*DEBIAN, *PYTHON]
    script = "root=.; source tools/setup.sh; " + "; ".join(f'echo "{n}: ${{{n}[*]}}"' for n in names)
    script += '; echo "torch: torch==$torch_version"'
    out = subprocess.run(["bash", "-c", script], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {line.split(":")[0]: line.split(":", 1)[1].split() for line in out.splitlines()}


def debian_licence(package):
    """The licence of the package's own files, as its copyright file says."""
    family = re.sub(r"^(python3|clang)-.*", r"\1", package)
    if family in PROSE:
        return PROSE[family]
    text = pathlib.Path(f"/usr/share/doc/{package}/copyright").read_text(encoding="utf-8", errors="replace")
    for stanza in re.split(r"\n\s*\n", text):
        files = re.search(r"^Files:\s*(.*?)(?=^\S)", stanza, re.MULTILINE | re.DOTALL)
        licence = re.search(r"^License:[ \t]*(\S.*)$", stanza, re.MULTILINE)
        if files and licence and "*" in files[1].split():
            return licence[1].strip()
    sys.exit(f"make_dependencies.py: no licence found for {package}: add it to PROSE")


def debian_version(package):
    command = ["dpkg-query", "-W", "-f=${Version}", package]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def metadata_of(wanted):
    """What a package says of itself: the installed one, else the one on PyPI."""
    try:
        return importlib.metadata.metadata(wanted.partition("==")[0])
    except importlib.metadata.PackageNotFoundError:
        with tempfile.TemporaryDirectory() as folder:
            fetch = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary",
                ":all:",
            ]
            subprocess.run([*fetch, "--dest", folder, wanted], check=True)
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
                return email.message_from_bytes(archive.read(name))


def python_facts(wanted):
    """(version, licence) of a package, pinned or not."""
    facts = metadata_of(wanted)
    classifiers = facts.get_all("Classifier", [])
    said = str(facts.get("License") or "")
    named = [c.split(" :: ")[-1] for c in classifiers if c.startswith("License :: ")]
    short = said if said and said != "UNKNOWN" and len(said) < 60 and "\n" not in said else ""
    licence = str(facts.get("License-Expression") or short or ", ".join(named))
    if not licence:
        sys.exit(f"make_dependencies.py: {wanted} does not say its licence")
    return facts["Version"], licence


def table(rows):
    return [
        "| package | version | licence | used as |",
        "|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def main():
    lists = setup_lists()
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    lines = [
        "# Dependencies",
        "",
        *INTRODUCTION.splitlines(),
        "",
        f"## Debian packages ({system})",
        "",
    ]
    for name, purpose in DEBIAN.items():
        rows = [
            (p, debian_version(p), debian_licence(p), USED.get(p, "program"))
            for p in dict.fromkeys(lists[name])
        ]
        lines += [f"### {purpose}", "", *table(rows)]
    lines += ["## Python packages (PyPI)", "", "### Building and running", ""]
    for name, purpose in {"torch": None, **PYTHON}.items():
        if purpose:
            lines += [f"### {purpose}", ""]
        rows = []
        for wanted in lists[name]:
            package = wanted.partition("==")[0]
            rows.append((package, *python_facts(wanted), USED.get(package, "program or module")))
        lines += table(rows)
    lines += [
        "`pip install .` also fetches scikit-build-core (Apache-2.0), which builds the package.",
        "",
    ]
    (ROOT / "docs/dependencies.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
