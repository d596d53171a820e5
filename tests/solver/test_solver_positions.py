"""The solver against a search too simple to be wrong, on positions that no deal may ever reach."""

from __future__ import annotations

from random import Random

import pytest
from support.plain_search import fewest_moves

from boulanger_env import Game
from boulanger_env.solver import SOLVED, UNSOLVABLE, shortest, solve, winning_moves
from boulanger_env.solver.solving import Budget, _improve, _room


def scattered(random: Random, n_cells: int) -> Game:
    """The high cards in no order on some of the columns and in cells."""
    home = [random.choice([9, 10, 11, 12, 13]) for _ in range(4)]
    cards = [suit * 13 + rank for suit in range(4) for rank in range(home[suit] + 1, 14)]
    random.shuffle(cards)
    cells = [cards.pop() if cards and random.random() < 0.7 else 0 for _ in range(n_cells)]
    used = random.sample(range(8), random.randint(3, 8))
    columns: list[list[int]] = [[] for _ in range(8)]
    for card in cards:
        columns[random.choice(used)].append(card)
    return Game.from_columns(columns, cells, home, n_cells)


def crowded(random: Random, n_cells: int) -> Game:
    """Columns of much the same height and no cell free: room is scarce."""
    home = [random.randint(1, 9 - n_cells) for _ in range(4)]
    cards = [suit * 13 + rank for suit in range(4) for rank in range(home[suit] + 1, 14)]
    random.shuffle(cards)
    cells = [cards.pop() for _ in range(n_cells)]
    return Game.from_columns([cards[i::8] for i in range(8)], cells, home, n_cells)


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_verdicts_and_shortest_lengths_are_those_of_a_plain_search(n_cells: int) -> None:
    random = Random(n_cells)
    counted = {SOLVED: 0, UNSOLVABLE: 0}
    for number in range(90):
        game = (crowded if number % 3 else scattered)(random, n_cells)
        fewest = fewest_moves(game)
        if fewest is None:
            continue
        solution = solve(game)
        counted[solution.status] += 1
        if fewest < 0:
            assert solution.status is UNSOLVABLE, game
            assert not any(winning_moves(game).values())
            continue
        assert solution.status is SOLVED, game
        best = solve(game, quality="shortest")
        assert best.is_shortest
        assert len(best.moves) == fewest, game
    print(counted)
    # With 4 cells so few cards can nearly always be won; its proofs are compared with fc-solve's.
    assert counted[SOLVED] > 8
    assert counted[UNSOLVABLE] > 8


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_what_is_unsolvable_has_no_win_among_all_moves_of_the_game(n_cells: int) -> None:
    """A* forces only foundation moves: none of the steps and digs on which the verdict rests."""
    random = Random(20 + n_cells)
    unsolvable = 0
    for _ in range(400):
        game = crowded(random, n_cells)
        if solve(game).status is UNSOLVABLE:
            unsolvable += 1
            budget = Budget(None, None, 1 << 28)
            assert _improve(_room.start, game, 1, 3, 800, 1 << 20, budget)[1] == shortest.NONE_LEFT, game
    assert unsolvable > 20
