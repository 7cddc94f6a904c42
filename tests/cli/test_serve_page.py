"""The page of synth serve in Chromium: used as a person uses it, on a desk and on a phone, light and dark."""

import json
import os
import pathlib
import sys
import urllib.parse

import pytest
from selenium.webdriver.support.ui import Select

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "report"))
from browser import Browser  # noqa: E402


@pytest.fixture(scope="module")
def browser():
    made = Browser()
    yield made
    made.driver.quit()


@pytest.fixture
def page(browser, shared_server):
    """open(width, dark): the page with its models shown."""

    def open_page(width=1440, dark=False, url=shared_server.url):
        browser.screen(width)
        browser.prefer(dark)
        browser.console(), browser.requests()
        browser.driver.get(url + "/")
        browser.wait(lambda: browser.all("#models input") or browser.one("#token").is_displayed())
        return browser

    return open_page


def picture_to_look_at(browser, name):
    """A screenshot of the whole page where $SCREENSHOTS names a folder for it."""
    if folder := os.environ.get("SCREENSHOTS"):
        height = browser.run("return document.documentElement.scrollHeight")
        metrics = browser.run("return [innerWidth, devicePixelRatio]")
        browser.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": metrics[0], "height": height, "deviceScaleFactor": 1, "mobile": metrics[0] < 600},
        )
        browser.driver.save_screenshot(f"{folder}/{name}.png")


def choose(browser, names):
    for box in browser.all("#models input"):
        if box.is_selected() != (box.get_attribute("id").removeprefix("model-") in names):
            box.click()


def use(browser, name):
    browser.select("uses", "use").select_by_value(name)


def write(browser, text):
    browser.one("#input").clear()
    browser.one("#input").send_keys(text)
    browser.one("#run").click()


def answers(browser):
    """Model and text of each card once all are there."""
    browser.wait(lambda: browser.all(".answer") and not browser.all(".answer.busy"))
    return {card.get_attribute("data-model"): card.find_element("css selector", ".text").text
            for card in browser.all(".answer")}  # fmt: skip


def fits(browser):
    root = browser.one("html")
    return root.get_property("scrollWidth") <= root.get_property("clientWidth")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 390])
def test_a_text_goes_through_all_models_side_by_side(page, shared_server, width, dark):
    browser = page(width, dark)
    assert fits(browser) and browser.all("#models .model")[0].text.startswith("numbers")
    assert not browser.one("#token").is_displayed() and not browser.one("#stop").is_displayed()
    write(browser, "four hundred twenty-three")
    expected = {
        model: shared_server.good("/v1/translate", {"model": model, "text": "four hundred twenty-three"})
        for model in ("numbers", "numbers-int8")
    }
    assert answers(browser) == {model: e["results"][0]["text"] for model, e in expected.items()}
    browser.wait(lambda: browser.all("#maps .chart svg"))
    assert fits(browser)
    cards = [card.rect for card in browser.all(".answer")]
    assert (cards[0]["y"] == cards[1]["y"]) == (width == 1440)  # side by side, or one below the other
    shade = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert shade == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    assert browser.console() == []
    hosts = {url.split("/")[2] for url in browser.requests()}
    assert hosts == {f"{shared_server.host}:{shared_server.port}"}
    picture_to_look_at(browser, f"serve-{width}-{'dark' if dark else 'light'}")


def test_the_map_follows_model_stack_layer_and_head(page):
    browser = page()
    write(browser, "seventy-one")
    browser.wait(lambda: browser.all("#maps .chart svg"))
    picture = lambda: browser.one("#maps .maps image").get_attribute("href")  # noqa: E731
    seen = {picture()}
    for name, value in [("stack", "cross"), ("layer", "1"), ("head", "2"), ("run", "1")]:
        browser.select("attention", name).select_by_value(value)
        seen.add(picture())
    assert len(seen) == 5
    browser.all("#attention .heads button")[0].click()
    assert browser.select("attention", "head").first_selected_option.text == "1"
    browser.hover(browser.one("#maps .maps svg"))
    assert "weight" in browser.tip()


def body_of(command):
    """What a curl command of the page sends."""
    return json.loads(command.split(" -d ", 1)[1].strip("'"))


