"""What the documents show is what is compiled, and what they let people type works."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
DOCUMENTS += [ROOT / "study/README.md", ROOT / "recipes/paper/README.md"]


def blocks(document, language):
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_the_example_variant_is_the_one_that_is_compiled():
    shown = blocks("CONTRIBUTING.md", "cpp")
    for name in ["example_variant.h", "example_variant.cpp"]:
        assert (ROOT / "tests" / "attention" / name).read_text(encoding="utf-8") in shown, name


def test_the_python_of_the_readme_runs():
    (code,) = blocks("README.md", "python")
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["y_0"].shape == (2, 512)
    assert names["a"].max_length == 512


def test_links_lead_somewhere():
    for document in DOCUMENTS:
        prose = re.sub(r"```.*?```", "", document.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_recipes_that_are_named_exist():
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for path in re.findall(r"(?<![\w/])(?:recipes/[\w./-]*\w|study/[\w-]+\.toml)", text):
            assert (ROOT / path).exists(), f"{document.name}: {path}"


def test_files_named_by_paper_to_code_exist():
    text = (ROOT / "docs" / "paper-to-code.md").read_text(encoding="utf-8")
    for path in re.findall(r"`((?:src|tests|python|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


def test_tests_named_by_reliability_exist():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    # Tables of promises; others say how often something was tried.
    tables = re.findall(r"^\| promise \| test \|\n\|[-|]+\n((?:\| .*\n)+)", text, flags=re.M)
    promises = [line for table in tables for line in table.splitlines()]
    tests = ROOT / "tests"
    python = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("*.py"))
    sources = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("*.cpp"))
    assert len(promises) > 20
    for line in promises:
        behind = line.strip("| ").rpartition(" | ")[2]
        files = re.findall(r"`([\w/]*test_\w+\.py)`", behind)
        for file in files:
            assert (ROOT / file).exists() or (tests / "cli" / file).exists(), file
        for name in re.findall(r"`((?:test|assert)_\w+)`", behind):
            assert f"def {name}(" in python, name
        suites = re.findall(r"`\w+_test`: `(\w+)`", behind)
        for suite in suites:
            assert re.search(rf"TEST(_F|_P)?\({suite},", sources), suite
        assert files or suites, line
