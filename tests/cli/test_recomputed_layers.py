"""train.checkpoint_activations: the same weights, whatever the model and the number of processes."""

import tensors


def weights(run):
    return {name: array.tobytes() for name, array in tensors.read(run / "model.safetensors").items()}


def test_gives_the_same_weights(train, translation_recipe, tmp_path):
    for n, settings in enumerate(
        [["model.attention=R+V"], ["model.positions=relative", "model.recurrent_depth=3"]]
    ):
        kept = train(translation_recipe, tmp_path / f"kept{n}", *settings)
        again = train(
            translation_recipe, tmp_path / f"again{n}", *settings, "train.checkpoint_activations=true"
        )
        assert weights(kept) == weights(again)


def test_is_the_same_with_two_processes(synth, translation_recipe, tmp_path):
    runs = []
    for name, setting in [("kept", "false"), ("again", "true")]:
        runs.append(tmp_path / name)
        synth("train", translation_recipe, "--run", runs[-1], "--processes", 2,
              "--set", f"train.checkpoint_activations={setting}")  # fmt: skip
    assert weights(runs[0]) == weights(runs[1])


def test_may_change_when_a_run_is_resumed(synth, train, translation_recipe, tmp_path):
    whole = train(translation_recipe, tmp_path / "whole", "train.steps=4", "train.save_every=2")
    half = train(translation_recipe, tmp_path / "half", "train.steps=2", "train.save_every=2")
    synth("train", translation_recipe, "--run", half, "--resume", "--set", "train.steps=4", "--set",
          "train.save_every=2", "--set", "train.checkpoint_activations=true")  # fmt: skip
    assert weights(whole) == weights(half)
