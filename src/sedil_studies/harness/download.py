"""Fetching research data that does not ship with the package."""

from __future__ import annotations

from pathlib import Path


def fetch(address: str, sha256: str, folder: Path, name: str) -> Path:
    """The file of this name in `folder`, fetched if it is not there or is not what it should be.

    Parameters
    ----------
    address : str
        Where the file is: http, https or ftp.
    sha256 : str
        Its checksum; a file with another one is never used.
    folder : Path
        Made if need be.
    name : str
        Of the file in the folder.

    Returns
    -------
    Path
    """
    try:
        import pooch
    except ImportError:
        raise OSError('Fetching data needs the package pooch: pip install "sedil[data]".') from None
    pooch.get_logger().setLevel("WARNING")
    try:
        return Path(pooch.retrieve(address, f"sha256:{sha256}", fname=name, path=folder))
    except ValueError as error:
        raise OSError(
            f"What is at {address} is not the file that is needed (its checksum or its kind is another): "
            f"check the address. {error}"
        ) from None
    except Exception as error:  # requests, urllib3 and ftplib each have their own
        raise OSError(f"Cannot fetch {address}: {error}") from None
