"""Pages written by the program under test, and one browser for all of them."""

import json
import os
import subprocess

import pytest

import reports
from browser import Browser


@pytest.fixture(scope="session")
def browser():
    made = Browser()
    yield made
    made.driver.quit()


@pytest.fixture(scope="session")
def write(tmp_path_factory):
    """write(report): the page of a report, as a file."""
    folder = tmp_path_factory.mktemp("pages")

    def write_page(report):
        program = os.environ["WRITE_PAGE"]
        done = subprocess.run(
            [program], input=json.dumps(report).encode(), stdout=subprocess.PIPE, check=True
        )
        file = folder / f"{len(list(folder.iterdir()))}.html"
        file.write_bytes(done.stdout)
        return file

    return write_page


@pytest.fixture(scope="session")
def pages(write):
    return {
        make.__name__: write(make())
        for make in (reports.language_model, reports.translation, reports.classification, reports.single)
    }
