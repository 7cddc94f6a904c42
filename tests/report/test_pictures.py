"""Charts of the report: what is chosen is what is drawn, and the pointer finds the numbers behind it."""

import pytest

import reports
from browser import HEAT_MAP, picture


@pytest.mark.parametrize(
    ("name", "value"), [("run", "2"), ("stack", "decoder"), ("layer", "1"), ("head", "3"), ("colours", "0.5")]
)
def test_choosing_another_run_stack_layer_head_or_colours_changes_the_picture(browser, pages, name, value):
    browser.open(pages["translation"])
    before = picture(browser)
    browser.select("attention", name).select_by_value(value)
    browser.wait(lambda: picture(browser) != before)


def test_the_keyboard_chooses_a_layer(browser, pages):
    browser.open(pages["translation"])
    before = picture(browser)
    select = browser.one("#attention select[name=layer]")
    select.send_keys("2")
    browser.wait(lambda: picture(browser) != before)
    assert "layer 2" in browser.text("#attention p.quiet")[0]


def test_a_small_picture_chooses_its_head(browser, pages):
    browser.open(pages["translation"])
    before = picture(browser)
    browser.run("arguments[0].click()", browser.all("#attention .heads button")[2])
    browser.wait(lambda: picture(browser) != before)
    assert browser.select("attention", "head").first_selected_option.text == "3"
    pressed = [button.get_attribute("aria-pressed") for button in browser.all("#attention .heads button")]
    assert pressed == ["false", "false", "true", "false"]


def test_hovering_over_a_weight_says_its_value_and_both_tokens(browser, pages):
    browser.open(pages["translation"])
    browser.hover(browser.one(HEAT_MAP), across=1.5 / 12, down=0.5 / 12)
    weights = reports.softmax(reports.logits("V", 12, 12, 0, 0, causal=False))
    tip = browser.tip().split("\n")
    assert float(tip[0].removeprefix("weight ")) == pytest.approx(weights[0, 1], rel=0.03)
    assert tip[1:] == ["row A (0)", "column man (1)"]


def test_a_global_attention_shows_its_table_at_the_start_and_at_the_end(browser, pages):
    browser.open(pages["translation"])
    browser.select("attention", "run").select_by_visible_text("R")
    assert browser.text("#attention .maps h3") == ["at the start", "at the end"]
    start, end = (image.get_attribute("href") for image in browser.all(HEAT_MAP))
    assert start != end
    browser.select("attention", "picture").select_by_visible_text("learned table")
    browser.hover(browser.all(HEAT_MAP)[1], across=0.5 / 24, down=2.5 / 24)
    table = reports.logits("R", 24, 24, 0, 0, causal=False)
    tip = browser.tip().split("\n")
    assert float(tip[0].removeprefix("logit ")) == pytest.approx(table[2, 0], abs=0.03)
    assert tip[1:] == ["row position 2", "column position 0"]


def test_hovering_over_a_curve_says_the_step_and_every_runs_value(browser, pages):
    browser.open(pages["language_model"])
    browser.hover(browser.all("#curves .chart")[1], across=0.98)
    tip = browser.tip().split("\n")
    assert tip[0] == "step 2,000"
    value = 8 + (60 - 8) * 2.718281828**-4
    assert tip[1] == f"V {value:.2f}"
    assert [line.split(" ")[0] for line in tip[1:]] == ["V", "D", "R", "FR", "R+V"]


def test_curves_go_over_time_as_well(browser, pages):
    browser.open(pages["language_model"])
    browser.select("curves", "over").select_by_visible_text("time")
    browser.hover(browser.all("#curves .chart")[1], across=0.98)
    assert browser.tip().startswith("minutes 4.667")


def test_hovering_over_a_dot_says_which_run_it_is(browser, pages):
    browser.open(pages["translation"])
    browser.hover(browser.all("#trade-offs .mark-symbol path")[0])
    tip = browser.tip()
    assert tip.startswith("V") and "BLEU" in tip and "decoding tokens/s 1,500" in tip


def test_every_layer_has_its_histogram_of_each_stack(browser, pages):
    browser.open(pages["translation"])
    labels = [box.get_attribute("aria-label") for box in browser.all("#histograms .chart")]
    stacks = ("encoder", "decoder", "cross")
    assert labels == [f"Attention weights, {stack}, layer {n}" for stack in stacks for n in (1, 2)]
    browser.hover(browser.all("#histograms .chart")[0], across=0.11)
    weights = reports.softmax(reports.logits("V", 12, 12, 0, 0, causal=False))
    share = 100 * (weights < 0.05).mean()
    assert browser.tip().split("\n")[:3] == ["weight 0 to 0.05", f"V {share:.4g}%", "V before training 0%"]


def test_how_far_tables_moved(browser, write):
    report = reports.classification()
    browser.open(write(report))
    assert not browser.all("#moved")
    table = {"stack": "encoder", "layer": 1, "member": "R", "moved": [0.5, 1.5], "change": [0.25, 0.75]}
    report["runs"] = report["runs"][:1]
    report["runs"][0] |= {"tables": [table, {**table, "moved": [None, None]}], "logit_learning_rate": 30}
    browser.open(write(report))
    rows = browser.text("#moved tbody tr")
    assert [row.split()[-2:] for row in rows] == [["0.500", "1.000"], ["0.500", "–"]]
    assert "learning rate × 30" in rows[0] and "R" in rows[0].split() and "2" in rows[0].split()


def test_mixture_weights_are_shown_for_mixtures_alone(browser, pages):
    browser.open(pages["classification"])
    assert not browser.all("#mixtures")
    browser.open(pages["language_model"])
    browser.hover(browser.all("#mixtures .chart")[1], across=0.98)
    assert browser.tip().split("\n") == ["step 2,000", "R 0.3", "V 0.7"]


def test_one_of_several_sentences_is_chosen(browser, write):
    report = reports.classification()
    report["runs"] = report["runs"][:1]
    report["runs"][0]["attention"] += reports.looks("D", "encoder", 2, 2, "Oil fell .".split())
    browser.open(write(report))
    browser.select("attention", "sentence").select_by_visible_text("Oil fell .")
    browser.hover(browser.one(HEAT_MAP), across=5 / 6, down=1 / 6)
    assert browser.tip().split("\n")[1:] == ["row Oil (0)", "column . (2)"]
    assert len(browser.all("#histograms .chart")) == 2


def test_a_mixture_with_weights_for_each_head_shows_their_mean_and_the_heads(browser, write):
    report = reports.single()
    for record in report["runs"][0]["mixture"]:
        record["weights"] = [[0.2, 0.8], [0.6, 0.4]]
    browser.open(write(report))
    browser.hover(browser.all("#mixtures .chart")[0], across=0.98)
    assert browser.tip().split("\n") == ["step 2,000", "R 0.4", "V 0.6"]
    lines = browser.all("#mixtures .chart")[0].find_elements("css selector", ".mark-line path")
    assert [line.get_attribute("stroke-width") for line in lines] == ["1", "1", "1.75"] * 2
