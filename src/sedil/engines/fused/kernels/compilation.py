"""How all kernels are compiled, called from Python, and announced to the user.

Compiling takes seconds on the first run on a machine, so as little as possible is compiled, and once: what
Python never calls gets no way in from there, which with so many arrays takes as long as the kernel itself;
and it is not kept on disk, as the kernels that contain it are.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Lock, Timer
from typing import Any

import numpy as np
from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from sedil.engines.fused.kernels.cache import KernelCache
from sedil.engines.fused.kernels.entrance import Entrance


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel, which calls none but its own copies of the functions that it is made of.

    Numba makes machine code of each function on its own, and a second copy inside each caller, optimised once
    more there. Which of the two a call reaches is left to the order in which they come into a process, and as
    they add up in different orders, a process that compiles kernels and one that finds them on disk would
    differ in the last bits.
    """

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        # Not earlier: what LLVM knows to be called here alone it would optimise in other ways.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"


class KernelCompiler(Compiler):
    """Numba's compiler, into such a library."""

    def compile_extra(self, function: Callable[..., Any]) -> Any:
        """Compile a Python function."""
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()  # as Numba does for those that it makes itself
        return super().compile_extra(function)


# Without the GIL, so that threads run side by side; sums in any order, and no check for division by zero, as
# either would forbid SIMD vectors; without counting references, as nothing goes away that kernels are given.
_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "fastmath": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


class Kernel(CPUDispatcher):
    """A function that Python calls, kept on disk once it is compiled."""

    entrance: Entrance | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Look at the arguments, then run."""
        if self.entrance is not None:
            self.entrance.check(arguments)
        return super().__call__(*arguments)

    def enable_caching(self) -> None:
        """Keep what is compiled, as long as no source of the kernels changes."""
        self._cache: Any = KernelCache.create(self.py_func)


class Part(CPUDispatcher):
    """A function that kernels call, and Python cannot: it is compiled into its callers alone."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not from Python."""
        raise TypeError(
            f"{self.py_func.__name__} is compiled into the kernels that call it and cannot be called from "
            f"Python, got {len(args) + len(kwargs)} arguments: write a function with @kernel that calls it"
        )


def kernel(function: Callable[..., Any], **options: Any) -> Kernel:
    """Compile for calls from Python, and keep the result on disk."""
    dispatcher = Kernel(function, targetoptions={**_OPTIONS, **options}, pipeline_class=KernelCompiler)
    dispatcher.enable_caching()
    return dispatcher


def inner(function: Callable[..., Any], **options: Any) -> Part:
    """Compile for calls from kernels alone."""
    return Part(function, targetoptions={**_OPTIONS, "no_cpython_wrapper": True, **options})


# For those that make arrays, which need counting.
allocating_kernel, allocating = partial(kernel, _nrt=True), partial(inner, _nrt=True)
# For those that do what they say in the order in which they say it; a product and a sum may be fused.
ordered = partial(inner, fastmath={"contract"})
# For short ones with many arrays: to hand these over would take longer than the work itself.
inlined = partial(inner, forceinline=True)
# For parts of one kernel: put together before anything is compiled.
pasted = partial(inner, inline="always")

# A plain 1 is a type of its own to Numba: what gets it as an argument would be compiled once more for it.
ONE = np.int64(1)


_PATIENCE = 1.0  # seconds
_ready: set[str] = set()
_said = Event()
_saying = Lock()


@contextmanager
def announced(kernel: str) -> Iterator[None]:
    """Say on standard error, once per process, if the first use of `kernel` takes longer than a second.

    What is compiled is kept on disk, so this happens once per machine and version.
    """
    if kernel in _ready:
        yield
        return
    timer = Timer(_PATIENCE, _say)
    timer.daemon = True
    timer.start()
    try:
        with _no_search_for_garbage():
            yield
    finally:
        timer.cancel()
    _ready.add(kernel)


@contextmanager
def _no_search_for_garbage() -> Iterator[None]:
    """Numba makes millions of objects and needs them to the end: searching takes a twentieth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _say() -> None:
    with _saying:
        if _said.is_set():
            return
        _said.set()
        print("sedil: compiling for this machine, once ...", file=sys.stderr, flush=True)  # noqa: T201
