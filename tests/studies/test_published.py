"""What is published in results/ comes out of the code, and was made with the settings that are in it."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sedil
from sedil_studies import figure1
from sedil_studies.bench import report as bench_report
from sedil_studies.colour import methods as colour_methods
from sedil_studies.colour import report as colour_report
from sedil_studies.faces import dictionaries, face_rows, masks
from sedil_studies.faces import methods as face_methods
from sedil_studies.faces import report as face_report
from sedil_studies.harness.denoising_rows import DENOISING
from sedil_studies.photographs import masks as photograph_masks
from sedil_studies.photographs import methods as photograph_methods
from sedil_studies.photographs import report as photograph_report
from sedil_studies.photographs.photograph_rows import PHOTOGRAPHS
from sedil_studies.table1 import methods as table_methods
from sedil_studies.table1 import paper
from sedil_studies.table1 import report as table_report
from sedil_studies.volumes import methods as volume_methods
from sedil_studies.volumes import report as volume_report
from sedil_studies.volumes.data import CASES, time_axis_of
from sedil_studies.volumes.filling import FILLERS, FILLINGS
from sedil_studies.volumes.study import Plan as VolumePlan

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PEERS = {"bm3d", "cbm3d", "bm4d", "ksvd"}  # which need not be installed here


def table():
    return DENOISING.read(RESULTS / "table1.csv")


def paper_table():
    return DENOISING.read(RESULTS / "table1-paper.csv")


def photographs():
    return PHOTOGRAPHS.read(RESULTS / "inpainting.csv")


def faces():
    return face_rows.FACES.read(RESULTS / "faces.csv")


def learning():
    return face_rows.LEARNING.read(RESULTS / "faces-learning.csv")


def volumes():
    return DENOISING.read(RESULTS / "volumes.csv")


def colour():
    return DENOISING.read(RESULTS / "colour.csv")


def grey():
    return DENOISING.read(RESULTS / "colour-grey.csv")


def fillings():
    return FILLINGS.read(RESULTS / "volumes-missing.csv")


@pytest.mark.parametrize(
    ("file", "draw"),
    [
        ("table1.md", lambda: table_report.markdown(table())),
        ("table1.html", lambda: table_report.html(table())),
        ("table1-paper.md", lambda: table_report.markdown(paper_table())),
        ("table1-paper.html", lambda: table_report.html(paper_table())),
        ("inpainting.md", lambda: photograph_report.markdown(photographs())),
        ("faces.md", lambda: face_report.markdown(faces(), learning())),
        ("volumes.md", lambda: volume_report.markdown(volumes(), fillings())),
        ("colour.md", lambda: colour_report.markdown(colour(), grey())),
        ("bench/report.md", lambda: bench_report.markdown(bench_report.load_results(RESULTS / "bench"))),
    ],
)
def test_report_is_drawn_from_the_published_rows(file, draw):
    assert draw() == (RESULTS / file).read_text(encoding="utf-8")


def test_figure_of_atoms_is_drawn_from_the_shipped_dictionaries(tmp_path):
    figure1.save(tmp_path / "figure1.png")
    below_titles = [
        np.asarray(Image.open(path).convert("L"), float)[70:]
        for path in (tmp_path / "figure1.png", RESULTS / "figure1.png")
    ]
    assert np.abs(np.subtract(*below_titles)).mean() < 1


def test_every_cell_is_published():
    assert {(row.image, row.sigma, row.method) for row in table()} == {
        (image, sigma, method)
        for image in paper.IMAGES
        for sigma in paper.SIGMAS
        for method in {row.method for row in table()}
    }
    assert {(row.image, row.mask, row.method) for row in photographs()} == {
        (image, mask, method)
        for image in paper.IMAGES
        for mask in photograph_masks.MASKS
        for method in photograph_methods.METHODS
    }
    assert {(row.hole, row.method) for row in faces()} == {
        (hole, method) for hole in masks.KINDS for method in face_methods.METHODS
    }
    assert {(row.image, row.sigma) for row in volumes()} == {
        (case, sigma) for case in CASES for sigma in VolumePlan().sigmas
    }
    assert {(row.case, row.method) for row in fillings()} == {
        (case, name) for case in CASES for name in FILLERS
    }


def settings_of(kind, rows):
    """Settings by method of the rows that count; what is learned from data is left out of them."""
    return {row.method: without_data(row.settings) for row in kind.latest(rows)}


def without_data(settings):
    """Settings without the names of what only those have who have the data."""
    return re.sub(r"(?<=learned \()\w{8}|(?<=data )\w{8}", "...", settings)


def test_table_was_made_with_the_settings_in_the_code(tmp_path):
    made, _ = table_methods.make_methods(
        [name for name in table_methods.METHODS if name not in PEERS], table_methods.Materials(tmp_path, 1)
    )
    ours = {name: method.settings for name, method in made.items()}
    published = settings_of(DENOISING, table())
    assert published == {name: (ours | PEER_SETTINGS)[name] for name in published}


def test_the_recipe_of_the_paper_was_run_with_the_settings_in_the_code(tmp_path):
    made, _ = table_methods.make_methods(
        list(table_methods.PAPER_RECIPE), table_methods.Materials(tmp_path, 1), "paper"
    )
    assert settings_of(DENOISING, paper_table()) == {name: method.settings for name, method in made.items()}


PEER_SETTINGS = {
    "ksvd": table_methods.ksvd_settings(),
    "bm3d": "profile np, both stages",
    "cbm3d": "bm3d_rgb, profile np, both stages",
    "bm4d": "profile np, both stages",
}


def test_photographs_were_filled_with_the_settings_in_the_code():
    ours = {name: make(1).settings for name, make in photograph_methods.METHODS.items()}
    assert without_version(settings_of(PHOTOGRAPHS, photographs())) == without_version(ours)


def without_version(settings):
    return {name: re.sub(r"(?<=scikit-image )[\d.]+", "...", words) for name, words in settings.items()}


def test_faces_were_filled_with_the_settings_in_the_code():
    training = np.random.default_rng(0).uniform(0, 255, (400, 64, 64)).astype(np.float32)
    materials = face_methods.Materials(training, sedil.odct((64, 64), 128), dictionaries.Amount(), 1)
    ours = {name: without_data(make(materials).settings) for name, make in face_methods.METHODS.items()}
    assert settings_of(face_rows.FACES, faces()) == ours


def test_face_dictionaries_were_learned_with_the_settings_in_the_code():
    amount = dictionaries.Amount()
    published = {row.learner: row.settings for row in learning()}
    n_faces = 11_027
    assert published == {
        name: dictionaries.settings_in_words(name, amount, n_faces, amount.max_batches)
        for name in dictionaries.LEARNERS
    }
    chosen = re.search(r"^\| lambda rho, rho = 1e4 .*\| ([\d.]+) \|$", page("faces"), re.MULTILINE)
    assert float(chosen[1]) == dictionaries.SPARSITY
    assert pytest.approx(1e4, rel=0.03) == dictionaries.SCALE * 64**2


def page(name):
    return (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_volumes_were_made_with_the_settings_in_the_code(case, tmp_path):
    materials = volume_methods.Materials(
        np.zeros((8, 8, 8), np.float32), tmp_path / "none.npz", VolumePlan().recipe, 1, time_axis_of(case)
    )
    ours = {
        name: without_data(make(materials).settings)
        for name, make in volume_methods.METHODS.items()
        if name not in PEERS
    }
    mine = [row for row in volumes() if row.image == case]
    published = settings_of(DENOISING, mine)
    assert published == ours | {name: PEER_SETTINGS[name] for name in PEERS & published.keys()}
    filled = settings_of(FILLINGS, [row for row in fillings() if row.case == case])
    assert filled == {name: without_data(make(materials).settings) for name, make in FILLERS.items()}


@pytest.mark.parametrize(
    ("rows", "makers"), [(colour, colour_methods.COLOUR), (grey, colour_methods.GREY)], ids=["colour", "grey"]
)
def test_photographs_in_colour_and_in_grey_were_made_with_the_settings_in_the_code(rows, makers):
    ours = {name: make(1).settings for name, make in makers.items() if name not in PEERS}
    published = settings_of(DENOISING, rows())
    assert published == {name: (ours | PEER_SETTINGS)[name] for name in published}
