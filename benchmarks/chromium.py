"""The browser that looks at `sedil app`: Chromium by selenium, without a window."""

import shutil
from typing import Any

from selenium import webdriver


def open_chromium() -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(option)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_window_size(1200, 960)
    return driver
