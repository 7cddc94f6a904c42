"""Runs a few checks and writes their results as test runners do (JUnit XML), without a test framework."""

import os
import pathlib
import traceback
from xml.sax.saxutils import escape, quoteattr


def run(suite, checks):
    """Prints "N passed, M failed", writes $RESULTS/<suite>.xml, and returns the exit status."""
    failures = {}
    for check in checks:
        try:
            check()
        except Exception:
            failures[check.__name__] = traceback.format_exc()
            print(f"{suite}.{check.__name__} failed\n{failures[check.__name__]}")
    folder = os.environ.get("RESULTS")
    if folder:
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="{suite}" tests="{len(checks)}" failures="{len(failures)}">',
        ]
        for check in checks:
            name = check.__name__
            text = f"<failure>{escape(failures[name])}</failure>" if name in failures else ""
            lines.append(f'<testcase classname="{suite}" name={quoteattr(name)}>{text}</testcase>')
        lines.append("</testsuite>")
        pathlib.Path(folder, f"{suite}.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(checks) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures else 0
