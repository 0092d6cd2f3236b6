"""A page in a real browser, as a reader has it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 180  # seconds, on a machine that is busy with other things


class Browser:
    """Headless Chromium that notes every request and every complaint."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1400, height: int = 1000) -> None:
        """Open a page from disk, and wait until its selector answers and charts are drawn."""
        self.forget()
        self.resize(width, height)
        self.driver.get(page.resolve().as_uri())
        self.wait("performance.getEntriesByName('polarbear-draws').length > 0")

    def resize(self, width: int, height: int = 1000) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def ask(self, expression: str, *arguments: Any) -> Any:
        return self.driver.execute_script(f"return ({expression})", *arguments)

    def wait(self, condition: str) -> None:
        """Until a condition holds in the page."""
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, PATIENCE, 0.05).until(
            lambda _: self.ask(condition), f"never came true: {condition}"
        )

    def text(self, id: str) -> str:
        return str(self.ask("document.getElementById(arguments[0]).textContent", id))

    def set(self, id: str, value: Any) -> None:
        """Move a slider, or fill in a box, as a reader does."""
        self.ask(
            "(() => { const input = document.getElementById(arguments[0]);"
            " input.value = arguments[1];"
            " input.dispatchEvent(new Event('input', {bubbles: true}));"
            " input.dispatchEvent(new Event('change', {bubbles: true})); })()",
            id,
            str(value),
        )

    def pick(self, name: str, value: str) -> None:
        """Press one of several radio buttons."""
        self.ask(
            "document.querySelector(`input[name='${arguments[0]}'][value='${arguments[1]}']`)"
            ".click()",
            name,
            value,
        )

    def draw_all(self) -> None:
        """Scroll through the whole page, so that every chart that is not hidden is drawn."""
        charts = "[...document.querySelectorAll('.chart')].filter(chart => chart.offsetParent)"
        for i in range(self.ask(f"{charts}.length")):
            self.ask(f"{charts}[{i}].scrollIntoView({{behavior: 'instant', block: 'center'}})")
            self.wait(f"{charts}[{i}].dataset.drawn === 'yes'")

    def forget(self) -> None:
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)

    def complaints(self) -> list[str]:
        """The messages of the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The addresses that the page has requested, except its own and embedded ones."""
        addresses = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        own = [url for url in addresses if url.startswith("file:") and url.endswith(".html")]
        return [u for u in addresses if u not in own[:1] and not u.startswith(("data:", "blob:"))]


def _program(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, f"{name} is missing: apt-get install chromium chromium-driver"
    return path


@contextmanager
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a process."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium")
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    opened = webdriver.Chrome(options=options, service=Service(_program("chromedriver")))
    opened.set_page_load_timeout(PATIENCE)
    opened.set_script_timeout(PATIENCE)
    try:
        yield Browser(opened)
    finally:
        opened.quit()
