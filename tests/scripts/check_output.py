#!/usr/bin/env python3
"""Checks that sources write to standard output and standard error through base/output.h alone.

usage: check_output.py FOLDER-OF-SOURCES

fmt::print writes behind the end of a buffer after a write has failed (fmt 12), and the others lose output
silently. What is written to a FILE of one's own (events, progress to a FILE that was given) is fine.
"""

import pathlib
import re
import sys
import tempfile

import results

OTHER_WAYS = re.compile(
    r"\bfmt::print(ln)?\b|\bstd::(cout|cerr|clog|puts|printf|putchar)\b|(?<![\w:])(printf|puts|putchar)\s*\("
    r"|\b(fputs|fprintf|fputc|fwrite)\s*\([^;]*\bstd(out|err)\b|\b(fmt|std)::println\b"
)
SOURCES = {".h", ".hpp", ".cpp", ".cc"}
ALLOWED = {"base/output.h"}  # says in a comment what not to use


def violations(folder):
    """One line for each place."""
    folder = pathlib.Path(folder)
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES):
        name = file.relative_to(folder).as_posix()
        if name in ALLOWED:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            code = line.split("//")[0]
            if match := OTHER_WAYS.search(code):
                found.append(f"{name}:{number}: {match.group(0)} (use base/output.h, or cli/print.h)")
    return found


def violations_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cli" / "a.cpp"
        path.parent.mkdir()
        path.write_text(text + "\n")
        return violations(folder)


def the_sources_use_one_way():
    found = violations(sys.argv[1])
    assert found == [], "\n".join(found)


def other_ways_are_found():
    for line in ['fmt::print("x");', "std::cout << 1;", 'std::fputs("x", stderr);', 'printf("x");']:
        assert len(violations_of(line)) == 1, line


def what_writes_elsewhere_is_not():
    for line in ["// fmt::print", "print_out(x);", "snprintf(a, b);", "std::fwrite(d, 1, n, file_);"]:
        assert violations_of(line) == [], line


if __name__ == "__main__":
    sys.exit(
        results.run(
            "output_ways", [the_sources_use_one_way, other_ways_are_found, what_writes_elsewhere_is_not]
        )
    )
