"""Write a page with a picture of incc-web's live page: two panes and their comparison (docs/pictures.py)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

WIDTH, HEIGHT = 1400, 760
OPTIONS = ("-O3 -march=skylake-avx512", "-O3 -march=skylake-avx512 -ffast-math")


def picture(address: str) -> str:
    """Return a picture of the page in base64."""
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(address)
        wait = WebDriverWait(driver, 60)

        def settled(panes: int) -> None:
            texts = lambda: [element.text for element in driver.find_elements(By.CSS_SELECTOR, ".status")]  # noqa: E731
            wait.until(lambda _: len(texts()) == panes and all("cycles" in text for text in texts()))

        settled(1)
        gallery = driver.find_element(By.ID, "gallery")
        gallery.find_element(By.XPATH, "./option[text()='Sum']").click()
        settled(1)
        driver.find_element(By.ID, "add").click()
        settled(2)
        for field, text in zip(driver.find_elements(By.CSS_SELECTOR, ".pane input[type=text]"), OPTIONS, strict=True):
            field.clear()
            field.send_keys(text)
        time.sleep(3)  # the pause after typing, and the analyses
        settled(2)
        driver.find_element(By.ID, "compare").click()
        time.sleep(3)
        return driver.get_screenshot_as_base64()
    finally:
        driver.quit()


def main() -> None:
    """Start the server and write the page that the command line names."""
    with subprocess.Popen(["incc-web", "--no-browser"], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            image = picture(server.stderr.readline().split()[1])
        finally:
            server.terminate()
    body = f'<img alt="" src="data:image/png;base64,{image}" style="display: block">'
    page = f"<!DOCTYPE html><html><head><style>body {{ margin: 0; }}</style></head><body>{body}</body></html>"
    Path(sys.argv[1]).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
