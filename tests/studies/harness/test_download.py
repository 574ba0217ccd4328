"""Fetching a file from a local server."""

import threading
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sedil_studies.harness.download import fetch

pytest.importorskip("pooch", reason="pooch is not installed: nothing was fetched")
CONTENT = b"many faces"


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture
def address(tmp_path):
    """A server of one folder."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "faces.npz").write_bytes(CONTENT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_file_is_fetched_once(address, tmp_path):
    target = tmp_path / "new"
    path = fetch(f"{address}/faces.npz", sha256(CONTENT).hexdigest(), target, "own.npz")
    assert path == target / "own.npz"
    assert path.read_bytes() == CONTENT
    (tmp_path / "served/faces.npz").unlink()
    assert fetch(f"{address}/faces.npz", sha256(CONTENT).hexdigest(), target, "own.npz") == path


def test_file_with_another_checksum_is_not_kept(address, tmp_path):
    with pytest.raises(OSError, match="is not the file that is needed"):
        fetch(f"{address}/faces.npz", "0" * 64, tmp_path / "new", "own.npz")
    assert not (tmp_path / "new/own.npz").exists()


def test_damaged_file_is_fetched_again(address, tmp_path):
    (tmp_path / "own.npz").write_bytes(b"half")
    path = fetch(f"{address}/faces.npz", sha256(CONTENT).hexdigest(), tmp_path, "own.npz")
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("end", ["/absent.npz", ":1/faces.npz"])
def test_nothing_there(address, tmp_path, end):
    where = address + end if end.startswith("/") else "http://127.0.0.1" + end
    with pytest.raises(OSError, match=f"Cannot fetch {where}: "):
        fetch(where, "0" * 64, tmp_path, "own.npz")


def test_address_must_be_one(tmp_path):
    with pytest.raises(OSError, match="check the address"):
        fetch("gopher://faces", "0" * 64, tmp_path, "own.npz")
