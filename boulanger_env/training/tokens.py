"""Where every card of a batch of ``"cards"`` observations is, as the network reads it."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch as th
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.state import MAX_CELLS, N_COLUMNS, NO_CELL

# Only the 13 topmost cards of a column have a slot. No run is longer, and deeper cards cannot move yet.
N_DEEP = N_RANKS
N_SLOTS = N_COLUMNS * N_DEEP
_CELL_SLOTS = N_SLOTS + MAX_CELLS

# A card's place: its depth below the top of its column (the last: 7 or more), or one of these.
IN_CELL, IS_HOME, BURIED, N_PLACES = 8, 9, 10, 11
# Cards of its suit still to go home up to this one: 1 .. 8 or more.
N_WAITING = 8
N_TOKEN_FEATURES = N_PLACES + N_WAITING + 2
N_BOARD_FEATURES = MAX_CELLS + 1 + N_COLUMNS + 1


class Layout(NamedTuple):
    """Where the cards of a batch of boards are.

    Attributes:
        tokens: float ``(B, 52, 21)``: each card's place, how many of its suit go home up to it, whether it lies on
            its parent and whether its child lies on it.
        board: float ``(B, 14)``: how many cells are free and how many columns are empty, one-hot.
        slots: int64 ``(B, 104)``: the row of the card in each place of a column, for :func:`rearrange`: column by
            column, from the top.
        cards: int64 ``(B, 52)``: the inverse, the place of each card.
    """

    tokens: Tensor
    board: Tensor
    slots: Tensor
    cards: Tensor


def _rows(index: Tensor, n: int) -> Tensor:
    """Row numbers for :func:`rearrange`, from an index into each game's ``n`` rows; ``n`` or more means none."""
    first = n * th.arange(len(index), device=index.device)[:, None]
    return th.where(index < n, index + first, n * len(index))


def layout(observation: dict[str, Tensor]) -> Layout:
    """The layout of a batch of ``"cards"`` observations, of any number type."""
    tableau, cells = observation["tableau"].long(), observation["cells"].long()
    batch, device = len(tableau), tableau.device
    heights = (tableau > 0).sum(2)
    empty_columns = (heights == 0).sum(1)
    board = [F.one_hot((cells == 0).sum(1), MAX_CELLS + 1), F.one_hot(empty_columns, N_COLUMNS + 1)]

    row = heights[:, :, None] - 1 - th.arange(N_DEEP, device=device)
    columns = th.where(row >= 0, tableau.gather(2, row.clamp(min=0)), 0)
    in_slot = th.cat([columns.flatten(1), th.where(cells == NO_CELL, 0, cells)], 1)
    # Empty slots all write to card 0, which is then dropped.
    place = th.full((batch, N_CARDS + 1), _CELL_SLOTS, device=device)
    place.scatter_(1, in_slot, th.arange(_CELL_SLOTS, device=device).expand(batch, -1))
    place = place[:, 1:]

    ranks = th.arange(1, N_RANKS + 1, device=device)
    waiting = (ranks - observation["foundations"].long()[:, :, None]).flatten(1)
    in_column = place < N_SLOTS
    off_column = th.where(place < _CELL_SLOTS, IN_CELL, th.where(waiting > 0, BURIED, IS_HOME))
    where = th.where(in_column, (place % N_DEEP).clamp(max=IN_CELL - 1), off_column)

    by_suit = place.view(batch, N_SUITS, N_RANKS)
    card, parent = by_suit[..., :-1], by_suit[..., 1:]
    on_parent = (parent == card + 1) & (card < N_SLOTS - 1) & (parent % N_DEEP > 0)
    tokens = [
        where[..., None] == th.arange(N_PLACES, device=device),
        waiting.clamp(max=N_WAITING)[..., None] == th.arange(1, N_WAITING + 1, device=device),
        F.pad(on_parent, (0, 1)).view(batch, N_CARDS, 1),
        F.pad(on_parent, (1, 0)).view(batch, N_CARDS, 1),
    ]
    return Layout(
        tokens=th.cat(tokens, 2).float(),
        board=th.cat(board, 1).float(),
        slots=_rows(th.where(columns > 0, columns - 1, N_CARDS).flatten(1), N_CARDS),
        cards=_rows(place, N_SLOTS),
    )


def _take(values: Tensor, rows: Tensor) -> Tensor:
    width = values.shape[-1]
    return F.embedding(rows, th.cat([values.reshape(-1, width), values.new_zeros(1, width)]))


class _Rearrange(th.autograd.Function):
    """Permutes rows. No row is taken twice, so the gradient is the inverse, which is faster than PyTorch's own."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return _take(values, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _take(gradients[0], ctx.saved_tensors[0]), None, None


def rearrange(values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
    """Gather rows of ``values`` ``(B, n, D)`` into ``(B, m, D)``.

    ``rows`` ``(B, m)`` says which row goes where, ``back`` ``(B, n)`` is the inverse. Both number the rows of the whole
    batch; ``B * n`` and ``B * m`` mean no row, which gives zeros.
    """
    result: Tensor = _Rearrange.apply(values, rows, back)  # type: ignore[no-untyped-call]
    return result
