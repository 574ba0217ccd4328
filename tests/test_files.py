import json
import os
import pickle
import re
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import sedil
from full_disk import no_space, stop_writes
from sedil import files, npz, partial_files
from sedil.dictionary import SeparableDictionary
from sedil.errors import DictionaryFileError

POSIX = pytest.mark.skipif(os.name != "posix", reason="files are not those of POSIX: this was not tested")

HEADER = {
    "kind": "dictionary",
    "format_version": files.FORMAT_VERSION,
    "facts": {"patch_shape": [2], "n_atoms": [2], "signal_shape": [2], "threshold": None, "info": {}},
}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "dictionary.npz"
    SeparableDictionary([np.eye(2)], info={"note": "whole"}).save(path)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_archive_returns_what_was_written(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array(1.5)}
    facts = {"text": "åß", "list": [1, 2.5, None], "nested": {"yes": True}}
    files.write_archive(tmp_path / "x.npz", "thing", arrays, facts)
    found, found_facts = files.read_archive(tmp_path / "x.npz", "thing")
    assert found_facts == facts
    assert found.keys() == arrays.keys()
    for name in arrays:
        assert found[name].dtype == arrays[name].dtype
        np.testing.assert_array_equal(found[name], arrays[name])


def test_name_without_suffix_is_kept(tmp_path):
    files.write_archive(tmp_path / "plain", "thing", {}, {})
    assert names(tmp_path) == ["plain"]


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing\.npz"):
        sedil.load_dictionary(tmp_path / "nothing.npz")


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Cannot write .*d\.npz: the folder .*nowhere does not"):
        SeparableDictionary([np.eye(2)]).save(tmp_path / "nowhere" / "d.npz")


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_file_is_called_damaged(saved, kept):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(DictionaryFileError, match=r"dictionary\.npz is not a dictionary file .*damaged"):
        sedil.load_dictionary(saved)


@pytest.mark.parametrize("mask", [0xFF, 0x01])
def test_every_damaged_byte_is_noticed_or_harmless(saved, mask):
    """Change each byte in turn: the file loads as it was, or is refused with our error."""
    content = saved.read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= mask
        saved.write_bytes(damaged)
        try:
            dictionary = sedil.load_dictionary(saved)
        except DictionaryFileError:
            continue
        np.testing.assert_array_equal(dictionary.factors[0], np.eye(2), err_msg=f"byte {position}")
        assert dictionary.info == {"note": "whole"}


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("not a zip"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(pickle.dumps([1, 2])),
        lambda path: np.savez(path, weights=np.ones(3)),
        lambda path: np.savez(path, header=np.array("not json")),
        lambda path: np.savez(path, header=np.array("[1, 2]")),
        lambda path: np.savez(path, header=np.array(json.dumps({"kind": "dictionary"}))),
        lambda path: np.savez(path, header=np.ones(3)),
        lambda path: zipfile.ZipFile(path, "w").close(),
    ],
    ids=[
        "text",
        "empty",
        "pickle",
        "foreign npz",
        "no json",
        "json list",
        "half header",
        "numbers",
        "empty zip",
    ],
)
def test_foreign_file_is_refused(tmp_path, write):
    path = tmp_path / "foreign.npz"
    write(path)
    with pytest.raises(DictionaryFileError, match=r"foreign\.npz is not a dictionary file of sedil"):
        sedil.load_dictionary(path)


def test_npy_file_is_refused(tmp_path):
    np.save(tmp_path / "array.npy", np.ones(3))
    with pytest.raises(DictionaryFileError, match=r"array\.npy is not a dictionary file of sedil"):
        sedil.load_dictionary(tmp_path / "array.npy")


def test_other_kind_is_named(tmp_path):
    files.write_archive(tmp_path / "c.npz", "checkpoint", {}, {})
    with pytest.raises(DictionaryFileError, match=r"c\.npz holds a checkpoint, not a dictionary"):
        sedil.load_dictionary(tmp_path / "c.npz")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (3, "has format version 3; this sedil reads version 2: update sedil to read it"),
        (1, "has format version 1; this sedil reads version 2: make it anew"),
    ],
)
def test_other_versions_say_what_to_do(tmp_path, monkeypatch, version, message):
    monkeypatch.setattr(files, "FORMAT_VERSION", version)
    files.write_archive(tmp_path / "other.npz", "dictionary", {}, {})
    monkeypatch.undo()
    with pytest.raises(DictionaryFileError, match=message):
        sedil.load_dictionary(tmp_path / "other.npz")


