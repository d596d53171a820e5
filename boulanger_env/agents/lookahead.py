"""Best-first search from a position with a fixed number of nodes, compiled.

A node is a position in which no card can go home: foundation moves are always safe, so they are played at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import apply, cards_home, copy_row, legal_moves
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.state import (
    BOARD_SIZE,
    Array,
    Board,
)
from boulanger_env.game.taps import foundation_action

from .base import NO_ACTION
from .evaluation import evaluate_position
from .positions import position_hash

WON, OPEN, LOST = 1, 0, -1

CHILDREN = 16  # room for new positions a node; most have fewer, and a search that runs out of room ends there
DEPTH_COST = 26  # what each move costs against the value of the position it leads to


class Tree(NamedTuple):
    """What a search writes to; it keeps nothing from one search to the next.

    ``boards`` uint8 ``(m, BOARD_SIZE)``, with each node's ``parents``, ``actions`` and ``depths``, int64 ``(m,)``, and
    ``stuck``, bool ``(m,)``; a heap of the nodes still to be looked at (``heap_values`` and ``heap_nodes``, int64);
    ``seen`` uint64, a hash set with a power of two of places; ``mask`` int8 ``(780,)``; ``path`` int64 ``(m,)``.
    """

    boards: NDArray[np.uint8]
    parents: NDArray[np.int64]
    actions: NDArray[np.int64]
    depths: NDArray[np.int64]
    stuck: NDArray[np.bool_]
    heap_values: NDArray[np.int64]
    heap_nodes: NDArray[np.int64]
    seen: NDArray[np.uint64]
    mask: NDArray[np.int8]
    path: NDArray[np.int64]


def new_tree(nodes: int, visited: int) -> Tree:
    """Room for a search of ``nodes`` nodes that avoids up to ``visited`` positions."""
    m = nodes * CHILDREN + 64
    places = 1 << (2 * (m + visited)).bit_length()
    return Tree(
        boards=np.zeros((m, BOARD_SIZE), np.uint8),
        parents=np.zeros(m, np.int64),
        actions=np.zeros(m, np.int64),
        depths=np.zeros(m, np.int64),
        stuck=np.zeros(m, np.bool_),
        heap_values=np.zeros(m, np.int64),
        heap_nodes=np.zeros(m, np.int64),
        seen=np.zeros(places, np.uint64),
        mask=np.zeros(N_ACTIONS, np.int8),
        path=np.zeros(m, np.int64),
    )


@kernel
def play(board: Board, action: int) -> None:
    """Play an action and all the foundation moves that are legal then."""
    while action != NO_ACTION:
        apply(board, action)
        action = foundation_action(board)


@kernel
def search(board: Board, legal: Array, avoid: Array, n_avoid: int, nodes: int, tree: Any) -> tuple[int, int]:
    """Look for a win, best value first.

    Args:
        board: a position with no foundation move.
        legal: int8 ``(780,)``, the moves to look at from there.
        avoid: uint64, of which the first ``n_avoid`` are hashes of positions not to be entered.
        nodes: positions to look at, that is, to play all moves of.
        tree: a ``Tree``, overwritten. ``path[:length]`` are the moves, foundation moves left out.

    Returns:
        A status and a length: ``WON`` with the path to the win; ``OPEN`` with the path to the best position not
        looked at yet; ``LOST`` when there is none left: the path to the most cards home, a stuck position
        if there is one with as many. A length of 0: no move leads to a position that is not to be avoided.
    """
    seen, heap_values, heap_nodes = tree.seen, tree.heap_values, tree.heap_nodes
    seen[:] = 0
    for i in range(n_avoid):
        _add(seen, avoid[i])
    _add(seen, position_hash(board))
    copy_row(board, tree.boards[0])
    tree.depths[0] = 0
    count, waiting, node = 1, 0, 0
    copy_row(legal, tree.mask)
    for _ in range(nodes):
        tree.stuck[node] = True
        for action in range(N_ACTIONS):
            if not tree.mask[action]:
                continue
            tree.stuck[node] = False
            if count == len(tree.boards):
                break
            child = tree.boards[count]
            copy_row(tree.boards[node], child)
            play(child, action)
            if not _add(seen, position_hash(child)):
                continue
            tree.parents[count] = node
            tree.actions[count] = action
            tree.depths[count] = tree.depths[node] + 1
            if cards_home(child) == 52:
                return WON, _trace(tree, count)
            value = evaluate_position(child) - DEPTH_COST * tree.depths[count]
            _push(heap_values, heap_nodes, waiting, value, count)
            waiting += 1
            count += 1
        if waiting == 0:
            return LOST, _trace(tree, _most_home(tree, count))
        node = _pop(heap_values, heap_nodes, waiting)
        waiting -= 1
        legal_moves(tree.boards[node], tree.mask, True)
    return OPEN, _trace(tree, node)


@kernel
def _most_home(tree: Any, count: int) -> int:
    """The node with the most cards home, stuck ones first, then the nearest; 0 (the root) if there is no other."""
    best, best_rank = 0, -1
    for node in range(1, count):
        rank = cards_home(tree.boards[node]) * 2 + tree.stuck[node]
        if rank > best_rank or (rank == best_rank and tree.depths[node] < tree.depths[best]):
            best, best_rank = node, rank
    return best


@kernel
def _trace(tree: Any, node: int) -> int:
    """Write the moves from the root to a node into ``path``; returns how many they are."""
    length = i64(tree.depths[node])
    for i in range(length - 1, -1, -1):
        tree.path[i] = tree.actions[node]
        node = i64(tree.parents[node])
    return length


@kernel
def _add(seen: Array, key: Any) -> bool:
    """Put a hash into the set; False if it was there."""
    last = np.uint64(len(seen) - 1)
    # 0 marks a free place; the won position, whose hash is 0, needs none.
    place = key & last
    while seen[place] != 0:
        if seen[place] == key:
            return False
        place = (place + np.uint64(1)) & last
    seen[place] = key
    return True


@kernel
def _push(values: Array, nodes: Array, size: int, value: int, node: int) -> None:
    """Put a node on the heap, whose highest value is first."""
    i = size
    while i > 0 and values[(i - 1) >> 1] < value:
        values[i] = values[(i - 1) >> 1]
        nodes[i] = nodes[(i - 1) >> 1]
        i = (i - 1) >> 1
    values[i] = value
    nodes[i] = node


@kernel
def _pop(values: Array, nodes: Array, size: int) -> int:
    """Take the node with the highest value off the heap."""
    first = i64(nodes[0])
    last = size - 1
    value, node = values[last], nodes[last]
    i = 0
    while 2 * i + 1 < last:
        child = 2 * i + 1
        if child + 1 < last and values[child + 1] > values[child]:
            child += 1
        if values[child] <= value:
            break
        values[i] = values[child]
        nodes[i] = nodes[child]
        i = child
    values[i] = value
    nodes[i] = node
    return first
