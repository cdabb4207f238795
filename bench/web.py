"""Measure the live page of incc-web: its first paint, and the time of the triad's answer beyond its compilation.

    python bench/web.py [--repeat N]

The server starts on this machine, and Chromium (through Selenium) opens its page. The compilation is that of the same
source with the same options by the compiler alone.
"""

from __future__ import annotations

import argparse
import http.client
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

GALLERY = Path(__file__).parents[1] / "live" / "web" / "page" / "gallery"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=11)
    repeat = parser.parse_args().repeat
    command = ["incc-web", "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[1]
        try:
            base, token = address.split("/?token=")
            choices = json.loads(request(base, token, "GET", "/choices"))
            print("source     compiler    compilation   answer   beyond   (ms, medians; goal 400)")
            for compiler in choices["compilers"]:
                if "c" in compiler["languages"] and "-linux-" not in compiler["name"]:
                    row(base, token, "triad.c", compiler["name"], repeat)
            first_paint(address)
        finally:
            server.terminate()


def row(base: str, token: str, name: str, compiler: str, repeat: int) -> None:
    source = (GALLERY / name).read_text()
    options = "-O3 -march=skylake-avx512"
    asked = json.dumps({"source": source, "language": "c", "compiler": compiler, "options": options})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "example.c")
        file.write_text(source)
        compilation = [timed(lambda: compile_alone(compiler, options, file)) for _ in range(repeat)]
    answers = [timed(lambda: request(base, token, "POST", "/explore", asked)) for _ in range(repeat)]
    alone, answer = statistics.median(compilation), statistics.median(answers)
    print(f"{name:<10} {compiler:<10} {alone:12.0f} {answer:8.0f} {answer - alone:8.0f}")


def compile_alone(compiler: str, options: str, file: Path) -> None:
    subprocess.run([compiler, *options.split(), "-c", file, "-o", file.with_suffix(".o")], check=True)


def timed(work: object) -> float:
    start = time.monotonic()
    work()  # type: ignore[operator]
    return 1000 * (time.monotonic() - start)


def request(base: str, token: str, method: str, path: str, body: str | None = None) -> bytes:
    host = base.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=120)
    cookie = f"incc-{host.rpartition(':')[2]}={token}"
    connection.request(method, path, body, {"Cookie": cookie, "Origin": base})
    answer = connection.getresponse()
    data = answer.read()
    assert answer.status == 200, data
    return data


def first_paint(address: str) -> None:
    if not shutil.which("chromedriver"):
        print("first paint: no chromedriver")
        return
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        driver.get(address)
        time.sleep(2)
        script = "return performance.getEntriesByType('paint').map(entry => [entry.name, entry.startTime])"
        for name, moment in driver.execute_script(script):
            print(f"{name}: {moment:.0f} ms (goal 1000)")
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
