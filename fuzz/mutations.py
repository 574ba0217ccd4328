"""Ways to damage a file: blindly, or so that checksums and structure hold and only the inside is wrong."""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from fuzz.file_bases import COLUMNS, ROWS, Base, members, zipped

Mutation = Callable[[bytes, random.Random], bytes]

_NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    9,
    15,
    16,
    17,
    127,
    128,
    255,
    256,
    257,
    1000,
    4096,
    16383,
    16384,
    20_000,
    32767,
)
_LARGE_NUMBERS = (
    32768,
    50_000,
    65535,
    65536,
    2**24,
    2**30,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**40,
    2**62,
    2**63 - 1,
)
_FORMATS = ("<H", ">H", "<I", ">I", "<Q", ">Q", "<f", ">f", "<d")
_WORDS = (
    None, True, False, 0, 1, -1, 2, 7, 10**6, 10**30, 0.5, -0.0, 1e300, float("nan"), float("inf"), "",
    "text", "8", "\x1b[31m", "proper", "warm-up", [], [1], [8, 8], [1e9, 2], {}, {"a": 1}, [[1]], "x" * 2000,
)  # fmt: skip


def mutate(base: Base, others: list[Base], rng: random.Random) -> bytes:
    """The file damaged in one to four ways."""
    content = base.content
    structured = _structured(base)
    # One flipped bit in an archive is one that its checksum finds.
    is_archive = base.kind in ("dictionary", "checkpoint")
    for _ in range(rng.choice((1, 1, 1, 1, 2) if is_archive else (1, 1, 1, 2, 2, 3, 4))):
        if structured and rng.random() < (0.9 if is_archive else 0.6):
            try:
                content = rng.choice(structured)(content, rng)
            except Exception:  # what came before has left no structure
                content = rng.choice(_BLIND)(content, rng)
        elif rng.random() < 0.04:
            other = rng.choice(others).content
            content = content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other)) :]
        else:
            content = rng.choice(_BLIND)(content, rng)
    return content


def _structured(base: Base) -> list[Mutation]:
    suffix = base.name.rpartition(".")[2]
    found: list[Mutation] = {
        "npz": [_edit_member, _edit_member, _edit_names, _pack_members],
        "npy": [_edit_array],
        "png": [_edit_png, _edit_png, _edit_png_rows, _change_size],
        "tif": [_edit_tiff, _edit_tiff, _change_size],
        "nii": [_edit_nifti],
        "gz": [_edit_inside_gzip],
    }.get(suffix, [_change_size])
    return [*found, *[_edit_facts] * 4] if base.kind in ("dictionary", "checkpoint") else found


# Blind ------------------------------------------------------------------------------------------------


def _flip_bits(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 50)) if changed else 0):
        changed[_place(content, rng)] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _place(content: bytes, rng: random.Random) -> int:
    """A position, the more often the nearer to the beginning, where heads are."""
    return rng.randrange(len(content)) if rng.random() < 0.5 else rng.randrange(min(len(content), 128))


def _write_bytes(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    start, length = _place(content, rng), rng.choice((1, 1, 2, 4, 16))
    new = rng.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"\x01", rng.randbytes(1))) * length
    return content[:start] + new + content[start + length :]