def facts_of(patch_shape, n_atoms, info=None, **others):
    given = {"patch_shape": patch_shape, "n_atoms": n_atoms, "info": {} if info is None else info}
    return {"signal_shape": patch_shape, "threshold": None} | given | others


@pytest.mark.parametrize(
    ("arrays", "facts", "message"),
    [
        ({"factor0": np.eye(2)}, facts_of([2, 2], [2, 2]), "it lacks factor1."),
        ({"factor0": np.eye(2)}, {**HEADER["facts"], "info": None}, "its info is None, not a dict."),
        ({"factor0": np.eye(2)}, {"n_atoms": [2], "info": {}}, "it lacks patch_shape."),
        ({"factor0": np.eye(2)}, {"patch_shape": [2], "n_atoms": [2]}, "it lacks signal_shape."),
        (
            {"factor0": np.eye(2)},
            {"patch_shape": [2], "n_atoms": [2], "signal_shape": [2], "threshold": None},
            "it lacks info.",
        ),
        (
            {"factor0": np.eye(2)},
            facts_of([2], [2], threshold="3"),
            "its threshold is a str, not a float, int, None.",
        ),
        ({"factor0": np.eye(2)}, facts_of([2], [2], threshold=-1.0), "threshold must be a finite positive"),
        ({"factor0": np.eye(2)}, facts_of([2], [2], signal_shape=[3]), "signal_shape (3,) does not hold a"),
        ({"factor0": np.eye(2)}, facts_of([2], [2], signal_shape=[[2]]), "signal_shape must be"),
        ({"factor0": np.eye(2)}, facts_of([2], 2), "its n_atoms is an int, not a list."),
        ({"factor0": np.eye(2)}, facts_of("8", [2]), "its patch_shape is a str, not a list."),
        ({"factor0": np.eye(2)}, facts_of([2], [2], "text"), "its info is a str, not a dict."),
        ({"factor0": np.eye(2)}, facts_of([2], [3]), "factor0 has shape (2, 2), not (2, 3) as it says."),
        ({"factor0": np.eye(2)}, facts_of([3], [2]), "factor0 has shape (2, 2), not (3, 2) as it says."),
        ({"factor0": np.eye(2)}, facts_of([2, 2], [2]), "n_atoms must have one number per patch axis"),
        ({"factor0": np.eye(2)}, facts_of([2], ["2"]), "n_atoms must be positive whole numbers"),
        (
            {"factor0": 2 * np.eye(2)},
            facts_of([2], [2]),
            "factor0 must have unit columns, but column 0 has length 2, not 1.",
        ),
        ({"factor0": np.array("text")}, facts_of([2], [2]), "factor0 must hold real numbers, got dtype <U4."),
        ({}, facts_of([], []), "A dictionary has 1 to 4 factors, got 0."),
    ],
)
def test_dictionary_with_wrong_content_is_called_damaged(tmp_path, arrays, facts, message):
    files.write_archive(tmp_path / "wrong.npz", "dictionary", arrays, facts)
    with pytest.raises(DictionaryFileError, match=r"wrong\.npz is damaged: " + re.escape(message)) as caught:
        sedil.load_dictionary(tmp_path / "wrong.npz")
    assert "normalize" not in str(caught.value)


@pytest.mark.parametrize("version", [0, -1, 1.0, True, "1", None, [1]])
def test_version_that_is_no_count_is_called_damaged(tmp_path, monkeypatch, version):
    monkeypatch.setattr(files, "FORMAT_VERSION", version)
    files.write_archive(tmp_path / "odd.npz", "dictionary", {}, {})
    monkeypatch.undo()
    with pytest.raises(DictionaryFileError, match=r"odd\.npz is damaged: its format version is "):
        sedil.load_dictionary(tmp_path / "odd.npz")


def test_facts_that_are_no_dict_are_called_damaged(tmp_path):
    header = np.array(json.dumps({**HEADER, "facts": [1]}))
    np.savez(tmp_path / "odd.npz", header=header)
    with pytest.raises(DictionaryFileError, match=r"is damaged: its facts are a list, not a dict"):
        sedil.load_dictionary(tmp_path / "odd.npz")


# Archives that are not what they seem


def npy(shape, dtype="<f8", content=b""):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + content


