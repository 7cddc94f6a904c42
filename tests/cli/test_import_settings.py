"""synth import: the settings of a folder, which of them are read and which are refused."""

import json
import shutil

import numpy
import pytest
from import_fixtures import change_json, expected, lines, recipe_of, refused
from tensors import contents


def test_settings_that_are_not_supported(mistake, synth, model_folder, tmp_path):
    model = model_folder("marian")
    config = json.loads((model / "config.json").read_text())

    def changed(**settings):
        (model / "config.json").write_text(json.dumps({**config, **settings}))

    for settings, words in [
        ({"normalize_before": True}, ["'normalize_before' is true"]),
        ({"activation_function": "quick_gelu"}, ["'activation_function'", "quick_gelu"]),
        ({"decoder_ffn_dim": 32}, ["'decoder_ffn_dim' is 32"]),
        ({"encoder_layerdrop": 0.1}, ["'encoder_layerdrop'"]),
        ({"d_model": "wide"}, ["'d_model'", "whole number"]),
        ({"d_model": 15}, ["multiple"]),
        ({"repetition_penalty": 1.5}, ["'repetition_penalty' is 1.5"]),
        ({"rotary_dimension": 4}, ["'rotary_dimension' is 4", "--ignore rotary_dimension"]),
    ]:
        changed(**settings)
        refused(mistake, model, tmp_path, *words)
    synth("import", model, "--run", tmp_path / "new", "--ignore", "rotary_dimension")
    shutil.rmtree(tmp_path / "new")
    for key in ("rotary", "d_model"):  # not there, and not to be ignored
        refused(
            mistake, model, tmp_path, f"--ignore {key}: ", options=["--ignore", f"rotary_dimension,{key}"]
        )


