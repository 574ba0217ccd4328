"""Blocks of stages, each begun once what it reads is kept: no worker waits for the last block of a stage."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from sedil.cluster.kept_blocks import Index
from sedil.file_jobs.chunk_stages import Stage

Block = tuple[int, Index]  # the number of its stage, and which of its blocks it is
_STAGES_AT_A_TIME = 2  # lest more and more be kept while one block of a stage is waited for
_BLOCKS_PER_THREAD = 2  # one is worked on, and the next one is at hand


def name_of(block: Block) -> str:
    """What a block is called in a journal."""
    number, index = block
    return f"{number}:{'.'.join(map(str, index))}"


def run_blocks(stages: Sequence[Stage], finished: Collection[str], client: Any) -> Iterator[Block]:
    """Do all blocks that are not finished, and give each once it is written.

    Note it before you ask for the next one: folders that no other block reads are removed then.
    """
    from distributed import as_completed

    queue = BlockQueue(stages, finished)
    running: dict[Any, Block] = {}
    completed = as_completed()
    while True:
        for block in queue.led(client):
            yield block
            queue.end(block)
        room = _BLOCKS_PER_THREAD * max(sum(client.nthreads().values()), 1)
        while len(running) < room and (begun := queue.next()) is not None:
            number, index = begun
            future = client.submit(stages[number].do, index, pure=False)
            running[future] = begun
            completed.add(future)
        if not running:
            queue.require_done()
            return
        future = next(completed)
        future.result()
        block = running.pop(future)
        yield block
        queue.end(block)


class BlockQueue:
    """What is still to be done, in the order of the stages and of the blocks in them."""

    def __init__(self, stages: Sequence[Stage], finished: Collection[str]) -> None:
        self._stages = stages
        self._todo: dict[int, deque[Index]] = {}  # not begun
        self._left: dict[int, set[Index]] = {}  # not noted, of stages that are not whole
        self._kept = set()
        for number, stage in enumerate(stages):
            todo = [index for index in stage.indices if name_of((number, index)) not in finished]
            self._todo[number] = deque(todo)
            if todo:
                self._left[number] = set(todo)
            done = set(stage.indices).difference(todo)
            self._kept |= {(folder, index) for folder in stage.fills for index in done}
        for number, stage in enumerate(stages):
            if number not in self._left:
                self._remove_used_up(stage)  # a run that was stopped may not have come to it

    def led(self, client: Any) -> Iterator[Block]:
        """Blocks that the leading process sees to, if it is their turn."""
        while self._left:
            number = next(iter(self._left))
            lead = self._stages[number].lead
            if lead is None:
                return
            yield from ((number, index) for index in lead(self._todo[number], client))

    def next(self) -> Block | None:
        """The first block that can be begun."""
        for number in islice(self._left, _STAGES_AT_A_TIME):
            todo = self._todo[number]
            if todo and self._can_begin(number, todo[0]):
                for folder in self._stages[number].fills:
                    folder.mkdir(parents=True, exist_ok=True)
                return number, todo.popleft()
        return None

    def require_done(self) -> None:
        """An unfinished result must never take the place of a finished one."""
        if self._left:
            raise AssertionError(f"Blocks wait for others that nobody makes: {self._left}")

    def _can_begin(self, number: int, index: Index) -> bool:
        stage = self._stages[number]
        if stage.needs is None:
            return stage.lead is None and number == next(iter(self._left))
        return self._kept.issuperset(stage.needs(index))

    def end(self, block: Block) -> None:
        """A block is noted."""
        number, index = block
        stage, left = self._stages[number], self._left[number]
        self._kept |= {(folder, index) for folder in stage.fills}
        left.remove(index)
        if not left:
            del self._left[number]
            self._remove_used_up(stage)

    def _remove_used_up(self, stage: Stage) -> None:
        needed = {folder for number in self._left for folder in self._stages[number].reads}
        for folder in {*stage.reads} - needed:
            shutil.rmtree(folder, ignore_errors=True)  # it may be gone since an earlier run
