"""The README as a package index shows it, where links into the repository would lead nowhere."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)")  # to a file beside the README


class LongDescription(MetadataHookInterface):
    """Called by hatchling when it writes the metadata of a wheel or of a source archive."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        metadata["readme"] = {"content-type": "text/markdown", "text": stand_alone(readme, source)}


def stand_alone(text: str, source: str | None) -> str:
    """Markdown whose links to files hold anywhere.

    Parameters
    ----------
    text : str
    source : str, optional
        Address of the repository. Without one, links become the names of the files, and pictures their
        descriptions.
    """

    def replaced(link: re.Match[str]) -> str:
        picture, words, path = link.groups()
        if source:
            return f"{picture}[{words}]({source}/{'raw' if picture else 'blob'}/main/{path})"
        if picture:
            return f"*Picture ({path}): {words}*"
        return words if words.strip("`") == path else f"{words} (`{path}`)"

    return _LINK.sub(replaced, text)