@pytest.mark.parametrize(
    "family, file, settings, words",
    [
        ("marian", "generation_config.json", {"eos_token_id": 1}, ["'eos_token_id' is 1: only 0"]),
        ("marian", "generation_config.json", {"forced_eos_token_id": 1}, ["'forced_eos_token_id' is 1"]),
        ("marian", "generation_config.json", {"pad_token_id": 3}, ["'pad_token_id' is 3"]),
        (
            "marian",
            "generation_config.json",
            {"decoder_start_token_id": 3},
            ["'decoder_start_token_id' is 3"],
        ),
        ("marian", "generation_config.json", {"do_sample": True}, ["'do_sample' is true"]),
        ("marian", "generation_config.json", {"penalty_alpha": 0.6}, ["'penalty_alpha'", "--ignore"]),
        ("marian", "config.json", {"pruned_heads": {"0": [1]}}, ["'pruned_heads'"]),
        ("marian", "config.json", {"is_encoder_decoder": False}, ["'is_encoder_decoder' is false"]),
        ("t5-1.0", "config.json", {"is_encoder_decoder": False}, ["'is_encoder_decoder' is false"]),
        ("t5-1.0", "generation_config.json", {"eos_token_id": 2}, ["'eos_token_id' is 2"]),
        ("gpt2", "generation_config.json", {"num_beams": 4}, ["'num_beams' is 4"]),
        ("gpt2", "config.json", {"no_repeat_ngram_size": 3}, ["'no_repeat_ngram_size' is 3"]),
        ("gpt2", "config.json", {"bad_words_ids": [[3]]}, ["'bad_words_ids'"]),
        ("gpt2", "config.json", {"n_layer": 0}, ["'n_layer' is 0: it must be from 1"]),
        ("gpt2", "config.json", {"n_layer": 2**64 - 1}, ["'n_layer' is 18446744073709551615"]),
        ("gpt2", "config.json", {"eos_token_id": 2**32}, ["'eos_token_id' is 4294967296", "from 0 to 339"]),
        ("gpt2", "config.json", {"vocab_size": 2**63}, ["'vocab_size' is 9223372036854775808"]),
        ("t5-1.0", "config.json", {"eos_token_id": 500}, ["'eos_token_id' is 500: it must be from 0 to 223"]),
        (
            "marian",
            "config.json",
            {"decoder_start_token_id": 500},
            ["'decoder_start_token_id' is 500: it must be from 0 to 152"],
        ),
        ("marian", "generation_config.json", {"bad_words_ids": [[2**32 + 5]]}, ["4294967301", "0 to 152"]),
        ("marian", "generation_config.json", {"bad_words_ids": [[-7]]}, ["the token -7"]),
        ("marian", "generation_config.json", {"bad_words_ids": 1}, ["is 1: one token is supported"]),
        ("marian", "generation_config.json", {"bad_words_ids": [[3], [4]]}, ["is [[3],[4]]: one token"]),
        ("marian", "generation_config.json", {"max_length": -5}, ["'max_length' is -5: it must be from 1"]),
        ("marian", "generation_config.json", {"max_length": 2**64 - 1}, ["'max_length' is 184467440737095"]),
        ("marian", "generation_config.json", {"max_new_tokens": 0}, ["'max_new_tokens' is 0"]),
        ("marian", "generation_config.json", {"num_beams": 0}, ["'num_beams' is 0: it must be from 1 to"]),
        ("marian", "generation_config.json", {"num_beams": 10**12}, ["'num_beams' is 1000000000000"]),
        ("bert", "config.json", {"id2label": {"0": "a\nb", "1": "b", "2": "c"}}, ["'id2label'", "lines"]),
        ("bert", "config.json", {"id2label": {"0": "", "1": "b", "2": "c"}}, ["'id2label'", "empty line"]),
        ("bert", "config.json", {"id2label": {"0": "a", "1": "b", "2": "a"}}, ["names two classes 'a'"]),
        ("bert", "config.json", {"id2label": ["a", "b", "c"]}, ["'id2label' does not name the 3 classes"]),
        ("bert", "config.json", {"tokenizer_class": "BertJapaneseTokenizer"}, ["'tokenizer_class'"]),
        ("t5-1.1", "config.json", {"dense_act_fn": "silu"}, ["'dense_act_fn' is swish with a gate"]),
        ("t5-1.0", "config.json", {"dense_act_fn": "tanh"}, ["'dense_act_fn' is \"tanh\""]),
        ("bert", "tokenizer_config.json", {"pad_token": "<pad>"}, ["the added token '<pad>'"]),
        ("bert", "tokenizer_config.json", {"do_basic_tokenize": False}, ["'do_basic_tokenize' is false"]),
        ("bert", "tokenizer_config.json", {"never_split": ["[X]"]}, ["'never_split'"]),
    ],
)
def test_settings_of_texts_that_are_not_supported(
    mistake, model_folder, tmp_path, family, file, settings, words
):
    model = model_folder(family)
    change_json(model / file, **settings)
    refused(mistake, model, tmp_path, file, *words)


@pytest.mark.parametrize(
    "family, settings, activation",
    [
        ("t5-1.0", {"dense_act_fn": "silu"}, "swish"),
        ("t5-1.0", {"dense_act_fn": "gelu_new", "is_gated_act": False}, "gelu-tanh"),
        ("t5-1.1", {}, "gated-gelu-tanh"),
        ("t5-1.1", {"dense_act_fn": "relu"}, "gated-relu"),
        ("t5-1.1", {"feed_forward_proj": "relu", "dense_act_fn": "gelu", "is_gated_act": True}, "gated-gelu"),
    ],
)
def test_the_activation_of_t5(synth, model_folder, tmp_path, family, settings, activation):
    """dense_act_fn and is_gated_act are what transformers computes with."""
    model = model_folder(family)
    change_json(model / "config.json", **settings)
    synth("import", model, "--run", tmp_path / "run")
    assert recipe_of(tmp_path / "run")["model"]["activation"] == activation


def test_the_end_is_never_forbidden(synth, model_folder, tmp_path):
    """transformers takes it off the bad words."""
    model = model_folder("marian")
    for name, bad in [("end", [[0]]), ("none", None), ("one", [[5]])]:
        change_json(model / "generation_config.json", bad_words_ids=bad)
        synth("import", model, "--run", tmp_path / name)
    end, none, one = (
        (tmp_path / name / "tokenizer.target.model").read_bytes() for name in ("end", "none", "one")
    )
    assert end == none != one