def write_members(path, compression=zipfile.ZIP_STORED, **members):
    header = BytesIO()
    np.save(header, np.array(json.dumps(HEADER)))
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in {"header": header.getvalue(), **members}.items():
            archive.writestr(f"{name}.npy", content)


def peak_of_loading(path):
    tracemalloc.start()
    try:
        with pytest.raises(DictionaryFileError) as caught:
            sedil.load_dictionary(path)
        return str(caught.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["factor0", "unknown"])
def test_archive_that_unpacks_to_more_than_its_size_is_refused_unread(tmp_path, name):
    path = tmp_path / "bomb.npz"
    write_members(path, zipfile.ZIP_DEFLATED, **{name: npy((10**7,), content=bytes(8 * 10**7))})
    message, peak = peak_of_loading(path)
    assert re.search(
        r"bomb\.npz was not written by sedil, or it is damaged: its arrays take 80,00.,... bytes", message
    )
    assert peak < 2_000_000
    assert files.archive_kind(path) is None


@pytest.mark.parametrize("shape", [(10**12,), (10**30,), (-1, 2), (2, 3), (1,)])
def test_array_that_is_not_as_large_as_it_says_is_refused_unread(tmp_path, shape):
    path = tmp_path / "lie.npz"
    write_members(path, factor0=npy(shape, content=bytes(32)))
    message, peak = peak_of_loading(path)
    assert message == f"{path} is not a dictionary file of sedil, or it is damaged (ValueError)."
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "shape", ["(2, 2", "(2, 2)}, 'more': {", "[" * 3000, "'''", "(2.0, 2)", "()", "(True, 2)", "'\\e'"]
)
def test_head_that_cannot_be_parsed_is_our_error(tmp_path, shape):
    path = tmp_path / "odd.npz"
    write_members(path, factor0=npy(shape, content=bytes(32)))
    with pytest.raises(DictionaryFileError, match=r"odd\.npz is not a dictionary file of sedil"):
        sedil.load_dictionary(path)


def test_two_arrays_of_one_name_are_refused(tmp_path):
    path = tmp_path / "two.npz"
    write_members(path, factor0=npy((2, 2), content=np.eye(2).tobytes()))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("factor0.npy", npy((2, 2), content=np.eye(2).tobytes()))
    with pytest.raises(DictionaryFileError, match=r"two\.npz is not a dictionary file of sedil"):
        sedil.load_dictionary(path)


def test_archive_beyond_the_memory_is_refused_unread(saved, monkeypatch):
    monkeypatch.setattr(files, "usable_memory", lambda: 100)
    monkeypatch.setattr(files, "read_array", None)
    message = (
        r"dictionary\.npz takes 0\.0 GB of memory, and this process may use 0\.0 GB: read it on a larger"
    )
    with pytest.raises(DictionaryFileError, match=message):
        sedil.load_dictionary(saved)


