#!/usr/bin/env python3
"""Numbers in English words and in German words: a small translation task made by rule.

usage: make_numbers.py FOLDER [--train 20000] [--dev 500] [--test 500] [--below 1000000] [--seed 1]

Writes {train,dev,test}.{en,de}. German says the ones before the tens and writes a number as one word:
"four hundred twenty-three" is "vierhundertdreiundzwanzig". No number is in two splits.
"""

import argparse
import pathlib
import random

ENGLISH = "zero one two three four five six seven eight nine ten eleven twelve thirteen".split()
ENGLISH += "fourteen fifteen sixteen seventeen eighteen nineteen".split()
ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn".split()
GERMAN += "vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn".split()
GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english(n):
    """0 to 999,999 in English words."""
    if n < 20:
        return ENGLISH[n]
    if n < 100:
        return ENGLISH_TENS[n // 10 - 2] + ("-" + ENGLISH[n % 10] if n % 10 else "")
    if n < 1000:
        return ENGLISH[n // 100] + " hundred" + (" " + english(n % 100) if n % 100 else "")
    return english(n // 1000) + " thousand" + (" " + english(n % 1000) if n % 1000 else "")


def german(n):
    """The same in German; a final one is "eins"."""
    return german_stem(n) + ("s" if n % 100 == 1 else "")


def german_stem(n):
    if n < 20:
        return GERMAN[n]
    if n < 100:
        return (GERMAN[n % 10] + "und" if n % 10 else "") + GERMAN_TENS[n // 10 - 2]
    if n < 1000:
        return GERMAN[n // 100] + "hundert" + (german_stem(n % 100) if n % 100 else "")
    return german_stem(n // 1000) + "tausend" + (german_stem(n % 1000) if n % 1000 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--train", type=int, default=20000)
    parser.add_argument("--dev", type=int, default=500)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument(
        "--below", type=int, default=1_000_000, help="numbers are below this (at most 1,000,000)"
    )
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    if not a.train + a.dev + a.test <= a.below <= 1_000_000:
        parser.error("there are not that many numbers")
    numbers = random.Random(a.seed).sample(range(a.below), a.train + a.dev + a.test)
    a.folder.mkdir(parents=True, exist_ok=True)
    for split, count in [("train", a.train), ("dev", a.dev), ("test", a.test)]:
        part, numbers = numbers[:count], numbers[count:]
        for language, words in [("en", english), ("de", german)]:
            text = "".join(words(n) + "\n" for n in part)
            (a.folder / f"{split}.{language}").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
