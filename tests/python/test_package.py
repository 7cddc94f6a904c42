"""The package as such: its examples run, its names are there, and its types are shipped."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import synthesizer

MODULES = [
    "synthesizer",
    *(f"synthesizer.{m.name}" for m in pkgutil.iter_modules(synthesizer.__path__) if m.name != "_C"),
]
FOLDER = pathlib.Path(synthesizer.__file__).parent


@pytest.mark.parametrize("module", MODULES)
def test_examples(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0 and result.failed == 0


def test_everything_public_has_an_example():
    for name in synthesizer.__all__:
        public = getattr(synthesizer, name)
        if inspect.getmodule(public).__name__ != "synthesizer._C":
            assert ">>>" in public.__doc__, name


def test_types_are_shipped():
    assert (FOLDER / "py.typed").exists()
    stub = (FOLDER / "_C.pyi").read_text()
    for name, what in vars(synthesizer._C).items():
        if name.startswith("_"):
            continue
        assert f"class {name}" in stub or f"def {name}" in stub, name
        for member in vars(what) if inspect.isclass(what) else ():
            if not member.startswith("_"):
                assert f"def {member}(" in stub, f"{name}.{member}"


def test_version():
    assert synthesizer.__version__.count(".") == 2


def test_import_needs_no_torch_before():
    done = subprocess.run(
        [sys.executable, "-c", "import synthesizer; print(synthesizer.Attention)"], capture_output=True
    )
    assert done.returncode == 0 and b"synthesizer.attention.Attention" in done.stdout


def test_kept_memory_is_not_cleared_again():
    program = """
import resource, torch, synthesizer
synthesizer.keep_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.ones(16, 1024, 1024)
before = faults()
for _ in range(5):
    torch.ones(16, 1024, 1024)  # 64 MiB: 16,384 pages
print(faults() - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1000