def _write_number(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    start, how = _place(content, rng), rng.choice(_FORMATS)
    new = _packed(how, rng)
    return content[:start] + new + content[start + len(new) :]


def _packed(how: str, rng: random.Random) -> bytes:
    if how[1] in "fd":
        return struct.pack(how, rng.choice((0.0, -1.0, 1e-30, 1e30, float("nan"), float("inf"))))
    return struct.pack(how, rng.choice(_NUMBERS + _LARGE_NUMBERS) % 2 ** (8 * struct.calcsize(how)))


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _remove(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.choice((1, 2, 4, 20, 200)) :]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    start, length = rng.randrange(len(content) + 1), rng.choice((1, 4, 16, 100, 1000))
    return (
        content[: start + length]
        + content[start : start + length] * rng.choice((1, 2, 30))
        + content[start + length :]
    )


def _insert(content: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.randbytes(rng.choice((1, 2, 4, 64))) + content[start:]


_BLIND: tuple[Mutation, ...] = (
    _flip_bits, _flip_bits, _flip_bits, _write_bytes, _write_number, _write_number, _cut, _remove, _repeat,
    _insert,
)  # fmt: skip


# Pictures ---------------------------------------------------------------------------------------------


def _change_size(content: bytes, rng: random.Random) -> bytes:
    """Another number of rows or columns, wherever the file may have it, in text or in bytes."""
    side = rng.choice((ROWS, COLUMNS, ROWS - 1, COLUMNS - 1))
    places = []
    for how in ("<H", ">H", "<I", ">I"):
        pattern = re.escape(struct.pack(how, side))
        places += [(found.start(), how) for found in re.finditer(pattern, content)]
    text = b"%d" % side
    if places and (rng.random() < 0.8 or text not in content):
        start, how = rng.choice(places)
        new = _packed(how, rng)
        return content[:start] + new + content[start + len(new) :]
    return content.replace(text, b"%d" % rng.choice(_NUMBERS + _LARGE_NUMBERS), 1)


def _edit_png(content: bytes, rng: random.Random) -> bytes:
    """A chunk changed, removed, doubled, moved or added, all checksums right."""
    chunks = _png_chunks(content)
    which = rng.randrange(len(chunks))
    kind, data = chunks[which]
    action = rng.randrange(6)
    if action <= 2:
        chunks[which] = kind, rng.choice(_BLIND)(data, rng)
    elif action == 3:
        chunks.pop(which)
    elif action == 4:
        chunks.insert(rng.randrange(len(chunks) + 1), (kind, data))
    else:
        kinds = (
            b"tRNS",
            b"PLTE",
            b"gAMA",
            b"iCCP",
            b"zTXt",
            b"iTXt",
            b"tEXt",
            b"eXIf",
            b"pHYs",
            b"acTL",
            b"fcTL",
            b"fdAT",
        )
        bomb = b"name\0\0" + zlib.compress(bytes(rng.choice((10, 10**5, 2 * 10**7))), 1)
        chunks.insert(
            rng.randrange(len(chunks)), (rng.choice(kinds), rng.choice((bomb, rng.randbytes(8), b"")))
        )
    return _png_of(chunks)


def _edit_png_rows(content: bytes, rng: random.Random) -> bytes:
    """The rows changed under their compression."""
    chunks = _png_chunks(content)
    rows = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    packed = zlib.compress(rng.choice(_BLIND)(rows, rng))
    return _png_of(
        [
            *[chunk for chunk in chunks if chunk[0] not in (b"IDAT", b"IEND")],
            (b"IDAT", packed),
            (b"IEND", b""),
        ]
    )


def _png_chunks(content: bytes) -> list[tuple[bytes, bytes]]:
    chunks, place = [], 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        chunks.append((content[place + 4 : place + 8], content[place + 8 : place + 8 + length]))
        place += length + 12
    return chunks


def _png_of(chunks: list[tuple[bytes, bytes]]) -> bytes:
    parts = [b"\x89PNG\r\n\x1a\n"]
    for kind, data in chunks:
        parts.append(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    return b"".join(parts)


def _edit_tiff(content: bytes, rng: random.Random) -> bytes:
    """Tag, type, count or value of an entry of a directory."""
    order = "<" if content[:2] == b"II" else ">"
    (start,) = struct.unpack(order + "I", content[4:8])
    (count,) = struct.unpack(order + "H", content[start : start + 2])
    entry = start + 2 + 12 * rng.randrange(count)
    offset, how = rng.choice(((0, "H"), (2, "H"), (4, "I"), (8, "I"), (8, "I"), (8, "I"), (8, "H")))
    new = _packed(order + how, rng)
    if offset == 0:  # another tag that matters
        new = struct.pack(
            order + "H",
            rng.choice((256, 257, 258, 259, 262, 270, 273, 277, 278, 279, 284, 317, 320, 338, 339)),
        )
    return content[: entry + offset] + new + content[entry + offset + len(new) :]


# Arrays -----------------------------------------------------------------------------------------------


def _edit_array(content: bytes, rng: random.Random) -> bytes:
    """Head or numbers of an array in NumPy's format, its length right or not."""
    length = struct.unpack("<H", content[8:10])[0]
    head, numbers = content[10 : 10 + length].decode("latin1").strip(), content[10 + length :]
    action = rng.randrange(4)
    if action == 0:
        shapes = (
            "()",
            "(0,)",
            "(1,)",
            "(2, 3)",
            "(-1,)",
            "(1000000000000,)",
            "(4, 4, 4)",
            "(True, 2)",
            "(1.5,)",
            "('a',)",
            "((1,),)",
        )
        head = re.sub(r"'shape': \([^)]*\)", f"'shape': {rng.choice(shapes)}", head)
    elif action == 1:
        kinds = (
            "<f8",
            "<f4",
            "<f2",
            "<i8",
            "|u1",
            "|b1",
            "<c16",
            "|O",
            "<U3",
            "|S8",
            "<M8[s]",
            "|V8",
            ">f8",
            "<f16",
            "what",
        )
        head = re.sub(r"'descr': '[^']*'", f"'descr': '{rng.choice(kinds)}'", head)
    elif action == 2:
        head = (
            head.replace("False", "True")
            if "False" in head
            else rng.choice(_BLIND)(head.encode(), rng).decode("latin1")
        )
    else:
        numbers = _edit_numbers(numbers, rng)
    line = head.encode("latin1") + b"\n"
    return (
        content[:6]
        + rng.choice((b"\1\0", b"\1\0", b"\1\0", b"\2\0", b"\3\0"))
        + struct.pack("<H", len(line))
        + line
        + numbers
    )


def _edit_numbers(numbers: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.3:
        return rng.choice(
            (numbers[: len(numbers) // 2], numbers + numbers, bytes(len(numbers)), b"\xff" * len(numbers))
        )
    size = rng.choice((4, 8))
    start = size * rng.randrange(max(len(numbers) // size, 1))
    value = rng.choice((0.0, 1.0, -1.0, 1e-40, 1e30, float("nan"), float("inf"), float("-inf")))
    return numbers[:start] + struct.pack("<f" if size == 4 else "<d", value) + numbers[start + size :]


def _edit_member(content: bytes, rng: random.Random) -> bytes:
    """An array of an archive, all checksums right."""
    parts = members(content)
    which = rng.randrange(len(parts))
    name, array = parts[which]
    parts[which] = name, (_edit_array if rng.random() < 0.8 else rng.choice(_BLIND))(array, rng)
    return zipped(parts)


def _edit_names(content: bytes, rng: random.Random) -> bytes:
    """A member that is lost, doubled, renamed or a stranger."""
    parts = members(content)
    which = rng.randrange(len(parts))
    name, array = parts[which]
    action = rng.randrange(4)
    if action == 0:
        parts.pop(which)
    elif action == 1:
        parts.append((name, array))
    elif action == 2:
        names = (
            "header.npy",
            "factor0.npy",
            "factor9.npy",
            "../factor0.npy",
            "factor0",
            "",
            "a\0b.npy",
            "x" * 300,
            "ä.npy",
        )
        parts[which] = rng.choice(names), array
    else:
        parts.append((rng.choice(("more.npy", "factor7.npy", "note.txt", "folder/")), array))
    return zipped(parts)


def _pack_members(content: bytes, rng: random.Random) -> bytes:
    """Packed, and perhaps with more inside than a file of that size should have."""
    parts = members(content)
    if rng.random() < 0.3:
        which = rng.randrange(len(parts))
        parts[which] = parts[which][0], parts[which][1] + bytes(rng.choice((100, 10**6, 10**7)))
    return zipped(parts, rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))


def _edit_facts(content: bytes, rng: random.Random) -> bytes:
    """Something in the JSON of the header: dropped, replaced or added."""
    import io

    import numpy as np

    parts = members(content)
    which = [name for name, _ in parts].index("header.npy")
    facts = json.loads(str(np.load(io.BytesIO(parts[which][1]))[()]))
    _edit_json(facts, rng)
    stream = io.BytesIO()
    np.save(stream, np.array(json.dumps(facts)))
    parts[which] = "header.npy", stream.getvalue()
    return zipped(parts)


def _edit_json(value: Any, rng: random.Random) -> None:
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(value[key], dict | list) and value[key] and rng.random() < 0.75:
        _edit_json(value[key], rng)
    elif rng.random() < 0.15:
        del value[key]
    elif rng.random() < 0.1:
        value.update({"new": rng.choice(_WORDS)}) if isinstance(value, dict) else value.append(
            rng.choice(_WORDS)
        )
    elif isinstance(value[key], int | float) and rng.random() < 0.4:
        value[key] = value[key] * rng.choice((-1, 0, 2, 1000)) + rng.choice((0, 1))
    else:
        value[key] = rng.choice(_WORDS)


def _edit_nifti(content: bytes, rng: random.Random) -> bytes:
    """A field of the head that matters: axes, type, place and scale of the numbers."""
    if content[:4] == struct.pack("<i", 540):
        fields = {
            16: "q",
            24: "q",
            32: "q",
            40: "q",
            12: "h",
            14: "h",
            168: "q",
            176: "d",
            184: "d",
            344: "i",
            4: "h",
        }
    else:
        fields = {
            40: "h",
            42: "h",
            44: "h",
            46: "h",
            48: "h",
            70: "h",
            72: "h",
            108: "f",
            112: "f",
            116: "f",
            252: "h",
            344: "h",
        }
    start = rng.choice(list(fields))
    how = "<" + fields[start]
    if fields[start] in "fd":
        new = _packed(how, rng)
    else:
        bits = 8 * struct.calcsize(how)
        number = rng.choice((*_NUMBERS, *_LARGE_NUMBERS, -1, -32768, 2304, 1536, 512, 768)) % 2**bits
        new = number.to_bytes(bits // 8, "little")
    return content[:start] + new + content[start + len(new) :]


def _edit_inside_gzip(content: bytes, rng: random.Random) -> bytes:
    inside = rng.choice((_edit_nifti, _edit_nifti, rng.choice(_BLIND)))(gzip.decompress(content), rng)
    if rng.random() < 0.1:
        inside += bytes(rng.choice((10**5, 10**7)))
    return gzip.compress(inside, 1, mtime=0)
