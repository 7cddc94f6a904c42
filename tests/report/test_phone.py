"""The page at 390 pixels, the width of a phone; and that it says nothing about what it does not show."""

import pytest

import reports
from browser import HEAT_MAP

PHONE = 390
HINT = "#table .hint"

PIXEL = """
const [image, row, column, rows, columns] = arguments, canvas = document.createElement("canvas");
const drawn = new Image();
drawn.src = image.getAttribute("href");
return drawn.decode().then(() => {
  canvas.width = drawn.naturalWidth, canvas.height = drawn.naturalHeight;
  const context = canvas.getContext("2d");
  context.drawImage(drawn, 0, 0);
  const x = (column + 0.5) * canvas.width / columns, y = (row + 0.5) * canvas.height / rows;
  return Array.from(context.getImageData(Math.floor(x), Math.floor(y), 1, 1).data);
});
"""


def test_a_table_that_is_wider_says_so_until_its_end(browser, pages):
    browser.open(pages["language_model"], PHONE)
    browser.wait(lambda: browser.one(HINT).is_displayed())
    assert "sideways" in browser.one(HINT).text
    browser.run("const box = document.querySelector('#table .scroll'); box.scrollLeft = box.scrollWidth")
    browser.wait(lambda: not browser.one(HINT).is_displayed())


def test_a_table_that_fits_says_nothing(browser, pages):
    browser.open(pages["single"], 1440)
    assert not browser.one(HINT).is_displayed()


def test_the_command_is_wrapped(browser, write):
    report = reports.language_model()
    report["command"] = "synth compare recipes/language-model/shakespeare.toml --attention V,D,R,FR,R+V " * 4
    browser.open(write(report), PHONE)
    box = browser.one("#command pre")
    assert box.get_property("scrollWidth") <= box.get_property("clientWidth")
    assert box.size["height"] > 100


@pytest.mark.parametrize("name", ["language_model", "translation", "classification", "single"])
def test_no_label_is_cut_off(browser, pages, name):
    """Every text of every chart lies within the box of its chart, which hides what does not."""
    browser.open(pages[name], PHONE)
    cut = browser.run("""
        return [...document.querySelectorAll(".chart")].flatMap((box) => {
          const frame = box.getBoundingClientRect();
          return [...box.querySelectorAll("svg text")].filter((text) => {
            const place = text.getBoundingClientRect();
            const shown = place.width > 0 && getComputedStyle(text).opacity > 0;
            return shown && (place.left < frame.left - 1 || place.right > frame.right + 1);
          }).map((text) => `${box.dataset.label}: ${text.textContent}`);
        });
    """)
    assert cut == []


@pytest.mark.parametrize("dark", [False, True])
def test_what_is_masked_is_not_what_is_zero(browser, write, dark):
    """The decoder's first row sees one column: the others are masked. A weight of zero looks otherwise."""
    report = reports.language_model()
    head = report["runs"][0]["attention"][0]["heads"][0]
    size = head["weights"]["rows"]
    browser.open(write(report), dark=dark)
    image = browser.one(HEAT_MAP)
    masked = browser.run(PIXEL, image, 0, size - 1, size, size)
    zero = browser.run(PIXEL, image, size - 1, 0, size, size)
    assert max(abs(a - b) for a, b in zip(masked, zero)) > 25, (masked, zero)
    browser.hover(image, across=(size - 0.5) / size, down=0.5 / size)
    assert browser.tip().split("\n")[0] == "masked"
    assert "masked" in browser.one("#attention .ramp").text


def test_an_encoder_has_no_mask(browser, pages):
    browser.open(pages["translation"])
    assert "masked" not in browser.one("#attention .ramp").text


def test_no_notes_about_lines_that_are_not_there(browser, write):
    report = reports.language_model()
    for run in report["runs"]:
        for cell in run["scores"].values():
            for key in ("low", "high", "p"):
                cell.pop(key, None)
        for record in run.get("mixture", []):
            record["weights"] = [0.4, 0.6][: len(record["members"])]
    browser.open(write(report))
    text = browser.one("body").text
    for word in ("Faint lines are single heads", "intervals", "p < 0.05", "bootstrap"):
        assert word not in text, word


def test_stars_are_explained_where_there_are_some(browser, write):
    report = reports.translation()
    browser.open(write(report))
    assert "** p < 0.01" in browser.text("#table > .quiet")[0]
    for run in report["runs"][1:]:
        for cell in run["scores"].values():
            if "p" in cell:
                cell["p"] = 0.4
    browser.open(write(report))
    note = browser.text("#table > .quiet")[0]
    assert "**" not in note and "No score differs" in note
