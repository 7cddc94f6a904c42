#!/usr/bin/env python3
"""What ./run demo shows: several attention variants on a small text, as a table, a page and a sample.

usage: demo.py SYNTH FOLDER [shakespeare|translation|serve] [--steps N] [--attention V,D,R,FR,R+V]
               [--jobs N] [--processes N] [--port N]
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import processes

ROOT = pathlib.Path(__file__).resolve().parent.parent


def place(a, name):
    """The folder of the runs. Those of several processes, with batches of another size, are other runs."""
    return a.folder / (name if a.processes == 1 else f"{name}-{a.processes}-processes")


def compare(a, recipe, folder, settings, batch_tokens):
    """Trains what is not there yet, prints the table, and gives its rows."""
    command = [a.synth, "compare", ROOT / "recipes" / recipe, "--attention", a.attention, "--run", folder]
    command += ["--jobs", str(a.jobs)]
    if a.processes > 1:  # a batch each: smaller ones make a step of the same size
        command += ["--processes", str(a.processes)]
        settings = [*settings, f"train.batch_tokens={batch_tokens // a.processes}"]
    for setting in settings:
        command += ["--set", setting]
    processes.run(command)
    return json.loads((folder / "table.json").read_text(encoding="utf-8"))["rows"]


def shakespeare(a):
    folder = place(a, "shakespeare")
    print("Tiny Shakespeare by characters: 4 layers, 4 heads, width 128, context 64\n", flush=True)
    settings = [f"train.steps={a.steps or 750}", "train.eval_every=250"]
    rows = compare(a, "language-model/shakespeare.toml", folder, settings, 768)
    best = min(rows, key=lambda row: row["loss"]["value"])["attention"]
    print(f"\nA sample of {best}, the best of them:\n", flush=True)
    command = [
        a.synth,
        "generate",
        folder / best,
        "--prompt",
        "ROMEO:",
        "--tokens",
        "400",
        "--temperature",
        "0.8",
    ]
    subprocess.run(command, check=True)
    return folder


def translation(a):
    folder, data = place(a, "numbers"), a.folder / "numbers-text"
    subprocess.run([sys.executable, ROOT / "tools/make_numbers.py", data], check=True)
    print("Numbers in English words to German words, on numbers training never saw\n", flush=True)
    settings = [f"data.root={data}"] + ([f"train.steps={a.steps}"] if a.steps else [])
    rows = compare(a, "translation/numbers.toml", folder, settings, 2048)
    best = max(rows, key=lambda row: row["exact_match"]["value"])["attention"]
    print(f"\n{best} translates:\n", flush=True)
    lines = [
        "seven",
        "twenty-one",
        "four hundred twenty-three",
        "ninety-nine thousand nine hundred ninety-nine",
    ]
    command = [a.synth, "translate", folder / best]
    text = "\n".join(lines) + "\n"
    done = subprocess.run(command, input=text, encoding="utf-8", check=True, stdout=subprocess.PIPE)
    for source, target in zip(lines, done.stdout.splitlines()):
        print(f"  {source:<46} {target}")
    return folder


def serve(a):
    """The models of the translation demo, trained if they are not there yet, behind a page and an API."""
    folder = translation(a)
    runs = [folder / attention for attention in a.attention.split(",")]
    address = f"http://127.0.0.1:{a.port}" if a.port else "ADDRESS"  # 0: the server takes a free port
    print("\nServing them; open the address below in a browser, or:")
    print(f"""  curl {address}/v1/translate -d '{{"text": "four hundred twenty-three"}}'""")
    print("Ctrl-C ends it.\n", flush=True)
    processes.run([a.synth, "serve", *runs, "--port", str(a.port)])
    return folder


def main():
    parser = argparse.ArgumentParser(prog="./run demo", description="attention variants on a small text")
    parser.add_argument("synth")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "what", nargs="?", choices=["shakespeare", "translation", "serve"], default="shakespeare"
    )
    parser.add_argument("--steps", type=int)
    parser.add_argument("--attention", help="separated by commas")
    parser.add_argument("--jobs", type=int, help="models trained at the same time (default: one per core)")
    parser.add_argument("--processes", type=int, default=1, help="that train each model together")
    parser.add_argument("--port", type=int, default=8080, help="of demo serve (%(default)s)")
    a = parser.parse_args()
    a.attention = a.attention or ("V,D,R,FR,R+V" if a.what == "shakespeare" else "V,R,R+V")
    # One thread per model is the fastest way to train several models of this size.
    a.jobs = a.jobs or max(1, len(os.sched_getaffinity(0)) // a.processes)
    a.folder.mkdir(parents=True, exist_ok=True)
    folder = {"shakespeare": shakespeare, "translation": translation, "serve": serve}[a.what](a)
    if a.what == "serve":
        return
    print(f"\nLook at it: {folder}/report.html; the runs are beside it, for synth inspect and the others.")


if __name__ == "__main__":
    processes.end_with_parent()
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)  # the command itself has said what is wrong
    except KeyboardInterrupt:
        sys.exit(1)
