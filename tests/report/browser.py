"""Chromium without a window, and what a test asks of a page in it."""

import json
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

HEAT_MAP = "#attention .maps image"


def picture(browser):
    """The heat map as the browser has it: the pixels of the image within the chart."""
    return browser.one(HEAT_MAP).get_attribute("href")


class Browser:
    """One Chromium for many pages; the network's and the console's events are kept."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        # --no-sandbox: containers run tests as root, and have little shared memory.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))

    def open(self, file, width=1440, dark=False):
        self.screen(width)
        self.prefer(dark)
        self.console(), self.requests()  # what an earlier page left
        self.driver.get(file.as_uri())
        self.wait(lambda: self.run("return document.querySelectorAll('.chart svg').length > 0"))

    def screen(self, width):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, dark):
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})

    def print_media(self):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})

    def console(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for, beside the page itself and what lies inside it."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("data:")]

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition):
        return WebDriverWait(self.driver, 20, 0.05).until(lambda _: condition())

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return [found.text for found in self.all(selector)]

    def select(self, section, name):
        return Select(self.one(f"#{section} select[name={name}]"))

    def hover(self, found, across=0.5, down=0.5):
        """The pointer at a place of an element, given as shares of its width and height."""
        self.run("arguments[0].scrollIntoView({block: 'center'})", found)
        size = found.size
        x, y = round((across - 0.5) * size["width"]), round((down - 0.5) * size["height"])
        ActionChains(self.driver).move_to_element_with_offset(found, x, y).perform()

    def tip(self):
        return self.wait(lambda: self.one("#tip").is_displayed() and self.one("#tip").text)
