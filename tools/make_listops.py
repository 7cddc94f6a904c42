#!/usr/bin/env python3
"""ListOps as the Long Range Arena has it: nested operations on lists of digits, and their value.

usage: make_listops.py FOLDER [--train 96000] [--dev 2000] [--test 2000] [--min-length 500]
                       [--max-length 2000] [--max-depth 10] [--max-args 10] [--seed 1]

Writes {train,dev,test}.tsv.gz, "value<tab>expression" per line without a header:

    4	[MAX 4 3 [MIN 2 3 ] 1 0 [MED 1 5 8 9 2 ] ]

An expression is drawn as the Long Range Arena draws it (Tay et al. 2021, lra_benchmarks/data/listops.py;
after Nangia and Bowman 2018): each place is an operation with probability 0.25, above the greatest depth, and
a digit otherwise; an operation has 2 to --max-args arguments. Operations are MIN, MAX, MED (the median,
rounded down) and SM (the sum modulo 10). Kept are expressions with more than --min-length and fewer than
--max-length symbols, each once. Brackets around every pair, which the Arena's files have too, are left out,
as its reader does.
"""

import argparse
import gzip
import pathlib
import random
import statistics
import sys

OPERATIONS = {
    "MIN": min,
    "MAX": max,
    "MED": lambda values: int(statistics.median(values)),
    "SM": lambda values: sum(values) % 10,
}
OPERATION_SHARE = 0.25
MOST_DRAWS = 100_000  # without a new expression; one of 1,900 to 1,950 symbols takes about 1,100


def draw(random_numbers, depth, max_depth, max_args):
    """An expression as its symbols, and its value."""
    if depth >= max_depth or random_numbers.random() > OPERATION_SHARE:
        digit = random_numbers.randrange(10)
        return [str(digit)], digit
    symbols, values = [], []
    for _ in range(random_numbers.randint(2, max_args)):
        inner, value = draw(random_numbers, depth + 1, max_depth, max_args)
        symbols += inner
        values.append(value)
    name = random_numbers.choice(list(OPERATIONS))
    return [f"[{name}", *symbols, "]"], OPERATIONS[name](values)


def examples(random_numbers, count, a):
    """The values of so many different ones of the right lengths, by their texts."""
    found = {}
    draws = 0  # since the last new one
    while len(found) < count:
        if draws == MOST_DRAWS:
            sys.exit(
                f"make_listops: found {len(found):,} different expressions of these lengths, not {count:,}: "
                "ask for fewer, or allow more lengths, depth or arguments"
            )
        draws += 1
        symbols, value = draw(random_numbers, 1, a.max_depth, a.max_args)
        text = " ".join(symbols)
        if a.min_length < len(symbols) < a.max_length and text not in found:
            found[text] = value
            draws = 0
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--train", type=int, default=96000)
    parser.add_argument("--dev", type=int, default=2000)
    parser.add_argument("--test", type=int, default=2000)
    parser.add_argument("--min-length", type=int, default=500)
    parser.add_argument("--max-length", type=int, default=2000)
    parser.add_argument("--max-depth", type=int, default=10)
    parser.add_argument("--max-args", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    if a.max_args < 2 or a.max_depth < 1 or a.max_length < a.min_length + 2:
        parser.error(
            "--max-args must be 2 or more, --max-depth 1 or more, and a length must lie between the limits"
        )
    if min(a.train, a.dev, a.test) < 0:
        parser.error("--train, --dev and --test must be 0 or more")
    splits = [("train", a.train), ("dev", a.dev), ("test", a.test)]
    made = iter(examples(random.Random(a.seed), sum(count for _, count in splits), a).items())
    a.folder.mkdir(parents=True, exist_ok=True)
    for name, count in splits:
        # No time in the header: the same seed gives the same bytes.
        with gzip.GzipFile(a.folder / f"{name}.tsv.gz", "wb", mtime=0) as file:
            for _ in range(count):
                text, value = next(made)
                file.write(f"{value}\t{text}\n".encode())


if __name__ == "__main__":
    main()
