"""What notebooks show of dictionaries, results and histories; progress is in `test_progress`."""

import re
from xml.etree import ElementTree

import pytest

import sedil
from random_things import training_patches
from sedil import curves
from sedil.learning.result import History


@pytest.fixture(scope="module")
def result():
    return sedil.learn(training_patches(20, (3, 3)), (4, 4), max_iterations=5, random_state=0)


def svg_of(html):
    return ElementTree.fromstring(re.search(r"<svg.*</svg>", html, re.DOTALL)[0])


def labels(svg):
    return [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_history_is_a_curve_with_labels(result):
    svg = svg_of(result.history._repr_html_())
    costs = result.history["objective"]
    assert labels(svg) == [f"{max(costs):.3g}", f"{min(costs):.3g}", "cost", "0", "5", "iterations"]
    points = svg.find("{http://www.w3.org/2000/svg}polyline").get("points").split()
    assert len(points) == len(costs)


def test_higher_is_drawn_higher():
    svg = ElementTree.fromstring(curves.draw([0, 1, 2], [100.0, 10.0, 1.0], "batches", "cost"))
    points = [
        tuple(map(float, point.split(",")))
        for point in svg.find("{http://www.w3.org/2000/svg}polyline").get("points").split()
    ]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == x2 - x1 > 0
    assert y1 - y0 == y2 - y1 > 0  # on a logarithmic scale; SVG counts downward


def test_words_cannot_be_markup():
    assert "a&lt;b" in curves.draw([0], [1.0], "a<b", "cost")


def test_history_of_one_record_and_of_none():
    assert (
        "<svg"
        in History(sedil.learn(training_patches(9, (3, 3)), max_iterations=1).history[:1])._repr_html_()
    )
    assert History()._repr_html_().startswith("<p>&lt;History of 0 records")


def test_result_shows_facts_atoms_and_cost(result):
    html = result._repr_html_()
    assert "max_iterations reached" in html
    assert '<img alt="atoms" src="data:image/png;base64,' in html
    assert "-&gt;" in html  # of the cost, which is no markup
    assert "<svg" in html
