#!/usr/bin/env python3
"""Adds up the results that test programs wrote (GoogleTest's and pytest's JUnit XML).

usage: count_tests.py FOLDER

Names every test that failed, then says "N passed, M failed" (and how many were skipped) on the last line. The
exit status is 1 where any failed, where a file cannot be read, or where there are no results at all.
"""

import pathlib
import sys
import xml.etree.ElementTree as xml


def count(folder):
    """(passed, names that failed, skipped, number of files)"""
    passed, skipped, failed = 0, 0, []
    files = sorted(pathlib.Path(folder).glob("**/*.xml"))
    for file in files:
        try:
            cases = list(xml.parse(file).getroot().iter("testcase"))
        except (xml.ParseError, OSError) as error:
            failed.append(f"{file.name}: {error}")
            continue
        if not cases:
            failed.append(f"{file.name}: no tests in it")
        for case in cases:
            name = f"{file.stem}: {case.get('classname', '')}.{case.get('name', '')}"
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                skipped += 1
            else:
                passed += 1
    return passed, failed, skipped, len(files)


def report(folder, failed_groups=()):
    """Prints the count; the exit status. A group that failed although none of its results say so is a failure
    too: it ended before it wrote them."""
    passed, failed, skipped, files = count(folder)
    told = {name.partition(":")[0].removesuffix(".xml") for name in failed}
    failed += [f"{group}: ended with an error" for group in failed_groups if group not in told]
    for name in failed:
        print(f"failed: {name}")
    if files == 0:
        print(f"no results in {folder}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or files == 0 else 0


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return report(sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
