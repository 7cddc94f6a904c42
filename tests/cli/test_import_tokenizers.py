"""synth import: the tokenizers of a folder, in the families' own files and as transformers saves them."""

import json
import shutil

import pytest
from import_fixtures import REFERENCES, change_json, expected, lines, refused

FAMILIES = ["marian", "marian-separate", "t5-1.0", "t5-1.1", "gpt2", "bert", "bert-cased"]
# What save_pretrained of transformers 5.23 writes of the tokenizers of these folders.
SAVED = REFERENCES / "saved-tokenizers"
VOCABULARIES = {"t5-1.0": ["spiece.model"], "gpt2": ["vocab.json", "merges.txt"], "bert": ["vocab.txt"]}


@pytest.fixture
def saved(model_folder):
    """The same with the tokenizer as transformers 5.23 saves it: tokenizer.json alone."""

    def get(family):
        model = model_folder(family)
        for file in VOCABULARIES[family]:
            (model / file).unlink()
        shutil.copytree(SAVED / family, model, dirs_exist_ok=True)
        return model

    return get


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_are_those_of_the_folder(synth, imported, family):
    told = expected(family)
    one_line = [(text, ids) for text, ids in zip(told["lines"], told["tokens"]) if "\n" not in text]
    done = synth("tokenize", imported(family), "--ids", input=lines(text for text, _ in one_line))
    for line, (_, ids) in zip(done.stdout.splitlines(), one_line):
        ours = [int(word) for word in line.split()]
        assert ours == ids if family == "gpt2" else ours == (ids[1:-1] if "bert" in family else ids[:-1])


@pytest.mark.parametrize("family, unknown", [("marian", None), ("t5-1.1", 2)])
def test_special_tokens_in_a_text_are_tokens(synth, imported, family, unknown):
    """As transformers reads them."""
    folder = REFERENCES / family
    end = json.loads((folder / "config.json").read_text())["eos_token_id"]
    if unknown is None:
        unknown = json.loads((folder / "vocab.json").read_text())["<unk>"]
    tokens = lambda text: synth("tokenize", imported(family), "--ids", input=text).stdout.splitlines()  # noqa: E731
    first, second, third = tokens("We know't,\naway!\nhear\n")
    assert tokens("We know't, </s> away! <unk> hear\n") == [f"{first} {end} {second} {unknown} {third}"]


@pytest.mark.parametrize("file", ["source.spm", "target.spm", "vocab.json"])
def test_a_missing_tokenizer(mistake, model_folder, tmp_path, file):
    model = model_folder("marian")
    (model / file).unlink()
    refused(mistake, model, tmp_path, f"has no {file}")


@pytest.mark.parametrize(
    "family, file", [("t5-1.0", "spiece.model"), ("gpt2", "merges.txt"), ("bert", "vocab.txt")]
)
def test_a_missing_tokenizer_of_others(mistake, model_folder, tmp_path, family, file):
    model = model_folder(family)
    (model / file).unlink()
    refused(mistake, model, tmp_path, "has no ")


def test_a_t5_without_any_tokenizer(mistake, model_folder, tmp_path):
    model = model_folder("t5-1.0")
    (model / "spiece.model").unlink()
    refused(mistake, model, tmp_path, "has no spiece.model, nor tokenizer.json")


@pytest.mark.parametrize("family", ["marian", "t5-1.1", "gpt2", "bert"])
@pytest.mark.parametrize(
    "file, settings",
    [
        ("added_tokens.json", {"<new>": 7}),
        ("special_tokens_map.json", {"additional_special_tokens": ["<new>"]}),
        ("tokenizer_config.json", {"additional_special_tokens": ["<new>"]}),
        ("tokenizer_config.json", {"extra_special_tokens": {"new_token": "<new>"}}),
        ("tokenizer_config.json", {"added_tokens_decoder": {"7": {"content": "<new>", "special": False}}}),
        ("tokenizer_config.json", {"mask_token": {"content": "<new>"}}),
    ],
)
def test_added_tokens(mistake, model_folder, tmp_path, family, file, settings):
    model = model_folder(family)
    (model / file).write_text(json.dumps(settings))
    refused(mistake, model, tmp_path, f"{file}: the added token '<new>' is not supported")


@pytest.mark.parametrize("family", ["t5-1.0", "gpt2", "bert"])
def test_a_tokenizer_that_transformers_saved(synth, mistake, imported, saved, tmp_path, family):
    """It has the tokens of the folder's own files, and no other added tokens."""
    model, told = saved(family), expected(family)
    synth("import", model, "--run", tmp_path / "run")
    text = lines(line for line in told["lines"] if "\n" not in line)
    ours, theirs = (
        synth("tokenize", run, "--ids", input=text).stdout for run in (tmp_path / "run", imported(family))
    )
    assert ours == theirs
    added = json.loads((model / "tokenizer.json").read_text())["added_tokens"]
    added.append({"id": 7, "content": "<new>", "special": False})
    change_json(model / "tokenizer.json", added_tokens=added)
    refused(mistake, model, tmp_path, "tokenizer.json: the added token '<new>' is not supported")


OLDER = {
    "t5-1.0": {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Strip", "strip_left": False, "strip_right": True},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
    },
    "gpt2": {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
    },
    "bert": {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}},
}


