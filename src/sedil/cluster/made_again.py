"""The same Dask array a second time, made anew when something else is known.

What all chunks have in common is needed before work on the first of them begins. Dask would keep all of them
in memory meanwhile, as they are needed again. Its own `bind` does not follow tasks of the present kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sedil.cluster.dask_arrays import dask_array


def again(array: Any, after: Sequence[Any], known: Sequence[Any] = ()) -> Any:
    """A copy of an array under other names, none of whose tasks begins before `after` is done.

    Parameters
    ----------
    array : Dask array
    after : sequence of Dask arrays without axes
    known : sequence of Dask arrays that `array` is made from and that are not made anew
    """
    from dask._task_spec import DataNode, Task, TaskRef, convert_legacy_graph
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    kept = {key for each in known for key in each.__dask_graph__()}
    nodes = convert_legacy_graph(dict(array.__dask_graph__()))
    token = tokenize(array.name, [each.name for each in after])
    names = {key: _renamed(key, token) for key in nodes if key not in kept}
    waiting = [TaskRef((each.name,)) for each in after]
    graph = {}
    for key, name in names.items():
        node = nodes[key].substitute(names, key=name)
        is_first = all(isinstance(nodes[other], DataNode) for other in nodes[key].dependencies)
        if isinstance(node, Task) and is_first:
            node = Task(name, _call_after, len(waiting), *waiting, node.func, *node.args, **node.kwargs)
        graph[name] = node
    name = _renamed(array.name, token)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[*after, *known])
    return dask_array().Array(layers, name, chunks=array.chunks, meta=array._meta)


def _renamed(key: Any, token: str) -> Any:
    return (f"{key[0]}-{token}", *key[1:]) if isinstance(key, tuple) else f"{key}-{token}"


def _call_after(n_waited_for: int, *arguments: Any, **named: Any) -> Any:
    function: Callable[..., Any] = arguments[n_waited_for]
    return function(*arguments[n_waited_for + 1 :], **named)
