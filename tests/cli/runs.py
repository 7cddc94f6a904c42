"""Runs that are compared with each other."""

import json

import tensors
from program import metrics


def saved_step(run):
    """The step that the run would be resumed from; 0: it has saved nothing yet."""
    state = run / "train_state.safetensors"
    return int(tensors.metadata(state)["step"]) if state.exists() else 0


def assert_same_run(run, other):
    """The bits of the other in every file, but for times."""
    tensors.same(run / "train_state.safetensors", other / "train_state.safetensors")
    tensors.same(run / "model.safetensors", other / "model.safetensors")
    assert metrics(run, "dev") == metrics(other, "dev")
    for split in ["train", "dev"]:
        steps = [line["step"] for line in metrics(run, split)]
        assert steps == [line["step"] for line in metrics(other, split)]
        assert steps == sorted(set(steps))
    # Averages cover all steps since the line before, also those before the run was stopped.
    averages = ["step", "loss", "objective", "accuracy", "learning_rate", "gradient_norm"]
    for line, wanted in zip(metrics(run, "train"), metrics(other, "train")):
        assert [line[key] for key in averages] == [wanted[key] for key in averages]


def assert_tidy(folder):
    """Nothing that a command needed only while it ran. What is left in the cache is in nobody's way."""
    needed = [path for path in folder.rglob("*") if ".tmp" in path.name or path.name.endswith(".lock")]
    left = [str(path) for path in needed if "cache" not in path.relative_to(folder).parts]
    assert not left


def assert_one_error(status, stderr):
    """It could not be done, and one line, the last, says why."""
    assert status == 1, (status, stderr)
    lines = stderr.splitlines()
    errors = [line for line in lines if "error" in line or "terminate" in line]
    assert errors and errors == lines[-1:] and errors[0].startswith("synth: error: "), stderr


def scores_in_table(folder):
    """What a comparison found out about its runs, without times and memory."""
    measured = ["train_tokens_per_second", "decode_tokens_per_second", "peak_memory_bytes", "seconds"]
    rows = json.loads((folder / "table.json").read_text())["rows"]
    return [{key: value for key, value in row.items() if key not in measured} for row in rows]
