"""Lets the gallery show the GIFs that an example writes, which it leaves out otherwise."""

from pathlib import Path

from sphinx_gallery.scrapers import figure_rst


def scrape(block, block_vars, gallery_conf):
    """Move new GIFs beside the other pictures of the gallery and show them."""
    shown = []
    for gif in sorted(Path(block_vars["src_file"]).parent.glob("*.gif")):
        target = Path(next(block_vars["image_path_iterator"])).with_suffix(".gif")
        gif.replace(target)
        shown.append(str(target))
    return figure_rst(shown, gallery_conf["src_dir"])
