#!/usr/bin/env python3
"""Word vectors trained on a corpus, for the embedding scores of dialogues (data.vectors, synth score).

usage: train_word_vectors.py CORPUS… OUT [--columns persona,history,response] [--size 100] [--window 5]
                             [--min-count 2] [--epochs 10] [--seed 1]

CORPUS: text, one sentence per line, or a table (.tsv with a header: its columns), plain or gzip. Marks
between turns and sentences (" <t> ", " | ", " <n> ") end a sentence. Words are split at white space, as the
scores do. OUT is a text file of word2vec (skip-gram with negative sampling, gensim), gzipped where its name
ends in .gz. The same corpus, options and seed give the same file: one thread is used.
"""

import argparse
import gzip
import pathlib
import re
import sys

MARKS = re.compile(r"\s<[tn]>\s|\s\|\s")


def open_text(path, mode="r"):
    return (
        gzip.open(path, mode + "t", encoding="utf-8")
        if path.suffix == ".gz"
        else open(path, mode, encoding="utf-8")
    )


def texts(path, columns):
    """The texts of a file: its lines, or the cells of these columns of a table."""
    with open_text(path) as file:
        if path.name.removesuffix(".gz").endswith(".tsv"):
            header = next(file, "").rstrip("\n").split("\t")
            missing = [name for name in columns if name not in header]
            if missing:
                sys.exit(
                    f"{path}: there is no column '{missing[0]}' among {', '.join(header)}: give --columns"
                )
            places = [header.index(name) for name in columns]
            for line in file:
                cells = line.rstrip("\n").split("\t")
                yield from (cells[place] for place in places)
        else:
            yield from (line.rstrip("\n") for line in file)


def sentences(paths, columns):
    for path in paths:
        for text in texts(path, columns):
            for part in MARKS.split(text):
                if words := part.split():
                    yield words


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus", nargs="+", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--columns", default="persona,history,response", help="of tables")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--min-count", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    try:
        from gensim.models import Word2Vec
    except ImportError:
        sys.exit("gensim is missing: pip install gensim (./run setup installs it)")
    corpus = list(sentences(a.corpus, a.columns.split(",")))
    model = Word2Vec(vector_size=a.size, window=a.window, min_count=a.min_count, sg=1, seed=a.seed, workers=1)
    model.build_vocab(corpus)
    if not model.wv:
        sys.exit(
            f"no word occurs {a.min_count} times in {a.corpus[0]}: give more text or a lower --min-count"
        )
    model.train(corpus, total_examples=len(corpus), epochs=a.epochs)
    with open_text(a.out, "w") as file:
        file.write(f"{len(model.wv)} {a.size}\n")
        for word in model.wv.index_to_key:
            file.write(word + " " + " ".join(f"{value:.6f}" for value in model.wv[word]) + "\n")
    print(f"{a.out}: {len(model.wv)} words, {a.size} numbers each", file=sys.stderr)


if __name__ == "__main__":
    main()
