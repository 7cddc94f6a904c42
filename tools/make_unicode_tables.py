#!/usr/bin/env python3
"""Writes the Unicode tables of src/text: which characters are letters, numbers, punctuation, symbols, accents
and control characters, what lowercasing does to each, and what each decomposes into.

usage: make_unicode_tables.py FOLDER        (needs the package regex)

BLEU's tokenizer "intl" is defined by the classes of the package regex, and lowercasing by str.lower of
Python, so these are asked rather than the Unicode files: a score then agrees to the last digit. Each has its
own version of Unicode; newer ones only add characters.
"""

import pathlib
import sys
import unicodedata

import regex

CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
WIDTH = 108


def ranges(kind_of):
    """(first, last, kind) for every run of characters of the same kind; None is no kind."""
    runs = []
    for character in CHARACTERS:
        kind, code = kind_of(character), ord(character)
        if kind is None:
            continue
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == kind:
            runs[-1][1] = code
        else:
            runs.append([code, code, kind])
    return runs


def category_of():
    """Letter, number and so on, as the regular expressions of the tokenizers see it."""
    patterns = {
        "L": r"\p{L}",
        "N": r"\p{N}",
        "P": r"\p{P}",
        "S": r"\p{S}",
        "M": r"\p{Mn}",
        "C": r"[\p{Cc}\p{Cf}\p{Co}]",
    }
    classes = [(name, regex.compile(pattern)) for name, pattern in patterns.items()]
    return lambda character: next((name for name, class_ in classes if class_.match(character)), None)


def sigma_kind(character):
    """What a character does to a capital sigma after it: the only rule of str.lower that looks around."""
    if (character + "Σ").lower().endswith("ς"):
        return "cased"
    return "ignorable" if ("A" + character + "Σ").lower().endswith("ς") else None


def lower_runs():
    """(first, last, step, difference) for capitals in a row, or every second character as in Ā ā Ă ă."""
    runs = []
    for character in CHARACTERS:
        lower, code = character.lower(), ord(character)
        if lower == character:
            continue
        if len(lower) != 1:
            assert character == "İ", f"str.lower makes several characters of {character}"
            continue
        difference = ord(lower) - code
        if runs and runs[-1][3] == difference:
            first, last, step, _ = runs[-1]
            gap = code - last
            if gap in (1, 2) and (first == last or gap == step):
                runs[-1][1:3] = [code, gap]
                continue
        runs.append([code, code, 1, difference])
    return runs


def rows(entries):
    """The entries of a table, as many a line as fit."""
    lines = [""]
    for entry in entries:
        if len(lines[-1]) + len(entry) + 2 > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + entry + ","
    return "\n".join("    " + line for line in lines)


def source(header, made_from, body):
    return f"""// Written by tools/make_unicode_tables.py from {made_from}; not to be edited.

#include "text/{header}"

namespace synthesizer::unicode {{

// clang-format off
{body}
// clang-format on

}}  // namespace synthesizer::unicode
"""


def table(kind, name, entries):
    """A table and the function that gives it."""
    constant = "k" + "".join(word.capitalize() for word in name.split("_"))
    return (
        f"constexpr {kind} {constant}[] = {{\n{rows(entries)}\n}};\n"
        f"std::span<const {kind}> {name}() {{ return {constant}; }}"
    )


def categories():
    entries = (f"{{{first:#x},{last:#x},{kind}}}" for first, last, kind in ranges(category_of()))
    names = "// NOLINTBEGIN(readability-identifier-naming): Unicode's own letters\n"
    names += "constexpr auto L = Category::letter, N = Category::number, P = Category::punctuation,\n"
    names += "               S = Category::symbol, M = Category::mark, C = Category::control;\n"
    names += "// NOLINTEND(readability-identifier-naming)\n\n"
    body = names + table("CategoryRange", "category_ranges", entries)
    return source("unicode_categories.h", f"the package regex {regex.__version__}", body)


def case():
    lower = (f"{{{first:#x},{last:#x},{step},{by}}}" for first, last, step, by in lower_runs())
    tables = [table("LowerRange", "lower_ranges", lower)]
    kinds = ranges(sigma_kind)
    for kind in ("cased", "ignorable"):
        entries = (f"{{{first:#x},{last:#x}}}" for first, last, of in kinds if of == kind)
        tables.append(table("CodeRange", f"{kind}_ranges", entries))
    made_from = f"Python's str.lower, Unicode {unicodedata.unidata_version}"
    return source("unicode_case.h", made_from, "\n\n".join(tables))


def decompositions():
    """Canonical ones, complete; those of Korean follow from a formula."""
    entries = []
    for character in CHARACTERS:
        parts = unicodedata.normalize("NFD", character)
        if parts != character and not 0xAC00 <= ord(character) < 0xD7A4:
            entries.append(f"{{{ord(character):#x},{{{','.join(f'{ord(part):#x}' for part in parts)}}}}}")
    made_from = f"Python's unicodedata, Unicode {unicodedata.unidata_version}"
    return source("unicode_decompositions.h", made_from, table("Decomposition", "decompositions", entries))


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "unicode_categories.cpp").write_text(categories())
    (folder / "unicode_case.cpp").write_text(case())
    (folder / "unicode_decompositions.cpp").write_text(decompositions())


if __name__ == "__main__":
    main()