@pytest.mark.parametrize(
    "family, settings, wanted",
    [
        ("marian", {"max_length": 24}, {"max_length": 22, "forced_end": True}),
        ("marian", {"max_new_tokens": 9}, {"max_length": 8, "forced_end": True}),
        ("marian", {"forced_eos_token_id": None}, {"max_length": 23, "forced_end": False}),
        ("marian", {"renormalize_logits": True}, {"renormalize": True}),
        ("t5-1.0", {}, {"max_length": 0, "forced_end": False}),
        ("t5-1.0", {"max_length": 20}, {"max_length": 19, "forced_end": False}),
        ("t5-1.0", {"max_new_tokens": 9, "forced_eos_token_id": 1}, {"max_length": 8, "forced_end": True}),
    ],
)
def test_lengths_and_the_end(synth, model_folder, tmp_path, family, settings, wanted):
    model = model_folder(family)
    change_json(model / "generation_config.json", **settings)
    synth("import", model, "--run", tmp_path / "run")
    decode = recipe_of(tmp_path / "run")["decode"]
    assert {key: decode[key] for key in wanted} == wanted
    synth("export", tmp_path / "run", "--to", "huggingface", "--out", tmp_path / "back")
    back = json.loads((tmp_path / "back" / "generation_config.json").read_text())
    assert ("forced_eos_token_id" in back) == decode["forced_end"]
    assert back.get("renormalize_logits", False) == decode["renormalize"]
    synth("import", tmp_path / "back", "--run", tmp_path / "again")
    again = recipe_of(tmp_path / "again")["decode"]
    assert {key: again[key] for key in wanted if decode[key] != 0} == {
        key: value for key, value in wanted.items() if decode[key] != 0
    }


def test_a_text_without_a_forced_end(synth, model_folder, tmp_path):
    """As T5 of transformers: one token more, and no end."""
    model, told = model_folder("t5-1.0"), expected("t5-1.0")
    change_json(model / "generation_config.json", max_length=24, num_beams=4)
    synth("import", model, "--run", tmp_path / "run")
    written = synth("translate", tmp_path / "run", input=lines(told["lines"])).stdout
    assert written.splitlines() == told["written"]["beam_cut"]


OPUS_MT = {
    "_name_or_path": "/tmp/Helsinki-NLP/opus-mt-en-de",
    "_num_labels": 3,
    "add_bias_logits": False,
    "add_final_layer_norm": False,
    "classif_dropout": 0.0,
    "classifier_dropout": 0.0,
    "do_blenderbot_90_layernorm": False,
    "extra_pos_embeddings": 153,
    "gradient_checkpointing": False,
    "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    "label2id": {"LABEL_0": 0, "LABEL_1": 1, "LABEL_2": 2},
    "max_length": 60,
    "normalize_before": False,
    "normalize_embedding": False,
    "num_beams": 6,
    "num_hidden_layers": 2,
    "output_past": True,
    "save_step": 12,
    "static_position_embeddings": True,
    "torch_dtype": "float16",
}


def test_the_settings_of_opus_mt(synth, model_folder, tmp_path):
    """All keys that the folders of OPUS-MT have."""
    model = model_folder("marian")
    change_json(model / "config.json", bad_words_ids=[[152]], bos_token_id=0, **OPUS_MT)
    generation = {
        "bad_words_ids": [[152]],
        "bos_token_id": 0,
        "decoder_start_token_id": 152,
        "eos_token_id": 0,
        "forced_eos_token_id": 0,
        "max_length": 60,
        "num_beams": 4,
        "pad_token_id": 152,
        "renormalize_logits": True,
        "transformers_version": "4.32.0.dev0",
    }
    (model / "generation_config.json").write_text(json.dumps(generation))
    synth("import", model, "--run", tmp_path / "run")
    decode = recipe_of(tmp_path / "run")["decode"]
    wanted = {"beam": 4, "max_length": 58, "renormalize": True, "forced_end": True}
    assert {key: decode[key] for key in wanted} == wanted
    (model / "generation_config.json").unlink()  # an older folder
    synth("import", model, "--run", tmp_path / "older")
    assert recipe_of(tmp_path / "older")["decode"]["beam"] == 6


