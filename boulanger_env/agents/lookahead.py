"""Best-first search from a position with a fixed number of nodes, compiled.

A node is a position in which no card can go home: foundation moves are always safe, so they are played at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game.hashing import position_hash
from boulanger_env.game.jit import i64, kernel
from boulanger_env.game.kernels import apply, cards_home, copy_row, legal_moves
from boulanger_env.game.moves import N_ACTIONS
from boulanger_env.game.state import BOARD_SIZE, Array, Board
from boulanger_env.game.taps import foundation_action

from .base import NO_ACTION
from .position_value import evaluate_position

WON, OPEN, LOST = 1, 0, -1

CHILDREN = 16  # new positions per node that there is room for; most have fewer, and a full search stops
DEPTH_COST = 26  # deducted from a position's value for each move that leads to it


class Tree(NamedTuple):
    """A search's working memory; nothing is kept from one search to the next.

    ``boards`` uint8 ``(m, BOARD_SIZE)``, with each node's ``parents``, ``actions`` and ``depths``, int64 ``(m,)``, and
    ``stuck``, bool ``(m,)``; a heap of the open nodes (``heap_values`` and ``heap_nodes``, int64);
    ``seen`` uint64, a hash set whose size is a power of two; ``mask`` int8 ``(780,)``; ``path`` int64 ``(m,)``.
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
    """Play an action and then all legal foundation moves."""
    while action != NO_ACTION:
        apply(board, action)
        action = foundation_action(board)


@kernel
def search(board: Board, legal: Array, avoid: Array, n_avoid: int, nodes: int, tree: Any) -> tuple[int, int]:
    """Search for a win, best value first.

    Args:
        board: a position with no foundation move.
        legal: int8 ``(780,)``, the moves to try from there.
        avoid: uint64, of which the first ``n_avoid`` are hashes of positions not to enter.
        nodes: positions to expand.
        tree: a ``Tree``, overwritten. ``path[:length]`` are the moves, without foundation moves.

    Returns:
        A status and a length: ``WON`` with the path to the win; ``OPEN`` with the path to the best open position;
        ``LOST`` when no position is open: the path to the position with the most cards home, a stuck one if
        several tie. Length 0: every move leads to a position to avoid.
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
    """Write the moves from the root to a node into ``path``; return their number."""
    length = i64(tree.depths[node])
    for i in range(length - 1, -1, -1):
        tree.path[i] = tree.actions[node]
        node = i64(tree.parents[node])
    return length


@kernel
def _add(seen: Array, key: Any) -> bool:
    """Add a hash to the set; False if it was already there."""
    last = np.uint64(len(seen) - 1)
    # 0 marks a free place; that a position's hash is 0 is as unlikely as that two positions share one.
    place = key & last
    while seen[place] != 0:
        if seen[place] == key:
            return False
        place = (place + np.uint64(1)) & last
    seen[place] = key
    return True


@kernel
def _push(values: Array, nodes: Array, size: int, value: int, node: int) -> None:
    """Push a node onto the max-heap."""
    i = size
    while i > 0 and values[(i - 1) >> 1] < value:
        values[i] = values[(i - 1) >> 1]
        nodes[i] = nodes[(i - 1) >> 1]
        i = (i - 1) >> 1
    values[i] = value
    nodes[i] = node


@kernel
def _pop(values: Array, nodes: Array, size: int) -> int:
    """Pop the node with the highest value."""
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
