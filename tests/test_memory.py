import os
import subprocess
import sys

import pytest

from sedil import memory
from sedil.memory import usable_memory

MACHINE = 64_000_000_000


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Files of control groups, and nothing else that limits memory."""
    monkeypatch.setattr(memory, "_CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "_machine", lambda: [MACHINE])
    monkeypatch.setattr(memory, "_address_space", lambda: [])
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_without_limits_the_machine_counts(groups):
    assert usable_memory() == MACHINE
    write(groups / "own", "0::/a/b\n")
    write(groups / "a/b/memory.max", "max\n")
    assert usable_memory() == MACHINE


@pytest.mark.parametrize("place", ["a/b/memory.max", "a/memory.max", "memory.max"])
def test_limit_of_a_group_and_of_those_above_it_counts(groups, place):
    write(groups / "own", "0::/a/b\n")
    write(groups / place, "1000000\n")
    assert usable_memory() == 1_000_000


def test_limit_of_the_first_version_counts(groups):
    write(groups / "own", "5:cpu:/other\n4:hugetlb,memory:/a\n")
    write(groups / "memory/a/memory.limit_in_bytes", "2000000\n")
    write(groups / "memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert usable_memory() == 2_000_000


def test_nothing_is_known_where_the_system_says_nothing(groups, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(memory, "_OWN_GROUPS", groups / "nothing")
    monkeypatch.setattr(memory, "_address_space", lambda: [])
    monkeypatch.delattr(memory.os, "sysconf")
    assert usable_memory() is None


@pytest.mark.skipif(os.name != "posix", reason="limits are those of POSIX: they were not tested")
def test_limit_on_the_address_space_counts():
    program = (
        "import resource; from sedil.memory import usable_memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 10**8,) * 2)\n"
        "print(usable_memory())"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(result.stdout) <= 300_000_000
