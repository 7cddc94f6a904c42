"""The models of other programs in tests/interop/references, and what the tests of `synth import` share."""

import json
import pathlib
import shutil

import pytest
import tomllib

REFERENCES = pathlib.Path(__file__).resolve().parents[1] / "interop" / "references"


@pytest.fixture(scope="session")
def imported(synth, tmp_path_factory):
    """The run of a family, imported once."""
    runs = {}

    def get(family):
        if family not in runs:
            runs[family] = tmp_path_factory.mktemp("imported") / family
            done = synth("import", REFERENCES / family, "--run", runs[family])
            assert done.stdout == "" and done.stderr.startswith(f"made {runs[family]}, a ")
        return runs[family]

    return get


@pytest.fixture
def model_folder(tmp_path):
    """A copy of a family's folder, to do harm to."""
    return lambda family: shutil.copytree(REFERENCES / family, tmp_path / "model")


def expected(family):
    return json.loads((REFERENCES / family / "expected.json").read_text(encoding="utf-8"))


def lines(text):
    return "".join(line + "\n" for line in text)


def refused(mistake, model, tmp_path, *words, options=()):
    mistake("import", model, "--run", tmp_path / "new", *options, words=words)
    assert not (tmp_path / "new").exists()


def change_json(file, **settings):
    file.write_text(json.dumps({**json.loads(file.read_text()), **settings}))


def recipe_of(run):
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))
