"""Each thing that `sedil app` offers, clicked through in Chromium."""

import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from app_visitor import Page, Visitor
from PIL import Image
from skimage import data

import sedil

pytestmark = pytest.mark.slow
RNG = np.random.default_rng(0)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="session")
def page():
    """`sedil app`, as a user starts it."""
    pytest.importorskip("gradio", reason="Gradio is not installed: sedil app was not tested")
    port = free_port()
    words = [sys.executable, "-m", "sedil", "app", "--no-browser", "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        found = Page(f"http://127.0.0.1:{port}/", process)
        try:
            assert found.address in process.stdout.readline()
            yield found
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="session")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def chromium(page, downloads):
    """A browser that can reach this machine alone."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: no browser test")
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        pytest.skip("chromium and chromedriver are not installed: sedil app was not tested in a browser")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1000"):
        options.add_argument(option)
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture
def visitor(page, chromium, downloads):
    return Visitor(page, chromium, downloads)


def noisy_picture(path, shape, dtype=np.uint8):
    """A ramp with noise of a tenth of the range."""
    highest = np.iinfo(dtype).max
    ramp = np.linspace(0.3, 0.7, shape[1]) + np.zeros(shape)
    Image.fromarray((highest * (ramp + 0.1 * RNG.standard_normal(shape)).clip(0, 1)).astype(dtype)).save(path)
    return path


def number_after(words, text):
    return float(re.search(rf"{words} ([\d.]+)", text)[1])


def pick_sample(visitor, index):
    visitor.wait(lambda: len(visitor.all("#denoise-samples button.thumbnail-lg")) > index)
    visitor.all("#denoise-samples button.thumbnail-lg")[index].click()


def test_a_sample_is_denoised_and_compared_by_a_slider(visitor):
    pick_sample(visitor, 0)
    words = visitor.wait_for("PSNR", "#denoise-words")
    assert number_after("noise sigma", words) == pytest.approx(25, abs=3)
    assert "estimated method groups time" in words
    before, after = map(float, re.search(r"PSNR ([\d.]+) dB before, ([\d.]+) dB after", words).groups())
    assert after > before + 9
    sources = visitor.wait(lambda: visitor.sources("#denoise-result"))
    assert len(set(sources)) == 2
    noisy, clean = map(visitor.picture, sources)
    assert noisy.shape == clean.shape == (300, 451, 3)
    assert sedil.estimate_noise(clean, -1) < 5 < 20 < sedil.estimate_noise(noisy, -1)


def test_the_slider_moves(visitor):
    from selenium.webdriver import ActionChains

    pick_sample(visitor, 0)
    visitor.wait_for("PSNR", "#denoise-words")
    handle = visitor.one("#denoise-result .outer .inner, #denoise-result .outer")
    before = handle.rect["x"]
    ActionChains(visitor.driver).drag_and_drop_by_offset(handle, 150, 0).perform()
    moved = visitor.one("#denoise-result .outer .inner, #denoise-result .outer").rect["x"] - before
    assert moved == pytest.approx(150, abs=30)


def test_a_dropped_picture_keeps_its_depth(visitor, tmp_path):
    visitor.drop("#denoise-file", noisy_picture(tmp_path / "deep.png", (60, 80), np.uint16))
    assert "deep.png 60x80, uint16" in visitor.wait_for("deep.png", "#denoise-words")
    with Image.open(visitor.download("#denoise-download", "clean-deep.png")) as clean:
        assert np.asarray(clean).dtype == np.uint16
        assert np.abs(np.diff(np.asarray(clean)[10:-10].astype(float), axis=0)).mean() < 2000


def test_method_and_level_are_chosen(visitor, tmp_path):
    visitor.click("#denoise-method label:nth-of-type(2)")
    level = visitor.one("#denoise-sigma input")
    level.clear()
    level.send_keys("31")
    visitor.drop("#denoise-file", noisy_picture(tmp_path / "ramp.png", (50, 70)))
    assert "noise sigma 31, given method quick" in visitor.wait_for("ramp.png", "#denoise-words")


def test_a_wrong_file_is_refused_in_one_sentence_and_the_next_is_taken(visitor, tmp_path):
    (tmp_path / "letter.png").write_text("Dear all")
    visitor.drop("#denoise-file", tmp_path / "letter.png")
    words = visitor.complaint()
    assert words.startswith("letter.png cannot be read as an image: it is no picture, damaged")
    visitor.drop("#denoise-file", noisy_picture(tmp_path / "next.png", (40, 40)))
    visitor.wait_for("next.png", "#denoise-words")


def test_every_tab_refuses_wrong_files_by_their_name(visitor, tmp_path):
    areas = {"Fill": "#fill-file", "Volume": "#volume-file", "Learn": "#learn-files"}
    for tab, area in areas.items():
        file = tmp_path / ("letter.npy" if tab == "Volume" else "letter.png")
        file.write_text("Dear all")
        visitor.come()
        visitor.open_tab(tab)
        visitor.drop(area, file)
        if tab == "Learn":
            visitor.wait(lambda area=area: "letter" in visitor.text(area))
            visitor.click("#learn-start")
        assert visitor.complaint().startswith(f"{file.name} cannot be read as")


def test_a_file_near_the_limit_is_taken(visitor, tmp_path):
    noise = RNG.standard_normal((390, 4000), dtype=np.float32)
    Image.fromarray(np.tile(noise, (10, 1))).save(tmp_path / "large.tif")
    assert 50 * 2**20 < (tmp_path / "large.tif").stat().st_size < 100 * 2**20
    visitor.drop("#denoise-file", tmp_path / "large.tif")
    visitor.wait_for("%", "#denoise-words")
    visitor.click("#denoise-stop")
    visitor.wait_for("stopped", "#denoise-words")


def test_a_file_of_too_many_bytes_is_refused(visitor, tmp_path):
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate(101 * 2**20)
    visitor.drop("#denoise-file", tmp_path / "huge.png")
    assert "exceed the maximum allowed size of 100.0 Mb" in visitor.complaint()


def test_a_picture_of_too_many_pixels_is_refused(visitor, tmp_path):
    Image.new("L", (5000, 4000)).save(tmp_path / "wide.png")
    visitor.drop("#denoise-file", tmp_path / "wide.png")
    assert visitor.complaint() == (
        "wide.png has 4000x5000 pixels, and this page takes at most 16 million: use the command line."
    )


def test_limits_are_said(visitor):
    words = visitor.text("#limits")
    for limit in ("100 MB", "16 million pixels", "8 million voxels", "20 pictures", "2 pieces of work"):
        assert limit in words


def n_filled(words):
    return int(re.search(r"filled ([\d,]+) pixels", words)[1].replace(",", ""))


def test_what_is_painted_is_filled(visitor):
    from selenium.webdriver import ActionChains

    visitor.open_tab("Fill")
    visitor.click("#fill-method label:nth-of-type(2)")  # quick
    visitor.click("#fill-sample input")
    visitor.wait(lambda: [option for option in visitor.all("[role=option]") if "cat" in option.text])[
        0
    ].click()
    canvas = visitor.one("#fill-editor canvas")
    time.sleep(2)  # until the picture is on the canvas
    visitor.click("#fill-start")
    scratches = visitor.wait_for("filled", "#fill-words")
    more = scratches
    for seconds in (3, 6, 12):  # a canvas without a graphics card may miss a stroke, or be slow to send it
        time.sleep(2)  # until the page has scrolled to the result
        visitor.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
        time.sleep(1)
        hand = ActionChains(visitor.driver).move_to_element_with_offset(canvas, -80, 60)
        hand.click_and_hold().pause(0.3).move_by_offset(80, 10).pause(0.3).move_by_offset(80, -10)
        hand.pause(0.3).release().perform()
        time.sleep(seconds)
        visitor.click("#fill-start")
        time.sleep(1)  # until the work has begun
        more = visitor.wait_for("filled", "#fill-words")
        if n_filled(more) > n_filled(scratches) + 50:
            break
    assert n_filled(more) > n_filled(scratches) + 50
    painted, filled = map(visitor.picture, visitor.wait(lambda: visitor.sources("#fill-result")))
    red = (painted == (255, 64, 64)).all(axis=-1)
    assert red.sum() == n_filled(more)
    np.testing.assert_array_equal(painted[~red], filled[~red])
    assert np.abs(filled.astype(float) - data.cat())[red].mean() < 15


def test_learning_is_watched_stopped_downloaded_and_used(visitor):
    visitor.open_tab("Learn")
    visitor.click("#learn-start")
    visitor.wait(lambda: visitor.all("#learn-cost svg"))
    first = visitor.wait(lambda: visitor.sources("#learn-atoms"))
    visitor.wait(lambda: visitor.sources("#learn-atoms") not in ([], first))
    visitor.click("#learn-stop")
    words = visitor.wait_for("ended", "#learn-words")
    assert "learned 8x16 and 8x16" in words
    assert "ended stopped" in words
    assert number_after("iterations", words) < 300
    learned = sedil.load_dictionary(visitor.download("#learn-download", "dictionary.npz"))
    assert learned.patch_shape == (8, 8)
    visitor.click("#learn-use")
    visitor.wait(lambda: visitor.one("#denoise-start").is_displayed())
    pick_sample(visitor, 1)
    assert "method own dictionary" in visitor.wait_for("PSNR", "#denoise-words")


def test_learning_from_dropped_pictures(visitor, tmp_path):
    visitor.open_tab("Learn")
    visitor.drop("#learn-files", *(noisy_picture(tmp_path / f"{n}.png", (64, 64)) for n in "ab"))
    visitor.wait(lambda: "b .png" in visitor.text("#learn-files"))
    visitor.click("#learn-start")
    visitor.wait(lambda: visitor.all("#learn-cost svg"))
    visitor.click("#learn-stop")
    visitor.wait_for("ended", "#learn-words")
    file = visitor.download("#learn-download", "dictionary.npz")
    assert sedil.load_dictionary(file).info["images"] == ["a.png", "b.png"]


def test_without_a_dictionary_of_ones_own_the_page_says_where_to_get_one(visitor):
    visitor.click("#denoise-method label:nth-of-type(3)")
    pick_sample(visitor, 1)
    assert visitor.complaint().startswith("You have no dictionary yet: learn one under Learn")
    visitor.wait(lambda: visitor.text("#denoise-words") == "")


def test_a_volume_is_denoised_and_leafed_through(visitor):
    from selenium.webdriver.common.keys import Keys

    visitor.open_tab("Volume")
    visitor.click("#volume-method label:nth-of-type(2)")  # quick
    visitor.click("#volume-sample")
    words = visitor.wait_for("PSNR", "#volume-words")
    before, after = map(float, re.search(r"PSNR ([\d.]+) dB before, ([\d.]+) dB after", words).groups())
    assert after > before + 6
    pictures = ("#volume-before", "#volume-after")
    middle = visitor.wait(lambda: all(map(visitor.sources, pictures)) and [*map(visitor.sources, pictures)])
    visitor.one("#volume-slice input[type=range]").send_keys(Keys.ARROW_LEFT * 5)
    other = visitor.wait(
        lambda: (
            (now := [*map(visitor.sources, pictures)]) and now[0] != middle[0] and now[1] != middle[1] and now
        )
    )
    assert all(visitor.picture(sources[0]).shape[:2] == (96, 96) for sources in other)


def test_a_dropped_volume_keeps_its_header(visitor, tmp_path):
    nibabel = pytest.importorskip("nibabel")
    blocks = (100 + 8 * RNG.standard_normal((10, 12, 14))).astype(np.int16)
    nibabel.Nifti1Image(blocks, np.diag([1, 2, 3, 1])).to_filename(tmp_path / "head.nii.gz")
    visitor.open_tab("Volume")
    level = visitor.one("#volume-sigma input")
    level.clear()
    level.send_keys("9")
    visitor.drop("#volume-file", tmp_path / "head.nii.gz")
    words = visitor.wait_for("head.nii.gz 10x12x14, int16", "#volume-words")
    assert "noise sigma 9, given" in words
    clean = nibabel.load(visitor.download("#volume-download", "clean-head.nii.gz"))
    np.testing.assert_array_equal(clean.affine, np.diag([1, 2, 3, 1]))
    assert np.asarray(clean.dataobj).std() < blocks.std() / 2


def test_what_is_picked_during_work_comes_next(visitor):
    pick_sample(visitor, 2)
    visitor.wait_for("denoising", "#denoise-words")
    pick_sample(visitor, 1)
    visitor.wait_for("camera.png", "#denoise-words")


def test_two_visitors_each_get_their_own(visitor):
    pick_sample(visitor, 1)
    other = visitor.another()
    pick_sample(other, 0)
    assert "cat.png 300x451x3" in other.wait_for("PSNR", "#denoise-words")
    assert visitor.picture(other.wait(lambda: other.sources("#denoise-result"))[0]).shape == (300, 451, 3)
    visitor.go()
    assert "camera.png 512x512" in visitor.wait_for("PSNR", "#denoise-words")
    assert visitor.picture(visitor.sources("#denoise-result")[0]).shape[:2] == (512, 512)
    other.leave(back_to=visitor)


def test_no_visitor_can_have_a_sample_deleted(page):
    """Files in the folder of uploads are deleted after a while, whoever names them."""
    (gallery,) = [
        each for each in page.config()["components"] if each["props"].get("elem_id") == "denoise-samples"
    ]
    shown = Path(gallery["props"]["value"][0]["image"]["path"])
    place = next(folder for folder in shown.parents if folder.name.startswith("sedil-app-"))
    samples = [*place.rglob("foam.npy")]
    assert samples
    assert not any(map(page.takes_as_upload, samples))
    mine = samples[0].parents[1] / "visitors/mine.npy"
    np.save(mine, np.zeros((4, 5, 6), np.uint8))
    assert page.takes_as_upload(mine)  # so that the refusal above means something


def is_idle(page, seconds=3):
    """An app that only waits takes some 4 % of a core; one that works, on a busy machine too, far more."""
    before = page.processor_seconds()
    time.sleep(seconds)
    return page.processor_seconds() - before < 0.1 * seconds


def start_long_work(visitor, tmp_path):
    """A picture that takes far longer than any wait here."""
    visitor.drop("#denoise-file", noisy_picture(tmp_path / "long.png", (2500, 3000)))
    visitor.wait_for("%", "#denoise-words")
    assert not is_idle(visitor.page)


def test_a_closed_tab_ends_its_work(visitor, tmp_path):
    other = visitor.another()
    start_long_work(other, tmp_path)
    other.leave(back_to=visitor)
    visitor.wait(lambda: is_idle(visitor.page), 30)


def test_stop_ends_the_work_and_says_so(visitor, tmp_path):
    start_long_work(visitor, tmp_path)
    visitor.click("#denoise-stop")
    visitor.wait_for("stopped", "#denoise-words")
    visitor.wait(lambda: is_idle(visitor.page), 30)


def test_a_third_piece_of_work_waits_for_its_turn(visitor, tmp_path):
    start_long_work(visitor, tmp_path)
    second = visitor.another()
    start_long_work(second, tmp_path)
    third = second.another()
    pick_sample(third, 0)
    third.wait_for("waiting for its turn", "#denoise-words")
    time.sleep(2)
    assert third.text("#denoise-words") == "waiting for its turn"
    second.leave(back_to=third)
    third.wait_for("PSNR", "#denoise-words")
    third.leave(back_to=visitor)


def test_nothing_is_asked_of_other_machines(visitor):
    list(visitor.requests())
    visitor.come()
    for name in ("Fill", "Learn", "Volume", "Denoise"):
        visitor.open_tab(name)
        time.sleep(0.5)
    pick_sample(visitor, 0)
    visitor.wait_for("PSNR", "#denoise-words")
    asked = [address for address in visitor.requests() if not address.startswith(("data:", "blob:"))]
    assert len(asked) > 20
    assert [address for address in asked if not address.startswith(visitor.page.address)] == []
