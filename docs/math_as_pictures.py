"""Formulas as pictures that matplotlib draws: the site then needs no script and no font from elsewhere."""

import base64
import re
from io import BytesIO

from matplotlib.figure import Figure

POINTS = 12
NO_DATE = {"Date": None}  # or the site would differ from build to build
# What matplotlib's own TeX does not know, in words that it knows.
OTHER_WORDS = {r"\tfrac12": r"\frac{1}{2}", r"\text": r"\mathrm", r"\le ": r"\leq "}


def setup(app):
    """Called by Sphinx: offers the renderer "pictures"."""
    app.add_html_math_renderer("pictures", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(writer, node):
    """A formula in a line of text."""
    writer.body.append(picture(node.astext()))
    raise_skip()


def block(writer, node):
    """A formula on its own."""
    formula = node.astext().replace(r"\frac", r"\dfrac")  # large, as TeX has them there
    writer.body.append(f'<p class="formula">{picture(formula)}</p>')
    raise_skip()


def raise_skip():
    """Tell docutils that the node is done."""
    from docutils.nodes import SkipNode

    raise SkipNode


def picture(formula):
    """An image tag that holds the formula as SVG, as large as the text around it."""
    for theirs, ours in OTHER_WORDS.items():
        formula = formula.replace(theirs, ours)
    formula = " ".join(formula.split())
    figure = Figure(figsize=(0.01, 0.01))
    figure.text(0, 0, f"${formula}$", fontsize=POINTS, math_fontfamily="cm")
    stream = BytesIO()
    figure.savefig(
        stream, format="svg", bbox_inches="tight", pad_inches=0.02, transparent=True, metadata=NO_DATE
    )
    svg = stream.getvalue()
    height = float(re.search(rb'height="([\d.]+)pt"', svg)[1])
    data = base64.b64encode(svg).decode()
    words = formula.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    style = f"height:{height / POINTS:.2f}em"
    return f'<img class="formula" alt="{words}" style="{style}" src="data:image/svg+xml;base64,{data}">'
