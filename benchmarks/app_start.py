"""Seconds from typing ``sedil app`` to the page, and to the first denoised picture in Chromium.

Needs the extra app, selenium, chromium and chromedriver. Writes results/app_start.csv: seconds on the clock,
and in its last column those of the processor that the app has used, which no neighbour lengthens.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from chromium import open_chromium
from rows import write_rows

_PORT = 7990


def until(happens):
    while not (seen := happens()):
        time.sleep(0.02)
    return seen


def measure(driver):
    """Seconds until the address is printed, the page is there, the cat is clean; and of the processor."""
    driver.get("about:blank")
    began = time.perf_counter()
    words = [sys.executable, "-m", "sedil", "app", "--no-browser", "--port", str(_PORT)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        served = time.perf_counter() - began
        driver.get(f"http://127.0.0.1:{_PORT}")
        cat = until(lambda: driver.find_elements("css selector", "#denoise-samples button.thumbnail-lg"))[0]
        shown = time.perf_counter() - began
        cat.click()
        until(lambda: driver.find_elements("css selector", "#denoise-result img"))
        clean = time.perf_counter() - began
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        processor = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        process.terminate()
    times = {"served": served, "page": shown, "first_picture": clean, "processor": processor}
    return {name: round(seconds, 2) for name, seconds in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path("results/app_start.csv"))
    arguments = parser.parse_args()
    driver = open_chromium()
    rows = [{"run": run, **measure(driver)} for run in range(arguments.repeats)]
    driver.quit()
    write_rows(arguments.output, rows)
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
