"""docs/dependencies.md names everything that tools/setup.sh installs, with a version and a licence."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def installed():
    """Every entry of the lists of tools/setup.sh (…_packages, …_tools), and torch."""
    text = (ROOT / "tools/setup.sh").read_text(encoding="utf-8")
    names = re.findall(r"^(\w+_(?:packages|tools))=\(", text, re.MULTILINE)
    assert {"build_packages", "test_packages", "fuzz_packages", "test_tools", "bench_tools"} <= set(names)
    script = "root=.; source tools/setup.sh; echo " + " ".join(f"${{{name}[*]}}" for name in names)
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    return ["torch", *(entry.partition("==")[0] for entry in done.stdout.split())]


def rows():
    """{package: (version, licence)}, as the document has them."""
    text = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    cells = (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| "))
    return {row[0]: row[1:] for row in cells}


def test_every_package_is_named():
    listed = rows()
    missing = [package for package in installed() if package not in listed]
    assert not missing, f"run tools/make_dependencies.py: {missing}"


def test_every_package_has_a_version_and_a_licence():
    for package, (version, licence, used) in rows().items():
        if package != "package":
            assert re.search(r"\d", version) and len(licence) > 2 and used, package


def test_pinned_versions_are_those_of_the_document():
    text = (ROOT / "tools/setup.sh").read_text(encoding="utf-8")
    for package, version in re.findall(r"([\w-]+)==([\d.]+)", text):
        if package in rows():
            assert rows()[package][0] == version, package
    assert rows()["torch"][0].startswith(re.search(r"^torch_version=(.*)$", text, re.MULTILINE)[1])