def test_the_request_for_a_map_has_the_numbers_of_the_api(page, shared_server):
    browser = page()
    write(browser, "seventy-one")
    browser.wait(lambda: browser.all("#maps .chart svg"))
    assert browser.one("#maps label:has(select[name=run])").text.startswith("Model")
    for name, value in [("run", "1"), ("stack", "cross"), ("layer", "1"), ("head", "2")]:
        browser.select("attention", name).select_by_value(value)
    (shown,) = browser.text("#maps .heads button[aria-pressed=true] span div:first-child")
    assert shown == "head 3"
    body = body_of(browser.one("#map-command").text)
    target = shared_server.good("/v1/translate", {"model": "numbers-int8", "text": "seventy-one"})
    assert body == {"model": "numbers-int8", "text": "seventy-one", "side": "cross", "layer": 1, "head": 2,
                    "target": target["results"][0]["text"]}  # fmt: skip
    assert shared_server.good("/v1/attention", body)["head"] == 2
    browser.all("#attention .heads button")[0].click()
    assert body_of(browser.one("#map-command").text)["head"] == 0


def test_a_text_is_continued_as_it_is_written(page, shared_server):
    browser = page()
    use(browser, "generate")
    tokens = browser.one("#settings input[name=tokens]")
    tokens.clear()
    tokens.send_keys("30")
    write(browser, "ROMEO:")
    body = {"prompt": "ROMEO:", "tokens": 30, "temperature": 0.8, "seed": 1}
    expected = shared_server.good("/v1/generate", body)["text"]
    browser.wait(lambda: not browser.all(".answer.busy") and browser.all(".answer"))
    shown = browser.run("return document.querySelector('.answer .text').textContent")
    assert shown == "ROMEO:" + expected
    assert "30 tokens" in browser.one(".answer .quiet").text
    browser.wait(lambda: browser.all("#maps .chart svg"))
    assert '"tokens":30' in browser.one("#command").text


def asked(browser):
    """The bodies of the requests that the page has sent, by path; the latest of each."""
    sent = {}
    for entry in browser.driver.get_log("performance"):
        event = json.loads(entry["message"])["message"]
        if event["method"] == "Network.requestWillBeSent" and "postData" in event["params"]["request"]:
            request = event["params"]["request"]
            sent[urllib.parse.urlsplit(request["url"]).path] = json.loads(request["postData"])
    return sent


def test_the_beam_is_chosen_on_the_page(page, shared_server):
    browser = page()
    choose(browser, ["numbers"])
    for beam in (1, 4):
        Select(browser.one("#settings select")).select_by_value(str(beam))
        write(browser, "nine hundred ninety-nine")
        body = {"model": "numbers", "text": "nine hundred ninety-nine", "beam": beam}
        expected = shared_server.good("/v1/translate", body)["results"][0]["text"]
        assert answers(browser) == {"numbers": expected}
        sent = asked(browser)["/v1/translate"]
        assert sent == (body | {"stream": True} if beam == 1 else body)
        assert f'"beam":{beam}' in browser.one("#command").text


def test_the_temperature_is_changed_on_the_page(page, shared_server):
    browser = page()
    use(browser, "generate")
    shown = set()
    for temperature in ("0", "1.5"):
        for name, value in [("tokens", "20"), ("temperature", temperature)]:
            field = browser.one(f"#settings input[name={name}]")
            field.clear()
            field.send_keys(value)
        write(browser, "ROMEO:")
        body = {"prompt": "ROMEO:", "tokens": 20, "temperature": float(temperature), "seed": 1}
        expected = "ROMEO:" + shared_server.good("/v1/generate", body)["text"]
        browser.wait(lambda: browser.all(".answer") and not browser.all(".answer.busy"))
        shown.add(browser.run("return document.querySelector('.answer .text').textContent"))
        assert expected in shown
        assert asked(browser)["/v1/generate"]["temperature"] == float(temperature)
    assert len(shown) == 2


def test_a_long_text_is_stopped(page, shared_server):
    browser = page()
    use(browser, "generate")
    tokens = browser.one("#settings input[name=tokens]")
    tokens.clear()
    tokens.send_keys("2048")
    # Inside the page, as soon as there are a few characters: a small model may be done before the driver
    # has looked.
    browser.run("""
        new MutationObserver((_, observer) => {
          const text = document.querySelector(".answer .text");
          if (!text || text.textContent.length < 6) return;
          observer.disconnect();
          document.querySelector("#stop").click();
        }).observe(document.body, { subtree: true, childList: true, characterData: true });""")
    write(browser, "a")
    browser.wait(lambda: "stopped" in browser.one(".answer .text").text)
    shared_server.wait_for(lambda: shared_server.metric("synth_active_texts") == 0)


def test_classes_with_their_shares(page):
    browser = page()
    use(browser, "classify")
    write(browser, "red tree")
    (label,) = answers(browser).values()
    rows = browser.text(".answer tbody tr")
    assert rows[0].startswith(label) and len(rows) == 3
    assert all(row.endswith("%") for row in rows)


