"""The page of incc-web in headless Chromium: a new user's way through it, by mouse and by keyboard alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import axe_core
from npm_packages import check, installed
from web_client import Server, running

pytest.importorskip("selenium")

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

pytestmark = pytest.mark.long

PATIENCE = 60
WEB = Path(__file__).parents[2] / "live" / "web"
SUM = "double sum(const double *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }"


class Page:
    """A browser with the page."""

    def __init__(self, width: int = 1500, dark: bool = False) -> None:
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, what: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, PATIENCE, ignored_exceptions=[Exception]).until(lambda _: what())

    def statuses(self) -> list[str]:
        return [element.text for element in self.all(".status")]

    def settled(self, panes: int = 1) -> list[str]:
        """Wait until all panes have their results, and return their status lines."""

        def done() -> bool:
            busy = self.all(".pane[aria-busy]")
            return not busy and len(self.statuses()) == panes and all("waits" not in s and s for s in self.statuses())

        self.wait(done)
        return self.statuses()

    def type(self, text: str) -> None:
        """Replace the source, as by keyboard."""
        editor = self.one(".cm-content")
        editor.send_keys(Keys.CONTROL, "a")
        editor.send_keys(text)

    def focused(self) -> str:
        """Return the id, or else the class, of the element that has the focus."""
        active = self.driver.switch_to.active_element
        return active.get_attribute("id") or active.get_attribute("class") or active.tag_name

    def in_report(self, number: int = 0) -> None:
        self.driver.switch_to.default_content()
        self.driver.switch_to.frame(self.all(".pane iframe")[number])

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not shutil.which("chromedriver"):
        pytest.skip("no chromedriver")
    with running() as started:
        yield started


@pytest.fixture
def open_page(server: Server) -> Iterator[Callable[..., Page]]:
    pages: list[Page] = []

    def make(address: str = "", **options: Any) -> Page:
        page = Page(**options)
        pages.append(page)
        page.driver.get(address or server.address)
        return page

    yield make
    for page in pages:
        page.driver.quit()


def test_the_scripts_are_those_of_their_sources(tmp_path: Path) -> None:
    copy = tmp_path / "page"
    installed(WEB / "page", copy)
    for words in (("run", "lint"), ("test",), ("run", "build")):
        check(copy, *words)
    for name in ("page.js", "token.js"):
        assert (tmp_path / "static" / name).read_bytes() == (WEB / "static" / name).read_bytes(), "run `make page`"


def test_a_new_user_s_way_to_a_shared_link(open_page: Callable[..., Page], server: Server) -> None:
    page = open_page()
    assert "cycles" in page.settled()[0]
    # Type a source: its loop has cycles behind its line, and a report.
    page.type(SUM)
    page.wait(lambda: "chain" in page.statuses()[0])
    page.wait(lambda: "cycles" in page.one(".cm-content .cycles").text)
    page.in_report()
    page.wait(lambda: page.one("#verdict").text)
    page.driver.switch_to.default_content()
    # A second pane with other options, and the comparison.
    page.one("#add").click()
    page.settled(2)
    options = page.all(".pane input[type=text]")[1]
    options.clear()
    options.send_keys("-O3 -march=skylake-avx512 -ffast-math")
    page.wait(lambda: "on skylake-avx512" in page.settled(2)[1])
    page.one("#compare").click()
    page.wait(lambda: page.one("#comparison").is_displayed() and page.one("#comparison-report").get_attribute("src"))
    page.driver.switch_to.frame(page.one("#comparison-report"))
    page.wait(lambda: "-ffast-math" in page.one("body").text)
    page.driver.switch_to.default_content()
    page.one("#share").click()
    page.wait(lambda: page.one("#said").text)
    link = page.driver.current_url
    assert "token" not in link
    # Another browser asks for the token, and then shows the same.
    other = open_page(link)
    field = other.wait(lambda: other.one("#token"))
    field.send_keys("wrong", Keys.ENTER)
    field = other.wait(lambda: other.one("#token"))
    other.driver.get(link)
    field = other.wait(lambda: other.one("#token"))
    field.send_keys(server.token, Keys.ENTER)
    other.wait(lambda: other.all(".pane"))
    assert other.settled(2)[0] == page.settled(2)[0]
    assert SUM in other.one(".cm-content").text
    assert other.all(".pane input[type=text]")[1].get_attribute("value") == "-O3 -march=skylake-avx512 -ffast-math"
    assert other.one("#compare").is_selected()
    assert not page.errors()


def test_lines_and_instructions_point_at_each_other(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.settled()
    page.wait(lambda: page.all(".cm-line.coloured"))
    page.in_report()
    row = page.wait(lambda: page.all("table.assembly tbody tr"))[0]
    line = int(row.get_attribute("data-source"))
    webdriver.ActionChains(page.driver).scroll_to_element(row).move_to_element(row).perform()
    page.driver.switch_to.default_content()
    hit = page.wait(lambda: page.one(".cm-line.hit"))
    assert page.all(".cm-line").index(hit) == line - 1
    # And back: the mouse over a line marks its instructions.
    webdriver.ActionChains(page.driver).move_to_element(page.all(".cm-line")[line - 1]).perform()
    page.in_report()
    page.wait(lambda: page.all("table.assembly tbody tr.hit"))
    assert {row.get_attribute("data-source") for row in page.all("table.assembly tbody tr.hit")} == {str(line)}


def test_what_ifs_and_sizes_of_data(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.settled()
    page.one(".what-if summary").click()
    page.one(".what-if input[id^=data]").send_keys(Keys.ARROW_RIGHT * 10)
    page.wait(lambda: "from" in page.one(".results").text)
    page.one(".what-if input[id^=rob]").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    page.wait(lambda: "rob" in page.one(".results").text)
    assert not page.errors()


def test_a_source_that_does_not_compile_says_why_and_keeps_the_report(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.settled()
    page.type("void f(double *a) { a[0] = b; }")
    page.wait(lambda: "error" in page.statuses()[0])
    assert "undeclared" in page.one(".messages").text
    assert page.one(".pane iframe").is_displayed()
    assert "old" in (page.one(".pane").get_attribute("class") or "")
    page.type(SUM)
    page.wait(lambda: "chain" in page.statuses()[0])
    assert "old" not in (page.one(".pane").get_attribute("class") or "")


def test_the_gallery(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.settled()
    names = [option.text for option in Select(page.one("#gallery")).options][1:]
    assert len(names) == 10
    for name in names:
        Select(page.one("#gallery")).select_by_visible_text(name)
        page.wait(lambda: page.all(".pane"))
        page.wait(lambda: "cycles" in page.settled()[0])


def test_a_dropped_report_opens(open_page: Callable[..., Page], server: Server, tmp_path: Path) -> None:
    import incc

    report = tmp_path / "report.json"
    report.write_text(incc.analyze(".L1:\n addl $1, %eax\n jne .L1\n", mcpu="skylake").to_json())
    page = open_page()
    page.settled()
    page.one("#open").send_keys(str(report))
    page.wait(lambda: page.one("#opened").is_displayed())
    page.driver.switch_to.frame(page.one("#opened-report"))
    page.wait(lambda: "Skylake" in page.one("body").text)
    page.driver.switch_to.default_content()
    page.one("#opened button").click()
    report.write_text("{}")
    page.one("#open").send_keys(str(report))
    page.wait(lambda: "not an incc report" in page.one("#said").text)


def test_a_link_on_another_page_leads_to_the_page(open_page: Callable[..., Page], server: Server) -> None:
    page = open_page()
    page.settled()
    page.driver.get(f"data:text/html,<a href='{server.base}/'>a link</a>")
    page.one("a").click()
    page.wait(lambda: page.all(".pane"))


def test_a_server_that_has_ended_is_reported(open_page: Callable[..., Page]) -> None:
    with running() as other:
        page = open_page(other.address)
        page.settled()
    page.type(SUM)
    page.wait(lambda: "incc-web does not answer" in page.statuses()[0])


def test_four_panes_with_their_comparison_have_room_for_reports(open_page: Callable[..., Page]) -> None:
    page = open_page()
    for count in (2, 3, 4):
        page.settled(count - 1)
        page.one("#add").click()
    page.settled(4)
    page.one("#compare").click()
    page.wait(lambda: page.one("#comparison-report").is_displayed())
    assert min(frame.size["height"] for frame in page.all(".pane iframe")) >= 200
    assert min(pane.size["height"] for pane in page.all(".pane")) >= 300


def test_the_keyboard_alone(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.settled()
    seen = []
    for _ in range(14):
        webdriver.ActionChains(page.driver).send_keys(Keys.TAB).perform()
        seen.append(page.focused())
    for name in ("gallery", "language", "add", "share", "open", "cm-content"):
        assert any(name in one for one in seen), (name, seen)
    assert any(one.startswith("compiler") for one in seen), "Tab leaves the editor"
    assert any(one.startswith("options") for one in seen)
    page.one("#add").send_keys(Keys.ENTER)
    page.settled(2)
    assert page.focused().startswith("compiler")
    page.all(".pane")[1].find_element(By.XPATH, ".//button[text()='Remove']").send_keys(Keys.ENTER)
    page.settled(1)
    assert page.focused() == "add"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 700, 1100, 1500])
def test_no_width_or_colour_is_inaccessible(open_page: Callable[..., Page], width: int, dark: bool) -> None:
    page = open_page(width=width, dark=dark)
    page.settled()
    page.one("#add").click()
    page.settled(2)
    for summary in page.all(".what-if summary"):
        summary.click()
    sizes = page.driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1], "nothing is wider than the page"
    library = axe_core()
    # The frames have a policy that admits no other scripts; the pages inside have tests of their own.
    found = page.driver.execute_async_script(
        f"{library}\nconst done = arguments[0]; axe.run(document, {{iframes: false}}).then(r => done(JSON.stringify("
        "r.violations.map(v => [v.id, v.nodes.map(n => n.target)]))));"
    )
    assert json.loads(found) == []
