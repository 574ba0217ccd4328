"""Take the pictures of docs/app.md: python benchmarks/app_pictures.py ADDRESS, where `sedil app` runs.

Needs selenium, chromium and chromedriver.
"""

import sys
import time
from io import BytesIO
from pathlib import Path

from chromium import open_chromium
from PIL import Image
from selenium.webdriver import ActionChains

PICTURES = Path(__file__).parents[1] / "docs/pictures"


class Camera:
    """Clicks, waits and takes a picture."""

    def __init__(self, address):
        self.driver = open_chromium()
        self.driver.get(address)
        self.wait("#denoise-samples button.thumbnail-lg", "")
        time.sleep(1)

    def find(self, css):
        return self.driver.find_elements("css selector", css)

    def wait(self, css, words):
        while not (found := self.find(css)) or words not in found[0].text:
            time.sleep(0.1)

    def click(self, css, index=0):
        self.find(css)[index].click()
        time.sleep(0.7)

    def open_tab(self, name):
        next(tab for tab in self.find("button[role=tab]") if tab.text == name).click()
        time.sleep(0.7)

    def take(self, name, height):
        """The top of the page."""
        self.driver.set_window_size(1200, height + 140)  # what the window itself takes
        time.sleep(2)  # until it has scrolled by itself
        self.driver.execute_script("scrollTo(0, 0)")
        time.sleep(1)
        with Image.open(BytesIO(self.driver.get_screenshot_as_png())) as shot:
            part = shot.convert("RGB").crop((0, 0, shot.width, min(height, shot.height)))
        part.save(PICTURES / f"app-{name}.webp", quality=82, method=6)


def main(address):
    camera = Camera(address)
    camera.click("#denoise-samples button.thumbnail-lg")
    camera.wait("#denoise-words", "PSNR")
    camera.take("denoise", 800)

    camera.open_tab("Learn")
    camera.click("#learn-start")
    camera.wait("#learn-cost svg", "cost")
    time.sleep(3)
    camera.take("learn", 740)
    camera.click("#learn-stop")

    camera.open_tab("Volume")
    camera.click("#volume-sample")
    camera.wait("#volume-words", "PSNR")
    camera.take("volume", 780)

    camera.open_tab("Fill")
    camera.click("#fill-sample input")
    camera.find("[role=option]")[0].click()
    time.sleep(3)
    canvas = camera.find("#fill-editor canvas")[0]
    hand = ActionChains(camera.driver).move_to_element_with_offset(canvas, -80, 60).click_and_hold()
    hand.move_by_offset(80, 20).move_by_offset(80, -20).release().perform()
    time.sleep(1)
    camera.click("#fill-start")
    camera.wait("#fill-words", "filled")
    camera.take("fill", 1280)
    camera.driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])