def test_errors_are_shown_where_they_belong(page):
    browser = page()
    choose(browser, ["numbers"])
    write(browser, "one " * 300)
    browser.wait(lambda: browser.all(".answer .failed"))
    assert "tokens" in browser.one(".answer .failed").text
    browser.one("#settings input[name=truncate]").click()
    browser.one("#run").click()
    browser.wait(lambda: browser.all("#maps .failed"))
    assert not browser.all(".answer .failed") and answers(browser)["numbers"]
    assert "attention weights of numbers: " in browser.one("#maps .failed").text  # of the whole text
    assert '"too_long":"truncate"' in browser.one("#command").text
    choose(browser, [])
    write(browser, "one")
    assert browser.one("#status").text == "Choose a model."


def test_text_is_never_markup(page):
    browser = page()
    use(browser, "generate")
    write(browser, "<img src=x onerror=alert(1)>")
    browser.wait(lambda: browser.all(".answer") and not browser.all(".answer.busy"))
    assert not browser.all(".answer img")


def test_a_token_is_asked_for_before_all_else(page, serve, class_run, tmp_path):
    (tmp_path / "token").write_text("secret\n")
    server = serve(class_run, "--token-file", tmp_path / "token")
    browser = page(url=server.url)
    status = browser.one("#access-status")
    assert status.text == "This server needs a token."
    assert not browser.one("#form").is_displayed() and not browser.one("footer").is_displayed()
    browser.one("#token").send_keys("wrong\n")
    browser.wait(lambda: status.text == "The token is not accepted.")
    assert not browser.one("#form").is_displayed()
    browser.one("#token").clear()
    browser.one("#token").send_keys("secret\n")
    browser.wait(lambda: browser.all("#models input"))
    assert not browser.one("#token").is_displayed()
    write(browser, "blue bird")
    assert len(answers(browser)) == 1
    assert ' -H "Authorization: Bearer TOKEN" -d ' in browser.one("#command").text


def test_the_command_line_asks_the_models_that_the_page_asks(page, shared_server):
    browser = page()
    browser.one("#input").send_keys("it's \n one")
    for names in (["numbers", "numbers-int8"], ["numbers-int8"]):
        choose(browser, names)
        commands = browser.one("#command").text.splitlines()
        assert [command.split('"model":"')[1].split('"')[0] for command in commands] == names
        assert all(command.startswith(f"curl {shared_server.url}/v1/translate -d ") for command in commands)
        assert all("it'\\''s one" in command for command in commands)


def test_the_limits_of_the_server_are_those_of_the_page(page, serve, language_run):
    browser = page(url=serve(language_run, "--tokens", 20).url)
    tokens = browser.one("#settings input[name=tokens]")
    assert tokens.get_property("value") == tokens.get_property("max") == "20"
    write(browser, "a")
    assert answers(browser).keys() == {"language"} and not browser.all(".failed")
    assert "20 tokens" in browser.one(".answer .quiet").text
    assert browser.one("#models small").text.endswith(" parameters")


def test_a_long_name_fits_a_phone(page, serve, small_run, tmp_path):
    (tmp_path / ("long-" * 40)).symlink_to(small_run)
    browser = page(390, url=serve(tmp_path / ("long-" * 40)).url)
    assert fits(browser)
    write(browser, "one")
    assert len(answers(browser)) == 1
    browser.wait(lambda: browser.all("#maps .chart svg"))
    assert fits(browser)


def test_models_without_attention_weights_are_named(
    page, serve, train, language_recipe, language_run, tmp_path
):
    convolution = train(language_recipe, tmp_path / "convolution", "model.attention=dynamic-conv")
    browser = page(url=serve(convolution, language_run).url)
    write(browser, "a")
    browser.wait(lambda: browser.all("#maps .chart svg"))
    (failure,) = browser.text("#maps .failed")
    assert failure.startswith("No attention weights of convolution: 'convolution' has no attention weights")
    assert "language" in browser.one("#attention .quiet").text


def test_a_server_that_has_gone(page, serve, language_run):
    server = serve(language_run, "--tokens", 1000000, "--drain", 0)
    browser = page(url=server.url)
    tokens = browser.one("#settings input[name=tokens]")
    tokens.clear()
    tokens.send_keys("1000000")
    write(browser, "a")
    browser.wait(lambda: len(browser.one(".answer .text").text) > 5)
    server.process.kill()
    browser.wait(lambda: browser.all(".answer .failed"))
    assert browser.one(".answer .failed").text == "the answer was broken off"
    browser.one("#run").click()
    browser.wait(lambda: browser.text(".answer .failed") == ["the server does not answer"])
