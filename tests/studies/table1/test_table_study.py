import numpy as np
import pytest

import sedil
from sedil.imaging.quality import image_quality
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.harness.method import Method
from sedil_studies.table1.five_images import noisy_image
from sedil_studies.table1.paper import IMAGES, SIGMAS
from sedil_studies.table1.study import QUICK, Plan, table_study

SMALL = Plan(images=("lena", "house"), sigmas=(5, 20), n_seeds=2)


@pytest.fixture
def images(rng):
    return {name: rng.uniform(0, 255, (12, 14)) for name in IMAGES}


class Recorder:
    """Two cheap methods that remember what they were given."""

    def __init__(self):
        self.seen = {"halve": [], "keep": []}
        self.n_prepared = 0

    def methods(self, settings="plain", package="keeper 3.1"):
        def prepare(show):
            self.n_prepared += 1
            show(1, 2, "learning, once")
            return self._method("halve", 0.5)

        return {
            "halve": Method(settings, prepare),
            "keep": Method.at_hand(settings, self._method("keep", 1.0), package),
        }

    def _method(self, name, factor):
        def denoise(noisy, sigma):
            self.seen[name].append((noisy, sigma))
            return factor * noisy

        return denoise


def run_small(images, methods, path, **more):
    return table_study(SMALL, images, methods, path, threads=2).run(**more).n_run


def test_every_cell_seed_and_method_has_a_row(images, tmp_path):
    recorder = Recorder()
    assert run_small(images, recorder.methods(), tmp_path / "r.csv") == 16
    rows = DENOISING.read(tmp_path / "r.csv")
    cells = {(row.image, row.sigma, row.seed, row.method) for row in rows}
    assert cells == {
        (image, sigma, seed, method)
        for image in SMALL.images
        for sigma in SMALL.sigmas
        for seed in (0, 1)
        for method in ("halve", "keep")
    }
    assert [row.seed for row in rows] == [0] * 8 + [1] * 8  # the table is whole after the first seed
    row = rows[1]
    assert (row.settings, row.sedil, row.numpy) == ("plain", sedil.__version__, np.__version__)
    assert (row.baseline, row.threads) == ("keeper 3.1", 2)
    assert recorder.n_prepared == 1


def test_figures_are_those_of_the_unrounded_result(images, tmp_path):
    run_small(images, Recorder().methods(), tmp_path / "r.csv")
    for row in DENOISING.read(tmp_path / "r.csv"):
        factor = {"halve": 0.5, "keep": 1.0}[row.method]
        result = factor * noisy_image(images[row.image], row.image, row.sigma, row.seed)
        psnr, ssim = image_quality(result, images[row.image])
        assert (row.psnr, row.ssim) == pytest.approx((psnr, ssim), abs=1e-4)
        assert 0 <= row.seconds < 1


def test_methods_run_on_the_same_noisy_pixels(images, tmp_path):
    recorder = Recorder()
    run_small(images, recorder.methods(), tmp_path / "r.csv")
    for (one, sigma), (other, again) in zip(recorder.seen["halve"], recorder.seen["keep"], strict=True):
        np.testing.assert_array_equal(one, other)
        assert sigma == again
    different = {pixels.tobytes() for pixels, _ in recorder.seen["keep"]}
    assert len(different) == 8


def test_what_is_in_the_file_is_not_run_again(images, tmp_path):
    path = tmp_path / "r.csv"
    run_small(images, Recorder().methods(), path)
    before = path.read_text()
    recorder = Recorder()
    assert run_small(images, recorder.methods(), path) == 0
    assert recorder.seen == {"halve": [], "keep": []}
    assert recorder.n_prepared == 0
    assert path.read_text() == before


def test_an_interrupted_run_goes_on(images, tmp_path):
    path = tmp_path / "r.csv"

    def give_up(noisy, sigma):
        raise KeyboardInterrupt

    interrupted = Recorder().methods() | {"keep": Method.at_hand("plain", give_up, "keeper 3.1")}
    with pytest.raises(KeyboardInterrupt):
        run_small(images, interrupted, path)
    assert [row.method for row in DENOISING.read(path)] == ["halve"]
    recorder = Recorder()
    assert run_small(images, recorder.methods(), path) == 15
    assert len(recorder.seen["halve"]) == 7


@pytest.mark.parametrize(
    ("change", "expected"), [({"settings": "other"}, 16), ({"package": "keeper 3.2"}, 8), ({}, 16)]
)
def test_other_settings_and_versions_are_run_again(images, tmp_path, monkeypatch, change, expected):
    path = tmp_path / "r.csv"
    run_small(images, Recorder().methods(), path)
    if not change:
        monkeypatch.setattr(sedil, "__version__", "99")
    assert run_small(images, Recorder().methods(**change), path) == expected
    assert len(DENOISING.read(path)) == 16 + expected


def test_progress_counts_pixels_and_ends_at_all(images, tmp_path):
    told = []
    run_small(images, Recorder().methods(), tmp_path / "r.csv", show=lambda *what: told.append(what))
    total = 16 * 12 * 14
    assert told[1] == (1, 2, "learning, once")
    assert told[3] == (0, total, "lena, sigma 5, seed 0: halve")
    assert told[4] == (168, total, "lena, sigma 5, seed 0: keep")
    assert told[-1] == (total, total, "done")


def test_plans():
    assert Plan() == (IMAGES, SIGMAS, 3)
    assert QUICK == (("house",), (20,), 1)