MARIAN_YML = {
    "bert-train-type-embeddings": "true",
    "bert-type-vocab-size": "2",
    "dec-cell": "gru",
    "dim-rnn": "1024",
    "enc-type": "bidirectional",
    "input-types": "\n  []",
    "layer-normalization": "false",
    "right-left": "false",
    "tied-embeddings": "false",
    "transformer-aan-depth": "2",
    "transformer-decoder-dim-ffn": "0",
    "transformer-guided-alignment-layer": "last",
    "transformer-pool": "false",
    "transformer-tied-layers": "\n  []",
    "ulr": "false",
    "version": "v1.9.0 2020-01-01",
}


@pytest.fixture
def marian_files(model_folder):
    """A folder of Marian with more settings of the model and of the search."""

    def get(model_settings, search=""):
        model = model_folder("marian-npz")
        arrays = dict(numpy.load(model / "model.npz"))
        text = bytes(arrays["special:model.yml"]).rstrip(b"\0").decode()
        text += "".join(f"{key}: {value}\n" for key, value in model_settings.items())
        arrays["special:model.yml"] = numpy.frombuffer(text.encode() + b"\0", "int8")
        numpy.savez(model / "model.npz", **arrays)
        (model / "decoder.yml").write_text((model / "decoder.yml").read_text() + search)
        return model

    return get


def test_the_settings_of_marian(synth, marian_files, tmp_path):
    model = marian_files(MARIAN_YML, "relative-paths: true\nmini-batch: 1\nmaxi-batch-sort: none\n")
    synth("import", model, "--run", tmp_path / "run")


@pytest.mark.parametrize(
    "model_settings, search, words",
    [
        ({"right-left": "true"}, "", ["'right-left' is 'true'"]),
        ({"transformer-pool": "true"}, "", ["'transformer-pool' is 'true'"]),
        ({"transformer-decoder-dim-ffn": "32"}, "", ["'transformer-decoder-dim-ffn' is '32'"]),
        ({"input-types": "[class, sequence]"}, "", ["'input-types' is 'class'"]),
        ({"transformer-magic": "1"}, "", ["'transformer-magic' is '1'", "--ignore transformer-magic"]),
        ({"enc-depth": "524288"}, "", ["fewer than the 524288 layers"]),
        ({}, "shortlist: lex.s2t\n", ["decoder.yml", "'shortlist'"]),
        ({}, "output-sampling: true\n", ["decoder.yml", "'output-sampling'"]),
        ({}, "beam-size: 6x\n", ["decoder.yml", "'beam-size' is '6x': it must be a whole number"]),
        ({}, "beam-size: 0\n", ["'beam-size' is '0'"]),
        ({}, "normalize: abc\n", ["'normalize' is 'abc': it must be a number"]),
        ({}, "word-penalty: abc\n", ["'word-penalty' is 'abc': it must be a number"]),
        ({}, "word-penalty: 0.5\n", ["'word-penalty' is '0.5': only 0 is supported"]),
        ({"enc-depth": "0"}, "", ["'enc-depth' is '0'"]),
        ({"dim-emb": "16wide"}, "", ["'dim-emb' is '16wide'"]),
    ],
)
def test_settings_of_marian_that_are_not_supported(
    mistake, marian_files, tmp_path, model_settings, search, words
):
    refused(mistake, marian_files(model_settings, search), tmp_path, *words)


def test_the_files_that_marian_writes_itself(synth, mistake, imported, model_folder, tmp_path):
    """model.npz.decoder.yml, with the paths of the machine that trained; other settings of the search."""
    model = model_folder("marian-npz")
    text = (model / "decoder.yml").read_text().replace("- ", "- /elsewhere/")
    (model / "decoder.yml").unlink()
    settings = "relative-paths: false\nn-best: true\nallow-unk: true\nmax-length-factor: 2\n"
    (model / "model.npz.decoder.yml").write_text(text + settings)
    synth("import", model, "--run", tmp_path / "run")
    again = contents(tmp_path / "run")["model.safetensors"]
    assert again == contents(imported("marian-npz"))["model.safetensors"]
    shutil.copy(model / "model.npz.decoder.yml", model / "model.npz.best-bleu.npz.decoder.yml")
    refused(mistake, model, tmp_path, "several files .npz.decoder.yml", "decoder.yml")
