"""Serve the page: from this machine, to this machine unless asked otherwise, and with word to nobody else."""

from __future__ import annotations

import os
import signal
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

from sedil.app.limits import MEGABYTES, WAITING
from sedil.errors import MissingPackageError
from sedil.terminal import console

NOT_INSTALLED = 'Gradio is not installed: pip install "sedil[app]".'


def serve(host: str, port: int | None, open_browser: bool) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    host : name or address to listen at
    port : default the first from 7860 on that is free
    open_browser : whether to show the page in a browser of this machine
    """
    if find_spec("gradio") is None:
        raise MissingPackageError(NOT_INSTALLED)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # Gradio reads these when it is loaded
    with TemporaryDirectory(prefix="sedil-app-", ignore_cleanup_errors=True) as place:
        samples, folder = (Path(place, name) for name in ("samples", "visitors"))
        for each in (samples, folder):
            each.mkdir()
        os.environ["GRADIO_TEMP_DIR"] = str(folder)
        from sedil.app.page import build_page, look

        page = build_page(samples, folder).queue(max_size=WAITING, api_open=False)
        try:
            page.launch(
                server_name=host,
                server_port=port,
                inbrowser=open_browser,
                max_file_size=MEGABYTES * 2**20,
                share=False,
                quiet=True,
                prevent_thread_lock=True,
                run_history=False,
                enable_monitoring=False,
                pwa=False,
                ssr_mode=False,
                mcp_server=False,
                **look(),
            )
        except OSError as error:
            where = "7860 to 7959" if port is None else str(port)
            raise OSError(f"Cannot listen at {host}, port {where}: give another --port or --host.") from error
        console.print(f"sedil app    {page.local_url}  (Ctrl-C ends it)")
        if not is_this_machine(host):
            console.print("note: everyone who can reach this machine over the network can use this page.")
        _wait(page)


def is_this_machine(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return False


def _wait(page: Any) -> None:
    """Until Ctrl-C, or until the system ends the process."""
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    page.close(verbose=False)
