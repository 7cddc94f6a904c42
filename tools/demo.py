#!/usr/bin/env python3
"""What ./run demo shows: several attentions trained on a small text one after the other, a table, a sample.

usage: demo.py SYNTH FOLDER [shakespeare|translation] [--steps N] [--attention V,D,R,FR,R+V]
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def train(synth, recipe, run, attention, settings):
    """One run, its progress on our own standard error; gives the seconds it took."""
    shutil.rmtree(run, ignore_errors=True)
    changes = [f"model.attention={attention}", *settings]
    command = [synth, "train", recipe, "--run", run]
    for change in changes:
        command += ["--set", change]
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def parameters(run):
    """Trained numbers of a run, from the header of its weights; fixed tables don't count."""
    with open(run / "model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    total = 0
    for name, entry in header.items():
        if name == "__metadata__" or ".Fix." in name:
            continue
        count = 1
        for size in entry["shape"]:
            count *= size
        total += count
    return total


def measured(run, split):
    lines = [json.loads(line) for line in open(run / "metrics.jsonl", encoding="utf-8")]
    return [line for line in lines if line["split"] == split]


def table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(
        "  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(head, widths)))
    )
    for row in rows:
        print(
            "  ".join(
                cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))
            )
        )


def speed(run):
    last = measured(run, "train")[-1]
    return last["step"] / last["seconds"]


def shakespeare(a):
    recipe = ROOT / "recipes/language-model/shakespeare.toml"
    rows, best = [], (float("inf"), None, None)
    for attention in a.attention.split(","):
        run = a.folder / f"shakespeare-{attention}"
        seconds = train(a.synth, recipe, run, attention, [f"train.steps={a.steps or 1250}"])
        loss = min(line["loss"] for line in measured(run, "dev"))
        best = min(best, (loss, attention, run))
        rows.append(
            [attention, f"{loss:.3f}", f"{parameters(run):,}", f"{speed(run):.1f}", f"{seconds:.0f} s"]
        )
    print("\nTiny Shakespeare by characters: 4 layers, 4 heads, width 128, context 64\n")
    table(["attention", "validation loss", "parameters", "steps/s", "time"], rows)
    print(f"\nA sample of {best[1]}, the best of them:\n", flush=True)
    command = [a.synth, "generate", best[2], "--prompt", "ROMEO:", "--tokens", "400", "--temperature", "0.8"]
    subprocess.run(command, check=True)


def translation(a):
    recipe = ROOT / "recipes/translation/numbers.toml"
    data = a.folder / "numbers"
    subprocess.run([sys.executable, ROOT / "tools/make_numbers.py", data], check=True)
    rows, best = [], (-1.0, None, None)
    for attention in a.attention.split(","):
        run = a.folder / f"numbers-{attention}"
        settings = [f"data.root={data}"] + ([f"train.steps={a.steps}"] if a.steps else [])
        seconds = train(a.synth, recipe, run, attention, settings)
        scores = json.loads(
            subprocess.run([a.synth, "eval", run, "--json"], check=True, stdout=subprocess.PIPE).stdout
        )
        best = max(best, (scores["exact_match"], attention, run))
        rows.append(
            [
                attention,
                f"{scores['exact_match']:.1f}%",
                f"{scores['bleu']:.1f}",
                f"{parameters(run):,}",
                f"{speed(run):.1f}",
                f"{seconds:.0f} s",
            ]
        )
    print("\nNumbers in English words to German words, on numbers training never saw\n")
    table(["attention", "exactly right", "BLEU", "parameters", "steps/s", "time"], rows)
    print(f"\n{best[1]} translates:\n", flush=True)
    lines = [
        "seven",
        "twenty-one",
        "four hundred twenty-three",
        "ninety-nine thousand nine hundred ninety-nine",
    ]
    out = subprocess.run(
        [a.synth, "translate", best[2]],
        input="\n".join(lines) + "\n",
        encoding="utf-8",
        check=True,
        stdout=subprocess.PIPE,
    ).stdout
    for source, target in zip(lines, out.splitlines()):
        print(f"  {source:<46} {target}")


def main():
    parser = argparse.ArgumentParser(prog="./run demo", description="attentions side by side on a small text")
    parser.add_argument("synth")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("what", nargs="?", choices=["shakespeare", "translation"], default="shakespeare")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--attention", help="separated by commas")
    a = parser.parse_args()
    a.attention = a.attention or ("V,D,R,FR,R+V" if a.what == "shakespeare" else "V,R,R+V")
    a.folder.mkdir(parents=True, exist_ok=True)
    {"shakespeare": shakespeare, "translation": translation}[a.what](a)
    print(f"\nThe runs are in {a.folder}: synth generate, synth eval, synth translate use them.")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)  # the command itself has said what is wrong
    except KeyboardInterrupt:
        sys.exit(1)
