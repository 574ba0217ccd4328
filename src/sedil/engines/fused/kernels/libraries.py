"""Where compiled code goes: a kernel is whole in itself.

Numba makes machine code of each function on its own, and a second copy inside each caller, optimised once
more there. Which of the two a call reaches is left to the order in which they come into a process, and as
they add up in different orders, a process that compiles kernels and one that finds them on disk would differ
in the last bits. So a kernel keeps its copies to itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel, which calls none but its own copies of the functions that it is made of."""

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
