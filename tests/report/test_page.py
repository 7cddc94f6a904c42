"""report.html as a reader meets it: in Chromium, on a desk and on a phone, in light and in dark."""

import pytest

import reports
from browser import picture

ALL = ["language_model", "translation", "classification", "single"]


def fits(browser):
    """Whether nothing makes the page itself scroll sideways."""
    page = browser.one("html")
    return page.get_property("scrollWidth") <= page.get_property("clientWidth")


def background(browser):
    return browser.run("return getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 390])
def test_opens_without_complaint_or_request_and_fits_the_screen(browser, pages, name, width, dark):
    browser.open(pages[name], width, dark)
    assert browser.console() == []
    assert browser.requests() == [pages[name].as_uri()]
    assert fits(browser)
    assert background(browser) == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    for box in browser.all(".chart"):
        assert box.find_elements("css selector", "svg"), box.get_attribute("aria-label")


def test_the_table_has_every_run_with_interval_mark_paper_and_best_in_bold(browser, pages):
    browser.open(pages["translation"])
    assert browser.text("#table tbody th") == ["V", "R", "R+V"]
    assert browser.text("#table tbody tr:last-child td.best")[0] == "37.34**\n36.54 – 38.14\npaper 28.47"
    assert "against V" in browser.text("#table .quiet")[0]
    assert "R+V has the best BLEU" in browser.text("#summary")[0]


def test_a_column_sorts_best_first_and_then_the_other_way(browser, pages):
    browser.open(pages["language_model"])
    head = next(h for h in browser.all("#table thead th") if h.text.startswith("Perplexity"))
    rows = lambda: browser.text("#table tbody th")  # noqa: E731
    before = rows()
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    ascending = rows()
    assert ascending[0] in ("V", "FR") and ascending[-1] == "R" and ascending != before
    head.find_element("css selector", "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert rows()[0] == "R"


def test_outputs_stand_beside_source_and_reference_as_text(browser, pages):
    browser.open(pages["translation"])
    assert browser.text("#samples .sample:last-child dt") == ["Source", "Reference", "V", "R", "R+V"]
    assert browser.text("#samples .sample:last-child dd")[2] == "Zwei <b>Hunde</b> spielen im Schnee ."
    browser.open(pages["classification"])
    assert browser.text("#samples dd.wrong") == ["World"]


def test_settings_that_differ_are_seen_and_shared_ones_unfold(browser, pages):
    browser.open(pages["language_model"])
    assert browser.text("#settings > .scroller tbody td") == ["V", "D", "R", "FR", "R+V"]
    shared = browser.one("#settings details table")
    assert not shared.is_displayed()
    browser.one("#settings summary").click()
    assert shared.is_displayed() and "model.width" in shared.text
    assert browser.text("#command code")[0].startswith("synth compare recipes/")


def test_the_switch_turns_light_into_dark_and_back_charts_included(browser, pages):
    browser.open(pages["translation"])
    light, map_in_light = background(browser), picture(browser)
    line = "return getComputedStyle(document.querySelector('#curves .mark-line path')).stroke"
    stroke = browser.run(line)
    browser.one("#theme").click()
    assert background(browser) != light and picture(browser) != map_in_light and browser.run(line) != stroke
    browser.one("#theme").click()
    assert background(browser) == light and picture(browser) == map_in_light and browser.run(line) == stroke


def test_paper_is_white_has_all_sections_and_no_controls(browser, pages):
    browser.open(pages["translation"], dark=True)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.print_media()
    assert background(browser) == "rgb(255, 255, 255)"
    assert not any(found.is_displayed() for found in browser.all("select, nav, #theme"))
    assert all(found.is_displayed() for found in browser.all("section, details table"))
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert background(browser) == "rgb(20, 23, 27)"


def test_sections_without_data_are_left_out(browser, write):
    report = reports.classification()
    for run in report["runs"]:
        del run["attention"], run["outputs"], run["scores"], run["train_tokens_per_second"]
    del report["settings"], report["command"]
    browser.open(write(report))
    assert [part.get_attribute("id") for part in browser.all("section")] == ["table", "curves"]
    assert browser.text("nav a") == ["Side by side", "While training"]
    assert browser.console() == []


def test_text_that_looks_like_markup_stays_text(browser, write):
    report = reports.single()
    report["title"] = "</script><script>document.title = 'hurt'</script> & {{data}}"
    report["runs"][0]["outputs"] = ["</script><img src=x onerror=alert(1)> <!--", "{{title}}"]
    browser.open(write(report))
    assert browser.console() == []
    assert browser.text("#title")[0] == report["title"] == browser.driver.title
    assert browser.text("#samples dd")[1] == report["runs"][0]["outputs"][0]


def test_eight_layers_of_eight_heads_stay_some_megabytes(browser, write):
    report = reports.language_model()
    for run in report["runs"]:
        run["attention"] = reports.looks("R", "decoder", 8, 8, length=64)
    file = write(report)
    assert file.stat().st_size < 12e6
    browser.open(file)
    assert browser.console() == []
    assert len(browser.all("#attention .heads button")) == 8


def test_more_runs_than_colours_differ_in_their_dashes(browser, write):
    report = reports.classification()
    report["runs"] = [dict(report["runs"][i % 3], name=f"run {i}") for i in range(10)]
    browser.open(write(report), 390)
    assert browser.console() == []
    assert fits(browser)
    first, ninth = (browser.all("#curves .key .dash")[i] for i in (0, 8))
    assert first.value_of_css_property("border-top-style") != ninth.value_of_css_property("border-top-style")


def test_a_spread_over_seeds_stands_beside_its_mean(browser, write):
    report = reports.classification()
    for run in report["runs"]:
        run["scores"]["accuracy"] = {"value": 88.04, "spread": 0.31}
    browser.open(write(report))
    assert browser.text("#table tbody tr:first-child td")[2] == "88.0\n± 0.3"
    assert "over seeds" in browser.text("#table .quiet")[0]
