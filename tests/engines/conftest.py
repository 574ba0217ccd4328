"""With SEDIL_GUARD_PAGES=before or after, tests here run with guard pages beside the arrays of kernels."""

import os
from collections.abc import Iterator

import pytest

from fuzz.guard_pages import guarded


@pytest.fixture(autouse=True, scope="session")
def guard_pages() -> Iterator[None]:
    side = os.environ.get("SEDIL_GUARD_PAGES")
    if side is None:
        yield
        return
    with guarded(side):
        yield
