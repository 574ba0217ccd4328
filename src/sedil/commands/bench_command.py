"""``sedil bench``: how fast sedil is on this machine, beside what others offer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from sedil.commands.studies import Output, data_option, known_names, tell
from sedil.terminal import clear_errors

# As in `sedil_studies`, which is not loaded to show help; a test compares.
CASES = ("coding", "denoising", "cost", "learning", "scaling", "large", "peak", "switch")


def bench(
    cases: Annotated[
        Any,
        typer.Option(
            parser=partial(known_names, known=CASES),
            metavar="NAME,...",
            help=f"Cases to run, of {', '.join(CASES)}; default all.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, to see that all works: a minute or two.")
    ] = False,
    data: Annotated[
        Path | None,
        data_option("Folder with the test images, as for reproduce; default a photograph of scikit-image."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of all contestants; default one per core.")
    ] = None,
    output: Output = Path("bench"),
) -> None:
    """Measure how fast sedil is, beside SPAMS, scikit-learn, BM3D and JAX where they are installed.

    Writes a JSON file and a picture per case, and a report on all cases in the
    folder. Close what else is running: the machine should have nothing to do.
    """
    from sedil_studies.bench.study import measure

    with clear_errors():
        summary = measure(cases, output, quick=quick, data=data, threads=threads)
        tell(summary, interrupted="cases that were done are kept")
