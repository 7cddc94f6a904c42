"""synth inspect, convert, export and grow, through the program, on a small translation model and its kin."""

import json
import math
import struct

import pytest
from program import changes, metrics
from tensors import read as load

TINY = ["model.width=16", "model.layers=2", "train.steps=6", "train.eval_every=3", "train.save_every=6"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def mixed(train, translation_recipe, folder):
    """R+V on both sides, a few steps."""
    return train(translation_recipe, folder / "mixed", "model.attention=R+V", *TINY)


@pytest.fixture(scope="module")
def table(train, language_recipe, folder):
    """A language model with tables alone."""
    return train(language_recipe, folder / "table", "model.attention=R", *TINY)


def inspected(synth, run, *options):
    return json.loads(synth("inspect", run, "--json", *options).stdout)


def png_size(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


# inspect


def test_every_layer_and_head_has_a_map_with_its_tokens(synth, mixed):
    found = inspected(synth, mixed, "--text", "twenty one", "--target", "ein")
    assert [(x["stack"], x["layer"]) for x in found["layers"]] == [
        (stack, layer) for stack in ("encoder", "decoder", "cross") for layer in (0, 1)
    ]
    source, target = found["tokens"]["encoder"], found["tokens"]["decoder"]
    assert source == [*"twenty", "␣", *"one", "</s>"] and target == ["<s>", *"ein"]
    for layer in found["layers"]:
        rows = source if layer["stack"] == "encoder" else target
        columns = target if layer["stack"] == "decoder" else source
        assert len(layer["maps"]) == 2
        for head in layer["maps"]:
            assert [len(row) for row in head] == [len(columns)] * len(rows)
            assert all(abs(sum(row) - 1) < 1e-3 for row in head)
            if layer["causal"]:
                assert all(w == 0 for i, row in enumerate(head) for w in row[i + 1 :])


def test_numbers_are_those_of_the_maps(synth, mixed):
    found = inspected(synth, mixed, "--text", "twenty one", "--target", "ein")
    for layer in found["layers"]:
        if layer["causal"]:
            continue
        for head, weights in zip(layer["heads"], layer["maps"]):
            entropy = [-sum(w * math.log(w) for w in row if w > 0) for row in weights]
            distance = [sum(w * abs(i - j) for j, w in enumerate(row)) for i, row in enumerate(weights)]
            mean = sum(entropy) / len(entropy)
            assert head["entropy"] == pytest.approx(mean, abs=1e-3)
            assert head["entropy_share"] == pytest.approx(mean / math.log(len(weights[0])), abs=1e-3)
            assert head["distance"] == pytest.approx(sum(distance) / len(distance), abs=5e-3)
        assert sum(layer["histogram"]) == 2 * len(weights) * len(weights[0])
        assert sum(layer["histogram_start"]) == sum(layer["histogram"])
    assert len(found["histogram_edges"]) == len(found["layers"][0]["histogram"]) + 1


def test_without_a_target_it_is_what_the_model_writes(synth, mixed):
    found = inspected(synth, mixed, "--text", "twenty one")
    written = synth("translate", mixed, "--beam", "1", input="twenty one\n").stdout
    assert found["target"] == written.rstrip("\n")


def test_without_a_text_it_is_some_lines_of_dev(synth, mixed):
    found = inspected(synth, mixed, "--lines", "5")
    assert found["from"] == "dev" and found["texts"] == 5
    done = synth("inspect", mixed)
    assert "seen on 16 texts of dev" in done.stdout
    assert "R tables" in done.stdout and "mixture weights" in done.stdout


def test_tables_are_those_of_the_model(synth, table, folder):
    np = pytest.importorskip("numpy")
    found = inspected(synth, table)
    weights = load(table / "model.safetensors")
    assert [t["layer"] for t in found["tables"]] == ["decoder.layers.0", "decoder.layers.1"]
    for one in found["tables"]:
        whole = np.asarray(weights[f"{one['layer']}.attention.logits.R.table"], dtype=float)
        assert one["length"] == one["shown"] == whole.shape[1]
        for h, head in enumerate(one["heads"]):
            values = np.linalg.svd(np.tril(whole[h]), compute_uv=False)
            assert np.allclose(head["singular_values"], values, rtol=1e-3, atol=1e-6)
            share = values / values.sum()
            assert head["effective_rank"] == pytest.approx(math.exp(-(share * np.log(share)).sum()), rel=1e-4)
            assert np.allclose(one["end"][h], whole[h], rtol=1e-3, atol=1e-3)
            # What a causal layer never sees has no gradient: it is still where it started.
            start = np.asarray(one["start"][h])
            assert np.allclose(np.triu(start, 1), np.triu(whole[h], 1), rtol=1e-3, atol=1e-3)
            moved = np.linalg.norm(np.tril(whole[h] - start)) / np.linalg.norm(np.tril(start))
            assert 0 < head["moved"] == pytest.approx(moved, rel=0.05)
            entries = np.tril(np.ones_like(start)).sum()
            change = np.linalg.norm(np.tril(whole[h] - start)) / math.sqrt(entries)
            assert head["change"] == pytest.approx(change, rel=0.05)


def test_a_fixed_table_has_not_moved(synth, train, language_recipe, folder):
    run = train(language_recipe, folder / "fixed", "model.attention=Fix", *TINY)
    for one in inspected(synth, run)["tables"]:
        assert [head["moved"] for head in one["heads"]] == [0, 0]
        assert [head["change"] for head in one["heads"]] == [0, 0]
    # Its weights depend on nothing that was trained: the histogram before training is the same.
    for layer in inspected(synth, run)["layers"]:
        assert layer["histogram_start"] == layer["histogram"]


def test_mixture_weights_are_logged_beside_the_loss(synth, mixed):
    lines = metrics(mixed, "mixture")
    steps = [line["step"] for line in metrics(mixed, "train")]
    assert [line["step"] for line in lines] == steps and steps[-1] == 6
    layers = [f"{side}.layers.{n}" for side in ("encoder", "decoder") for n in (0, 1)]
    for line in lines:
        assert sorted(line) == sorted(["step", "split", *layers])
        assert all(len(line[x]) == 2 and abs(sum(line[x]) - 1) < 1e-5 for x in layers)
    assert lines[-1]["encoder.layers.0"] != [0.5, 0.5]
    found = inspected(synth, mixed)
    assert [x["layer"] for x in found["mixtures"]] == layers
    assert found["mixtures"][0]["members"] == ["R", "V"]
    assert [x["step"] for x in found["mixtures_over_training"]] == [step for step in steps for _ in layers]
    last = {x["layer"]: x["weights"] for x in found["mixtures_over_training"][-4:]}
    assert last == {x: lines[-1][x] for x in layers}


def test_models_without_a_mixture_log_none(table):
    assert metrics(table, "mixture") == []


def test_pictures_and_json_are_written(synth, mixed, tmp_path):
    out = tmp_path / "new" / "pictures"
    synth("inspect", mixed, "--text", "twenty one", "--out", out)
    names = sorted(path.name for path in out.iterdir())
    maps = [f"{stack}-{n}.png" for stack in ("encoder", "decoder", "cross") for n in (1, 2)]
    tables = [f"table-{side}.layers.{n}-R.png" for side in ("encoder", "decoder") for n in (0, 1)]
    wanted = [
        *maps,
        *tables,
        "histograms.png",
        "histograms-start.png",
        "singular-values.png",
        "mixtures.png",
        "inspect.json",
    ]
    assert names == sorted(wanted)
    for name in names:
        if name.endswith(".png"):
            width, height = png_size(out / name)
            assert 300 < width < 6000 and 200 < height < 6000
    assert json.loads((out / "inspect.json").read_text())["text"] == "twenty one"


def test_pictures_may_be_svg_and_of_one_stack(synth, mixed, tmp_path):
    synth("inspect", mixed, "--text", "one", "--out", tmp_path, "--format", "svg", "--stack", "cross")
    assert "<svg" in (tmp_path / "cross-1.svg").read_text()
    assert not (tmp_path / "encoder-1.svg").exists()


def test_baselines_are_named_and_left_out(synth, train, translation_recipe, folder):
    run = train(translation_recipe, folder / "baselines", 'model.encoder_attention=["linformer:4", "V"]',
                'model.decoder_attention=["light-conv:3", "R"]', *TINY)  # fmt: skip
    found = inspected(synth, run, "--text", "one")
    assert [x["attention"] for x in found["without_weights"]] == ["linformer:4", "light-conv:3"]
    assert [(x["stack"], x["layer"]) for x in found["layers"]] == [
        ("encoder", 1), ("decoder", 1), ("cross", 0), ("cross", 1)]  # fmt: skip
    assert "no weights to show: encoder layer 1 (linformer:4)" in synth("inspect", run).stdout


def test_a_layer_applied_three_times_is_seen_three_times(synth, train, language_recipe, folder):
    run = train(language_recipe, folder / "universal", "model.recurrent_depth=3", *TINY)
    found = inspected(synth, run, "--text", "To be")
    assert [x["name"] for x in found["layers"]] == ["decoder.layers.0"] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--text", ""], ["--text is empty"]),
        (["--text", "  "], ["--text is empty"]),
        (["--text", "one " * 30], ["the source has 120 tokens", "takes 47"]),
        (["--text", "one", "--target", "ein " * 30], ["the target has"]),
        (["--target", "ein"], ["--target needs --text"]),
        (["--text", "one", "--format", "gif"], ["gif", "png or svg"]),
        (["--text", "one", "--stack", "middle"], ["--stack", "middle"]),
        (["--text", "one", "--lines", "0"], ["--lines"]),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(mistake, mixed, tmp_path, options, words):
    out = tmp_path / "out"
    mistake("inspect", mixed, "--out", out, *options, words=words)
    assert not out.exists()


def test_other_bad_input_of_inspect(mistake, mixed, table, tmp_path):
    mistake("inspect", tmp_path / "nothing", "--text", "one", words=["nothing is not a run folder"])
    mistake("inspect", table, "--text", "a", "--target", "b", words=["--target", "language-model"])
    words = ["--stack cross", "no attention weights"]
    mistake("inspect", table, "--text", "a", "--stack", "cross", words=words)
    file = tmp_path / "file"
    file.write_text("x")
    mistake("inspect", mixed, "--text", "one", "--out", file, words=["is a file"])
    assert file.read_text() == "x"


# convert


def test_tables_become_factors_and_the_run_is_complete(synth, train, mixed, folder):
    new = folder / "factorized"
    done = synth("convert", mixed, "--attention", "FR", "--rank", "3", "--run", new)
    assert "decoder.layers.1" in done.stdout and "before" in done.stdout and "bleu" in done.stdout
    names = sorted(path.name for path in new.iterdir())
    assert names == ["config.toml", "metrics.jsonl", "model.safetensors", "run.json", "tokenizer.model"]
    assert 'attention = "FR+V"' in (new / "config.toml").read_text()
    assert "rank = 3" in (new / "config.toml").read_text()
    old, weights = load(mixed / "model.safetensors"), load(new / "model.safetensors")
    left = weights["encoder.layers.0.attention.logits.FR.left"]
    assert tuple(left.shape) == (2, 48, 3)
    same = "encoder.layers.0.attention.logits.V.query.weight"
    assert (old[same] == weights[same]).all()
    loss = json.loads(synth("eval", new, "--data", "dev", "--no-text", "--json").stdout)["loss"]
    assert metrics(new, "dev")[0]["loss"] == pytest.approx(loss, rel=1e-5)
    assert json.loads((new / "run.json").read_text())["made_from"]["by"] == "convert"
    # Where it began nobody knows: training never did.
    assert all(head["moved"] is None for one in inspected(synth, new)["tables"] for head in one["heads"])
    assert all(layer["histogram_start"] is None for layer in inspected(synth, new)["layers"])
    # Training goes on from it, with its own recipe.
    further = folder / "further"
    synth("train", "--init-from", new, "--run", further, *changes(["train.steps=2"]))
    assert metrics(further, "dev")[-1]["step"] == 2
    started = inspected(synth, further)["tables"][0]["heads"]
    assert all(0 < head["moved"] < 1 for head in started)


def test_at_full_rank_nothing_is_lost(synth, table, folder):
    new = folder / "full"
    synth("convert", table, "--attention", "factorized-random", "--rank", "16", "--run", new)
    before = json.loads(synth("eval", table, "--json").stdout)["loss"]
    assert json.loads(synth("eval", new, "--json").stdout)["loss"] == pytest.approx(before, abs=1e-4)


def test_bad_input_of_convert_writes_nothing(mistake, train, language_recipe, table, mixed, folder, tmp_path):
    new = tmp_path / "new"

    def wrong(run, *options, words, to=new):
        mistake("convert", run, "--run", to, *options, words=words)

    wrong(table, "--attention", "FR", "--rank", "0", words=["--rank is 0", "from 1 to"])
    wrong(table, "--attention", "FR", "--rank", "17", words=["--rank is 17", "16"])
    wrong(table, "--attention", "V", "--rank", "2", words=["--attention is V", "FR"])
    wrong(table, "--attention", "FQ", "--rank", "2", words=["FQ"])
    wrong(tmp_path, "--attention", "FR", "--rank", "2", words=["is not a run folder"])
    wrong(table, "--attention", "FR", "--rank", "2", words=["exists already"], to=mixed)
    plain = train(language_recipe, folder / "plain", *TINY)
    wrong(plain, "--attention", "FR", "--rank", "2", words=["nothing to convert"])
    assert not new.exists()


# export


@pytest.mark.parametrize("kind, size, loss", [("int8", 1, 0.02), ("bfloat16", 2, 0.002)])
def test_an_exported_run_is_small_and_nearly_as_good(synth, mistake, mixed, folder, kind, size, loss):
    new = folder / kind
    done = synth("export", mixed, "--quantize", kind, "--run", new)
    assert "before" in done.stdout and "bleu" in done.stdout and " kB\n" in done.stderr
    old, weights = load(mixed / "model.safetensors"), load(new / "model.safetensors")
    assert weights["embedding.weight"].dtype.itemsize == size
    if kind == "int8":
        assert tuple(weights["embedding.weight.scale"].shape) == old["embedding.weight"].shape[:1]
    table = "encoder.layers.0.attention.logits.R.table"
    assert (weights[table] == old[table]).all()
    before, after = (
        json.loads(synth("eval", run, "--data", "dev", "--no-text", "--json").stdout)["loss"]
        for run in (mixed, new)
    )
    assert after == pytest.approx(before, rel=loss)
    assert metrics(new, "dev")[0]["loss"] == pytest.approx(after, rel=1e-5)
    assert synth("translate", new, input="twenty one\n").stdout
    for command in (["grow", new, "--max-length", "96"], ["export", new], ["train", "--init-from", new]):
        mistake(*command, "--run", folder / "more", words=["is quantized", "exported from"])
    assert not (folder / "more").exists()


def test_an_export_without_quantizing_is_the_same_model(synth, mixed, folder):
    new = folder / "plain-export"
    synth("export", mixed, "--run", new)
    names = sorted(path.name for path in new.iterdir())
    assert names == ["config.toml", "model.safetensors", "run.json", "tokenizer.model"]
    lines = "twenty one\nnine thousand and ninety-nine\n"
    assert synth("translate", new, input=lines).stdout == synth("translate", mixed, input=lines).stdout


# grow


def test_a_grown_run_treats_old_lengths_as_before_and_takes_longer_ones(synth, mistake, mixed, folder):
    new = folder / "grown"
    done = synth("grow", mixed, "--max-length", "96", "--run", new)
    assert done.stdout == f"{new}\n" and "untrained" in done.stderr
    assert "max_length = 96" in (new / "config.toml").read_text()
    lines = "twenty one\nnine thousand and ninety-nine\n"
    written = [synth("translate", run, "--max-length", "20", input=lines).stdout for run in (mixed, new)]
    assert written[0] == written[1]
    before = json.loads(synth("eval", mixed, "--data", "dev", "--no-text", "--json").stdout)["loss"]
    after = json.loads(synth("eval", new, "--data", "dev", "--no-text", "--json").stdout)["loss"]
    assert after == pytest.approx(before, rel=1e-5)
    long = "one " * 20 + "\n"
    mistake("translate", mixed, "--too-long", "error", input=long, words=["80 tokens"])
    synth("translate", new, "--too-long", "error", "--beam", "1", input=long)


def test_bad_input_of_grow_writes_nothing(mistake, mixed, tmp_path):
    new = tmp_path / "new"
    mistake("grow", mixed, "--max-length", "48", "--run", new, words=["--max-length is 48", "larger"])
    mistake("grow", mixed, "--max-length", "96", "--run", mixed, words=["exists already"])
    mistake("grow", tmp_path, "--max-length", "96", "--run", new, words=["is not a run folder"])
    mistake("train", "--init-from", tmp_path, "--run", new, words=["--init-from", "not a run folder"])
    assert not new.exists()
