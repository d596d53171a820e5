"""The solver against fc-solve's complete search, on random deals and in the middle of games."""

from __future__ import annotations

import re
import shutil
import subprocess
from random import Random

import pytest
from oracle import code_of

from boulanger_env import Game
from boulanger_env.solver import LIMIT, SOLVED, UNSOLVABLE, Status, solve, winning_moves

FC_SOLVE = shutil.which("fc-solve")
MOST = 150_000  # positions that it may search
pytestmark = pytest.mark.skipif(FC_SOLVE is None, reason="fc-solve (freecell-solver-bin) is not installed")


def peer_verdict(game: Game) -> Status:
    """What fc-solve says, with single-card moves only, so that its "could not" is a proof."""
    assert FC_SOLVE is not None
    # The number of cells must follow the game, which sets it.
    flags = ["-g", "bakers_game", "--freecells-num", str(game.n_cells), "-to", "01ABCDE"]
    done = subprocess.run(
        [FC_SOLVE, *flags, "-mi", str(MOST)], input=str(game), capture_output=True, text=True, timeout=120
    )
    if "This game is solveable." in done.stdout:
        return SOLVED
    assert "I could not solve this game." in done.stdout, (done.stdout, done.stderr)
    # It says the same when it gives up.
    checked = re.search(r"states checked is (\d+)", done.stdout)
    assert checked is not None
    return LIMIT if int(checked[1]) >= MOST else UNSOLVABLE


def agree(game: Game) -> Status:
    verdict = peer_verdict(game)
    if verdict is not LIMIT:
        assert solve(game).status is verdict, (
            f"{game.code} after {game.moves} moves, {game.n_cells} cells\n{game}"
        )
    return verdict


@pytest.mark.parametrize(("n_cells", "deals"), [(4, 150), (2, 120), (1, 60)])
def test_random_deals(n_cells: int, deals: int) -> None:
    random = Random(n_cells)
    codes = [code_of("BK1", n_cells, random.randrange(2**35)) for _ in range(deals)]
    verdicts = [agree(Game.from_code(code)) for code in codes]
    assert verdicts.count(UNSOLVABLE) > 20
    assert verdicts.count(LIMIT) < 8
    assert n_cells < 4 or verdicts.count(SOLVED) > 80


@pytest.mark.parametrize(("n_cells", "games"), [(4, 150), (2, 120), (1, 60)])
def test_positions_within_games(n_cells: int, games: int) -> None:
    """Some way along a win or anywhere, then some moves at random: boards with full cells and built columns."""
    random = Random(10 + n_cells)
    verdicts = []
    while len(verdicts) < games:
        game = Game.from_code(code_of("MS", n_cells, random.randrange(1, 8001)))
        path = solve(game).moves
        for move in path[: random.randrange(70)]:
            game.push(move)
        for _ in range(random.randrange(10)):
            if game.outcome is None:
                game.push(random.choice(game.legal_moves()))
        if game.outcome is None:
            verdicts.append(agree(game))
    assert verdicts.count(UNSOLVABLE) > 20
    assert verdicts.count(LIMIT) < 8
    assert n_cells < 4 or verdicts.count(SOLVED) > 20


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_moves_that_keep_the_win(n_cells: int) -> None:
    """Every legal move of positions that can still be won: some keep the win there, and others lose it."""
    random = Random(20 + n_cells)
    kept = lost = 0
    while min(kept, lost) < 12:
        game = Game.from_code(code_of("MS", n_cells, random.randrange(1, 8001)))
        for move in solve(game).moves[: random.randrange(25)]:
            game.push(move)
        verdicts = winning_moves(game)
        if len(set(verdicts.values())) < 2:
            continue
        for move, wins in verdicts.items():
            after = game.copy()
            after.push(move)
            verdict = peer_verdict(after)
            assert verdict in (LIMIT, SOLVED if wins else UNSOLVABLE), f"{move} in\n{game}"
            kept += wins is True
            lost += wins is False