class Trap:
    """Unpickling this creates a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("place", ["factor0", "header", "extra"])
def test_pickles_are_refused_and_never_run(tmp_path, place):
    sprung = tmp_path / "sprung"
    content = {
        "header": np.array(json.dumps(HEADER)),
        "factor0": np.eye(2),
    }
    content[place] = np.array([Trap(sprung)], dtype=object)
    np.savez(tmp_path / "trap.npz", allow_pickle=True, **content)
    with pytest.raises(DictionaryFileError, match=r"trap\.npz is not a dictionary file of sedil"):
        sedil.load_dictionary(tmp_path / "trap.npz")
    assert not sprung.exists()


def test_object_arrays_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        files.write_archive(tmp_path / "x.npz", "thing", {"a": np.array([{}], dtype=object)}, {})
    assert names(tmp_path) == []


def test_failed_write_leaves_the_old_file_whole_and_no_leftovers(saved, monkeypatch):
    before = saved.read_bytes()

    def half_a_write(stream, **content):
        stream.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(files.np, "savez", half_a_write)
    with pytest.raises(OSError, match="No space left"):
        SeparableDictionary([np.eye(4)]).save(saved)
    assert saved.read_bytes() == before
    assert names(saved.parent) == [saved.name]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_interrupted_replacement_leaves_the_old_file_whole(saved, monkeypatch, error):
    before = saved.read_bytes()

    def refuse(source, target):
        raise error

    monkeypatch.setattr(files.os, "replace", refuse)
    with pytest.raises(error):
        SeparableDictionary([np.eye(4)]).save(saved)
    assert saved.read_bytes() == before
    assert names(saved.parent) == [saved.name]


@pytest.mark.parametrize("value", [object(), np.float32(1), {"deep": [np.ones(2)]}, {1, 2}])
def test_info_that_json_cannot_hold_is_refused_before_anything_is_written(tmp_path, value):
    message = r"info\['rng'\] cannot be saved \(.* is not JSON serializable\): use text, numbers"
    with pytest.raises(TypeError, match=message):
        SeparableDictionary([np.eye(2)], info={"rng": value})
    dictionary = SeparableDictionary([np.eye(2)])
    dictionary.info["rng"] = value
    with pytest.raises(TypeError, match=message):
        dictionary.save(tmp_path / "d.npz")
    assert names(tmp_path) == []


def test_info_keys_are_text():
    with pytest.raises(TypeError, match="info has the key 1: keys must be text"):
        SeparableDictionary([np.eye(2)], info={1: "one"})


def test_folder_in_the_place_of_the_file_is_named(tmp_path):
    (tmp_path / "d.npz").mkdir()
    with pytest.raises(IsADirectoryError, match=r"d\.npz is a folder: give the name of a file"):
        SeparableDictionary([np.eye(2)]).save(tmp_path / "d.npz")
    assert names(tmp_path) == ["d.npz"]


def test_content_is_on_the_disk_before_it_replaces_the_old(saved, monkeypatch):
    done = []
    monkeypatch.setattr(files.os, "fsync", lambda handle: done.append(("fsync", os.fstat(handle).st_size)))
    monkeypatch.setattr(files.os, "replace", lambda a, b: done.append(("replace", os.path.getsize(a))))
    SeparableDictionary([np.eye(4)]).save(saved)
    (first, size), (second, same) = done
    assert (first, second) == ("fsync", "replace")
    assert size == same > 0


def test_place_that_cannot_be_written_is_refused_and_left_as_it_was(saved):
    before = saved.read_bytes()
    files.require_writable(saved)
    assert saved.read_bytes() == before
    with pytest.raises(OSError, match=r"Cannot write .*: File name too long\."):
        files.require_writable(saved.with_name("d" * 256))
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        files.require_writable(saved.parent / "nowhere" / "d.npz")
    assert names(saved.parent) == [saved.name]


def killed_while_writing(path):
    """A process that writes to `path` and is killed."""
    program = (
        "import os, signal, sys; from sedil.files import replacing\n"
        "with replacing(sys.argv[1]) as stream:\n"
        "    stream.write(b'half'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, path])


@POSIX
def test_leftovers_of_killed_processes_are_removed_when_the_file_is_written_again(saved):
    other = saved.with_name("other.npz")
    for path in (saved, saved, other):
        killed_while_writing(path)
    assert len(names(saved.parent)) == 3, "the second one has removed what the first one left"
    SeparableDictionary([np.eye(4)]).save(saved)
    assert sedil.load_dictionary(saved).n_atoms == (4,)
    left, whole = names(saved.parent)
    assert left.startswith(".other.npz.")
    assert whole == saved.name


@POSIX
def test_partial_file_that_is_being_written_is_no_leftover(saved):
    with files.replacing(saved) as first:
        first.write(b"first")
        with files.replacing(saved) as second:
            second.write(b"second")
        assert saved.read_bytes() == b"second"
    assert saved.read_bytes() == b"first"
    assert names(saved.parent) == [saved.name]


@POSIX
def test_link_and_pipe_named_like_leftovers_are_let_be(saved):
    link, pipe = (saved.with_name(f".{saved.name}.{digit * 16}.part") for digit in "01")
    link.symlink_to(saved)
    os.mkfifo(pipe)
    SeparableDictionary([np.eye(4)]).save(saved)
    assert link.is_symlink()
    assert sedil.load_dictionary(saved).n_atoms == (4,)


@POSIX
def test_partial_file_that_was_taken_for_a_leftover_is_made_again(saved, monkeypatch):
    lock, taken = partial_files.fcntl.flock, []

    def take_first(stream, how):
        if not taken:
            taken.append(stream.name)
            os.unlink(stream.name)
        lock(stream, how)

    monkeypatch.setattr(partial_files.fcntl, "flock", take_first)
    files.write_content(saved, memoryview(b"whole"))
    assert len(taken) == 1
    assert saved.read_bytes() == b"whole"


@POSIX
@pytest.mark.parametrize("write", [files.require_writable, lambda path: files.write_content(path, b"x")])
def test_pipes_and_devices_are_not_replaced(tmp_path, write):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        message = rf"{path} is a device, a pipe or a socket: give the name of a file\."
        with pytest.raises(OSError, match=message):
            write(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["link", "pipe"]
    assert files.archive_kind(pipe) is None


@POSIX
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o777])
def test_permissions_of_a_replaced_file_are_kept(saved, mode):
    saved.chmod(mode)
    SeparableDictionary([np.eye(4)]).save(saved)
    assert stat.S_IMODE(saved.stat().st_mode) == mode
    assert sedil.load_dictionary(saved).n_atoms == (4,)


@POSIX
def test_what_a_link_points_to_is_written(saved):
    folder = saved.parent / "links"
    folder.mkdir()
    link, dangling = folder / "link.npz", folder / "dangling.npz"
    link.symlink_to(os.path.join("..", saved.name))
    dangling.symlink_to(saved.with_name("new.npz"))
    for path in (link, dangling):
        SeparableDictionary([np.eye(4)]).save(path)
        assert path.is_symlink()
    assert sedil.load_dictionary(saved).n_atoms == (4,)
    assert names(saved.parent) == ["dictionary.npz", "links", "new.npz"]
    assert names(folder) == ["dangling.npz", "link.npz"]
    circle = folder / "circle.npz"
    circle.symlink_to(circle)
    with pytest.raises(OSError, match=r"Cannot write .*circle\.npz: Too many levels of symbolic links\."):
        SeparableDictionary([np.eye(4)]).save(circle)


@pytest.mark.parametrize("name", ["d" * 250, "d" * 255, "å" * 127])
def test_longest_names_work(saved, name):
    for _ in range(2):
        files.write_content(saved.with_name(name), memoryview(b"x"))
    assert names(saved.parent) == sorted([saved.name, name])


@POSIX
def test_file_has_the_usual_permissions(saved):
    plain = saved.with_name("plain")
    with open(plain, "w"):
        pass
    assert stat.S_IMODE(saved.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


# A disk that fills up in the middle of a write, and Ctrl-C there


@pytest.mark.parametrize("error", [no_space, KeyboardInterrupt])
@pytest.mark.parametrize("exists", [False, True])
def test_dictionary_that_cannot_be_written_whole_is_not_written(tmp_path, monkeypatch, error, exists):
    path = tmp_path / "d.npz"
    if exists:
        SeparableDictionary([np.eye(2)]).save(path)
    before = names(tmp_path)
    stop_writes(monkeypatch, "d.npz", error)
    with pytest.raises((OSError, KeyboardInterrupt)) as caught:
        SeparableDictionary([np.eye(4)]).save(path)
    if error is no_space:
        assert str(caught.value) == f"Cannot write {path}: No space left on device."
    assert names(tmp_path) == before
    if exists:
        assert sedil.load_dictionary(path).n_atoms == (2,)


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "bmp", "pgm", "webp"])
@pytest.mark.parametrize("error", [no_space, KeyboardInterrupt])
def test_picture_that_cannot_be_written_whole_is_not_written(tmp_path, monkeypatch, suffix, error):
    path = tmp_path / f"p.{suffix}"
    stop_writes(monkeypatch, path.name, error)
    with pytest.raises((OSError, KeyboardInterrupt)) as caught:
        files.write_picture(path, np.zeros((80, 80), np.uint8))
    if error is no_space:
        assert str(caught.value) == f"Cannot write {path}: No space left on device."
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="file size limits are those of POSIX: they were not tested")
@pytest.mark.parametrize("suffix", ["png", "tif", "bmp", "pgm"])
def test_last_bytes_of_a_picture_are_not_lost_when_the_disk_is_full(tmp_path, suffix):
    whole, cut = tmp_path / f"whole.{suffix}", tmp_path / f"cut.{suffix}"
    noise = np.random.default_rng(0).integers(0, 255, (300, 300), dtype=np.uint8)
    files.write_picture(whole, noise)
    program = (
        "import resource, sys, numpy as np; from PIL import Image; from sedil.files import write_picture\n"
        "pixels = np.random.default_rng(0).integers(0, 255, (300, 300), dtype=np.uint8)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
        "write_picture(sys.argv[1], pixels)"
    )
    room = whole.stat().st_size - 1  # the system takes all bytes but the last one, and says so in a number
    result = subprocess.run([sys.executable, "-c", program, cut, str(room)], capture_output=True, text=True)
    assert f"Cannot write {cut}: File too large." in result.stderr
    assert names(tmp_path) == [whole.name]


# Pictures and folders


def test_options_of_pillow_are_passed_on(tmp_path):
    content = files.as_file_content("a.png", np.zeros((2, 2), np.uint8), dpi=(300, 300))
    files.write_content(tmp_path / "a.png", content)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_folder_is_made_in_one_that_exists(tmp_path):
    files.make_folder(tmp_path / "new")
    files.make_folder(tmp_path / "new")
    assert (tmp_path / "new").is_dir()
    with pytest.raises(
        FileNotFoundError, match=r"Cannot make the folder .*a/b: the folder .*a does not exist"
    ):
        files.make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"file is a file: give the name of a folder\."):
        files.make_folder(tmp_path / "file")


def test_folders_above_are_made_if_wanted(tmp_path):
    for _ in range(2):
        files.make_folder(tmp_path / "a" / "b", parents=True)
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"Cannot make the folder .*file/b: Not a directory\."):
        files.make_folder(tmp_path / "file" / "b", parents=True)


def test_folder_that_cannot_be_made_is_named(tmp_path):
    with pytest.raises(OSError, match=r"Cannot make the folder .*: File name too long\."):
        files.make_folder(tmp_path / ("n" * 300))


def test_array_that_no_dictionary_has_is_refused_unread(tmp_path):
    sedil.odct((4,), (6,)).save(tmp_path / "d.npz")
    with zipfile.ZipFile(tmp_path / "d.npz", "a") as archive, archive.open("stranger.npy", "w") as stream:
        np.save(stream, np.zeros(1000))
    message = (
        r"d\.npz was not written by sedil, or it is damaged: it holds an array 'stranger', as no dictionary"
    )
    with pytest.raises(DictionaryFileError, match=message):
        sedil.load_dictionary(tmp_path / "d.npz")


@pytest.mark.parametrize("change", [{"kind": "x" * 5000}, {"format_version": "x" * 5000}])
def test_long_words_of_a_foreign_file_are_not_repeated(tmp_path, change):
    header = json.dumps({"kind": "dictionary", "format_version": 2, "facts": {}} | change)
    np.savez(tmp_path / "d.npz", header=np.array(header))
    with pytest.raises(DictionaryFileError, match=r"d\.npz .*xxx") as caught:
        sedil.load_dictionary(tmp_path / "d.npz")
    assert len(str(caught.value)) < 200 + len(str(tmp_path))


def test_entries_too_large_to_be_squared_are_told_without_a_warning(tmp_path):
    sedil.odct((4,), (6,)).save(tmp_path / "d.npz")
    arrays, facts = files.read_archive(tmp_path / "d.npz", "dictionary")
    files.write_archive(tmp_path / "d.npz", "dictionary", {"factor0": 1e200 * arrays["factor0"]}, facts)
    with pytest.raises(
        DictionaryFileError, match=r"factor0 must have unit columns, but has an entry of size"
    ):
        sedil.load_dictionary(tmp_path / "d.npz")


def test_file_that_is_replaced_while_it_is_read_is_read_as_it_was(tmp_path, monkeypatch):
    """The size was once that of the new file, and the arrays those of the old one."""
    large, small = sedil.odct((8, 8), (9, 9)), sedil.odct((4,), (6,))
    large.save(tmp_path / "d.npz")

    def heads_then_replace(archive):
        heads = npz.array_heads(archive)
        small.save(tmp_path / "d.npz")
        return heads

    monkeypatch.setattr(files, "array_heads", heads_then_replace)
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (9, 9)
    monkeypatch.undo()
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (6,)


def test_header_with_what_is_no_character_is_refused(tmp_path):
    """A flipped bit in text of NumPy can make a number that Python has no character for."""
    header = json.dumps({"kind": "dictionary", "format_version": 2, "facts": {"info": {"a": "b"}}})
    letters = np.array(header).reshape(1).view(np.uint32).copy()
    letters[header.index("b")] |= 1 << 30
    np.savez(tmp_path / "d.npz", header=letters.view(f"<U{len(header)}")[0])
    with pytest.raises(
        DictionaryFileError, match=r"d\.npz is not a dictionary file of sedil, or it is damaged"
    ):
        sedil.load_dictionary(tmp_path / "d.npz")
