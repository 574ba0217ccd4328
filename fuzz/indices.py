"""The attack of `fuzz.bounds` on kernels that look at every index: slower, and kept apart on disk."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from fuzz.bounds import BoundsCampaign


class IndicesCampaign(BoundsCampaign):
    """Inside of the arrays, too, no index is beyond its axis."""

    def prepare(self) -> None:
        """Compile the other kernels."""
        if "numba" in sys.modules:
            raise RuntimeError("Numba is loaded already: its settings can no longer be changed.")
        os.environ["NUMBA_BOUNDSCHECK"] = "1"
        os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / "sedil-fuzz-indices")
        super().prepare()


CAMPAIGN = IndicesCampaign()
