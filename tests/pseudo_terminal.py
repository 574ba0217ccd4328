"""Run Python on a terminal, as a person would."""

import os
import subprocess
import sys

import pytest


def on_a_terminal(*arguments, stdout_redirected=False, **environment):
    """What a program writes on a terminal 100 columns wide, and into its redirected output."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals of this kind")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment}
    output = subprocess.PIPE if stdout_redirected else theirs
    with subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdin=theirs, stdout=output, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        written = b"".join(iter(lambda: _read(ours), b""))
        redirected = process.stdout.read() if stdout_redirected else b""
    os.close(ours)
    return written.decode(), redirected.decode()


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux: the program has ended
        return b""