@pytest.mark.parametrize("family", OLDER)
def test_a_tokenizer_that_older_versions_saved(synth, imported, saved, tmp_path, family):
    """Other words for the same."""
    model, told = saved(family), expected(family)
    tokenizer = {**json.loads((model / "tokenizer.json").read_text()), **OLDER[family]}
    del tokenizer["model"]["type"]
    if family == "gpt2":
        tokenizer["model"]["merges"] = [" ".join(merge) for merge in tokenizer["model"]["merges"]]
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    synth("import", model, "--run", tmp_path / "run")
    text = lines(line for line in told["lines"] if "\n" not in line)
    ours, theirs = (
        synth("tokenize", run, "--ids", input=text).stdout for run in (tmp_path / "run", imported(family))
    )
    assert ours == theirs


@pytest.mark.parametrize("file", ["tokenizer.json", "spiece.model"])
def test_a_t5_that_changes_characters(synth, model_folder, tmp_path, file):
    """tokenizer.json has all that spiece.model has: the same tokens, which are those of transformers."""
    model, own = model_folder("t5-1.0"), SAVED / "t5-characters"
    told = json.loads((own / "expected.json").read_text(encoding="utf-8"))
    (model / "spiece.model").unlink()
    shutil.copy(own / file, model / file)
    synth("import", model, "--run", tmp_path / "run")
    done = synth("tokenize", tmp_path / "run", "--ids", input=lines(told["lines"]))
    assert [[int(word) for word in line.split()] for line in done.stdout.split("\n")[:-1]] == [
        ids[:-1] for ids in told["tokens"]
    ]
    synth("export", tmp_path / "run", "--to", "huggingface", "--out", tmp_path / "back")
    synth("import", tmp_path / "back", "--run", tmp_path / "again")
    again = synth("tokenize", tmp_path / "again", "--ids", input=lines(told["lines"]))
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    "family, part, settings, words",
    [
        ("gpt2", "", {"normalizer": {"type": "Lowercase"}}, ['\'normalizer\' is {"type":"Lowercase"}']),
        ("gpt2", "pre_tokenizer", {"add_prefix_space": True}, ["pre_tokenizer: 'add_prefix_space' is true"]),
        ("gpt2", "pre_tokenizer", {"use_regex": False}, ["'use_regex' is false"]),
        ("gpt2", "model", {"end_of_word_suffix": "</w>"}, ["model: 'end_of_word_suffix' is \"</w>\""]),
        ("gpt2", "model", {"ignore_merges": True}, ["'ignore_merges' is true"]),
        ("gpt2", "model", {"magic": 1}, ["'magic' is 1, an unknown setting"]),
        ("bert", "", {"normalizer": None}, ["'normalizer' is missing: only BertNormalizer is supported"]),
        ("bert", "normalizer", {"clean_text": False}, ["normalizer: 'clean_text' is false"]),
        ("bert", "", {"pre_tokenizer": {"type": "WhitespaceSplit"}}, ["pre_tokenizer: 'type' is"]),
        ("bert", "", {"post_processor": None}, ["makes A of a text A: only [CLS] A [SEP] is supported"]),
        ("bert", "model", {"continuing_subword_prefix": "@@"}, ["'continuing_subword_prefix' is \"@@\""]),
        ("bert", "model", {"max_input_chars_per_word": 3}, ["'max_input_chars_per_word' is 3"]),
        ("t5-1.0", "", {"normalizer": {"type": "Lowercase"}}, ["normalizer: 'type' is \"Lowercase\""]),
        ("t5-1.0", "", {"pre_tokenizer": {"type": "Sequence"}}, ["'pre_tokenizer' has no Metaspace"]),
        ("t5-1.0", "", {"post_processor": None}, ["makes A of a text A: only A </s> is supported"]),
        ("t5-1.0", "model", {"byte_fallback": True}, ["'byte_fallback' is true"]),
        ("t5-1.0", "model", {"unk_id": 1000}, ["'unk_id' is 1000"]),
        ("t5-1.0", "model", {"vocab": [["a"]]}, ["'vocab' is not a list of pieces and their scores"]),
        (
            "t5-1.0",
            "",
            {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "§"}},
            ["'precompiled_charsmap' is damaged"],
        ),
    ],
)
def test_tokenizers_of_another_kind(mistake, saved, tmp_path, family, part, settings, words):
    model = saved(family)
    tokenizer = json.loads((model / "tokenizer.json").read_text())
    (tokenizer[part] if part else tokenizer).update(settings)
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    refused(mistake, model, tmp_path, "tokenizer.json: ", *words)


def test_spaces_beside_an_added_token(mistake, synth, model_folder, tmp_path):
    """They are text to GPT-2, and dropped anyway by the others."""
    token = {"content": "<|endoftext|>", "lstrip": True}
    model = model_folder("gpt2")
    (model / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"0": token}}))
    refused(mistake, model, tmp_path, "'lstrip' of the added token '<|endoftext|>' is true")
    shutil.rmtree(model)
    model = model_folder("t5-1.0")
    token["content"] = "<extra_id_0>"
    (model / "tokenizer_config.json").write_text(json.dumps({"added_tokens_decoder": {"119": token}}))
    synth("import", model, "--run", tmp_path / "run")
