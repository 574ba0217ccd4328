"""Somebody who looks at `sedil app` in a browser, and clicks."""

import json
import os
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

SECONDS = 60  # that anything may take on a busy machine


class Page(NamedTuple):
    """`sedil app` under way."""

    address: str
    process: subprocess.Popen

    def processor_seconds(self) -> float:
        """Processor time that the app has used so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def config(self) -> dict:
        """What the app tells browsers of itself."""
        with urllib.request.urlopen(f"{self.address}config") as answer:
            return json.load(answer)

    def takes_as_upload(self, path: Path) -> bool:
        """Whether the app takes a file that is named to it, and was never uploaded, for an upload."""
        config = self.config()
        (area,) = [
            each["id"] for each in config["components"] if each["props"].get("elem_id") == "volume-file"
        ]
        (number,) = [each["id"] for each in config["dependencies"] if [area, "upload"] in each["targets"]]
        named = {"path": str(path), "meta": {"_type": "gradio.FileData"}}
        asked = {"data": [named, None], "fn_index": number, "session_hash": "somebody"}
        address = f"{self.address}gradio_api/queue"
        post = urllib.request.Request(
            f"{address}/join", json.dumps(asked).encode(), {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(post).close()
        with urllib.request.urlopen(f"{address}/data?session_hash=somebody", timeout=SECONDS) as events:
            ended = next(line for line in events if b"process_completed" in line)
        return json.loads(ended.removeprefix(b"data: "))["success"]


class Visitor:
    """Somebody who looks at the page in a window, and clicks."""

    def __init__(self, page, driver, downloads):
        self.page, self.driver, self.downloads = page, driver, downloads
        self.window = driver.current_window_handle
        self.come()

    def come(self):
        self.driver.get(self.page.address)
        self.wait(lambda: self.all("#denoise-start"))

    def another(self):
        """Another visitor, in a window of its own."""
        self.driver.switch_to.new_window("window")
        return Visitor(self.page, self.driver, self.downloads)

    def go(self):
        self.driver.switch_to.window(self.window)

    def leave(self, back_to):
        self.go()
        self.driver.close()
        back_to.go()

    def wait(self, happens, seconds=SECONDS):
        """Until it happens; what it is then."""
        end = time.monotonic() + seconds
        while not (seen := happens()):
            assert time.monotonic() < end, f"waited {seconds} s in vain: {self.text('body')}"
            time.sleep(0.1)
        return seen

    def all(self, css):
        return self.driver.find_elements("css selector", css)

    def one(self, css):
        return self.wait(lambda: self.all(css))[0]

    def text(self, css):
        return " ".join(self.one(css).text.split())

    def click(self, css):
        self.wait(lambda: self.one(css).is_displayed() and self.one(css).is_enabled())
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(css))
        self.one(css).click()

    def open_tab(self, name):
        self.wait(lambda: [tab for tab in self.all("button[role=tab]") if tab.text == name])[0].click()

    def drop(self, where, *paths):
        self.one(f"{where} input[type=file]").send_keys("\n".join(map(str, paths)))

    def wait_for(self, words, css):
        return self.wait(lambda: words in self.text(css) and self.text(css))

    def sources(self, css):
        """Addresses of the pictures there."""
        return [picture.get_attribute("src") for picture in self.all(f"{css} img")]

    def picture(self, address):
        with urllib.request.urlopen(address) as answer, Image.open(answer) as picture:
            return np.asarray(picture)

    def complaint(self):
        return self.wait(lambda: self.text("[data-testid=toast-text]"))

    def download(self, css, name):
        (self.downloads / name).unlink(missing_ok=True)
        self.click(css)
        return self.wait(lambda: (self.downloads / name).exists() and self.downloads / name)

    def requests(self):
        """Addresses that the browser has asked for since this was last called."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                yield message["params"].get("request", message["params"])["url"]
