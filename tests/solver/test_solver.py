"""The solver on deals whose verdicts are known, its limits and its calls."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from random import Random

import numpy as np
import pytest
from oracle import Oracle
from support.paths import DATA

from boulanger_env import Game, positions, solver
from boulanger_env.deals import DealSet
from boulanger_env.game import BoulangerError
from boulanger_env.solver import LIMIT, SOLVED, UNSOLVABLE, Solution, solve, solve_many, winning_moves


@cache
def solvable(n_cells: int) -> frozenset[int]:
    """The Microsoft deals up to 8000 that independent programs have solved; the others they proved unsolvable."""
    text = (DATA / f"ms_c{n_cells}_solvable_1-8000.txt").read_text()
    return frozenset(int(line) for line in text.split() if line.isdigit())


def assert_wins(game: Game, solution: Solution) -> None:
    played = game.copy()
    for move in solution.moves:
        played.push(move)
    assert played.is_won


@cache
def long_search() -> Game:
    """The deal among the first hundred that takes the solver most."""
    return max((Game.from_code(f"MS-C4-{n}") for n in range(1, 101)), key=lambda game: solve(game).nodes)


@pytest.mark.parametrize(("n_cells", "known"), [(4, 6074), (2, 391), (1, 18)])
def test_every_verdict_of_the_complete_lists(n_cells: int, known: int) -> None:
    assert len(solvable(n_cells)) == known
    found = set()
    for number in range(1, 8001):
        game = Game.from_code(f"MS-C{n_cells}-{number}")
        solution = solve(game)
        assert solution.status is not LIMIT
        if solution.status is SOLVED:
            found.add(number)
            assert_wins(game, solution)
        else:
            assert solution.moves == ()
    assert found == solvable(n_cells)


def test_short_and_shortest_solutions_have_the_known_mean_lengths() -> None:
    """79.5 is the mean of proven shortest solutions of these deals that another program has found."""
    short, shortest = [], []
    for number in sorted(solvable(4)):
        if number > 60:
            break
        game = Game.from_code(f"MS-C4-{number}")
        good, best = solve(game, quality="short"), solve(game, quality="shortest")
        assert best.is_shortest
        assert_wins(game, good)
        assert_wins(game, best)
        assert len(best.moves) <= len(good.moves) <= len(solve(game).moves)
        short.append(len(good.moves))
        shortest.append(len(best.moves))
    assert len(short) == 49
    assert np.mean(short) < np.mean(shortest) * 1.02


@pytest.mark.slow
def test_the_lengths_of_the_first_200_deals() -> None:
    lengths = {"short": [], "shortest": []}
    for number in sorted(n for n in solvable(4) if n <= 200):
        for quality, found in lengths.items():
            solution = solve(Game.from_code(f"MS-C4-{number}"), quality=quality)
            assert solution.is_shortest or quality == "short"
            found.append(len(solution.moves))
    assert len(lengths["short"]) == 150
    assert np.mean(lengths["short"]) <= 82
    assert round(float(np.mean(lengths["shortest"])), 1) == 79.5


@pytest.mark.slow
@pytest.mark.parametrize(("n_cells", "share"), [(4, 24040), (2, 1424), (1, 68)])
def test_how_many_of_32000_deals_can_be_won(n_cells: int, share: int) -> None:
    codes = (f"MS-C{n_cells}-{number}" for number in range(1, 32001))
    assert sum(solution.status is SOLVED for solution in solve_many(codes)) == share


def test_solutions_replay_in_the_oracle() -> None:
    for n_cells in (4, 2, 1):
        for number in sorted(solvable(n_cells))[:6]:
            code = f"MS-C{n_cells}-{number}"
            for quality in ("any", "short"):
                oracle = Oracle.from_code(code)
                for move in solve(Game.from_code(code), quality=quality).moves:
                    assert tuple(move) in oracle.legal()
                    oracle.push(tuple(move))
                assert oracle.outcome == "won"


# -- positions that are not deals -----------------------------------------------------------------------------------


def test_a_won_game_is_solved_by_nothing() -> None:
    game = Game.from_columns([()] * 8, foundations=(13, 13, 13, 13))
    for quality in ("any", "short", "shortest"):
        solution = solve(game, quality=quality)
        assert solution.status is SOLVED
        assert solution.moves == ()
        assert solution.is_shortest == (quality == "shortest")
    assert winning_moves(game) == {}


def test_a_game_that_only_has_to_be_put_away() -> None:
    game = Game.from_columns([(13, 12), (26,), (), (), (), (), (), ()], (39, 52), (11, 12, 12, 12))
    solution = solve(game, quality="shortest")
    assert solution.status is SOLVED
    assert len(solution.moves) == 5
    assert_wins(game, solution)


def test_stuck_games_are_unsolvable() -> None:
    random = Random(3)
    stuck = 0
    for number in range(1, 40):
        game = Game.from_code(f"MS-C{random.choice([4, 4, 2, 1])}-{number}")
        while game.outcome is None:
            game.push(random.choice(game.legal_moves()))
        if game.is_stuck:
            stuck += 1
            solution = solve(game)
            assert solution.status is UNSOLVABLE
            assert winning_moves(game) == {}
    assert stuck > 30


def test_the_game_is_not_changed_and_is_kept_with_the_solution() -> None:
    game = Game.from_code("MS-C4-1")
    solution = solve(game)
    assert game == Game.from_code("MS-C4-1")
    assert game.moves == 0
    assert solution.game == game
    assert solution.game is not game
    texts = solution.notation()
    for text in texts:
        game.push(game.parse_move(text))
    assert game.is_won


def test_where_columns_and_cells_lie_makes_no_difference() -> None:
    random = Random(5)
    for number in range(1, 30):
        game = Game.from_code(f"MS-C4-{number}")
        for _ in range(random.randrange(8)):
            if moves := game.legal_moves():
                game.push(random.choice(moves))
        columns, cells = list(game.columns), list(game.cells)
        random.shuffle(columns)
        random.shuffle(cells)
        other = Game.from_columns(columns, cells, game.foundations)
        assert solve(other).status is solve(game).status


# -- limits -------------------------------------------------------------------------------------------------------


def test_node_limits_are_kept_and_more_nodes_find_what_fewer_did_not() -> None:
    game = long_search()
    needed = solve(game).nodes
    assert needed > 2000
    for limit in (1, 50, needed - 1):
        solution = solve(game, node_limit=limit)
        assert solution == Solution(LIMIT, (), limit)
    assert solve(game, node_limit=needed) == solve(game)


def test_a_limit_after_a_win_leaves_the_best_solution_so_far() -> None:
    game = Game.from_code("MS-C4-5")
    first = solve(game)
    solution = solve(game, node_limit=first.nodes + 10, quality="shortest")
    assert solution.status is SOLVED
    assert solution.moves == first.moves
    assert not solution.is_shortest


def test_time_and_memory_limits() -> None:
    game = long_search()
    assert solve(game, time_limit=1e-9) == Solution(LIMIT, (), 0)
    assert solve(game, memory_limit=1).status is LIMIT
    best = solve(Game.from_code("MS-C4-5"), quality="shortest", memory_limit=1)
    assert best.status is SOLVED
    assert not best.is_shortest
    with_time = solve(Game.from_code("MS-C4-5"), quality="short", time_limit=60)
    assert with_time.is_shortest


def test_limits_may_be_numbers_of_numpy() -> None:
    game = Game.from_code("MS-C4-1")
    limits = {"node_limit": np.int64(50), "time_limit": np.float32(60), "memory_limit": np.int32(1 << 24)}
    assert solve(game, **limits) == Solution(LIMIT, (), 50)
    assert list(solve_many([game], np.int64(1), **limits)) == [solve(game, **limits)]


def test_what_was_not_looked_for_is_not_said_to_be_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """No solution of fewer than 50 moves proves nothing about one of 105."""
    monkeypatch.setattr(sys.modules["boulanger_env.solver.solving"], "_MOST_MOVES", 50)
    solution = solve(Game.from_code("MS-C4-1"), quality="shortest")
    assert len(solution.moves) == 105
    assert not solution.is_shortest


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"node_limit": 0}, "node_limit is 0; it must be a whole number of at least 1"),
        ({"node_limit": 1.5}, "node_limit is 1.5"),
        ({"node_limit": True}, "node_limit is True"),
        ({"time_limit": -1}, "time_limit is -1; it must be a number of seconds above 0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"time_limit": "1"}, "time_limit is '1'"),
        ({"memory_limit": 0}, "memory_limit is 0"),
        ({"node_limit": np.int64(-3)}, "node_limit is np.int64\\(-3\\)"),
        ({"quality": "best"}, "quality 'best' is unknown; it must be one of any, short, shortest"),
        ({"quality": ["any"]}, "quality \\['any'\\] is unknown"),
    ],
)
def test_bad_arguments(limits: dict[str, object], message: str) -> None:
    with pytest.raises(BoulangerError, match=message):
        solve(Game.from_code("MS-C4-1"), **limits)
    with pytest.raises(BoulangerError, match=message):
        solve_many(["MS-C4-1"], **limits)


def test_what_is_not_a_game_is_rejected() -> None:
    with pytest.raises(BoulangerError, match="solve takes a Game, such as"):
        solve("MS-C4-1")  # type: ignore[arg-type]
    with pytest.raises(BoulangerError, match="winning_moves takes a Game"):
        winning_moves("MS-C4-1")  # type: ignore[arg-type]
    with pytest.raises(BoulangerError, match="games are a list"):
        solve_many("MS-C4-1")
    with pytest.raises(BoulangerError, match="games are a list"):
        solve_many(None)  # type: ignore[arg-type]
    with pytest.raises(BoulangerError, match="workers is 0"):
        solve_many(["MS-C4-1"], workers=0)
    with pytest.raises(BoulangerError, match="'MS-C9-1'"):
        list(solve_many(["MS-C4-1", "MS-C9-1"], workers=1))


# -- many games, and single moves -----------------------------------------------------------------------------------


def test_processes_change_nothing_but_the_time() -> None:
    codes = [f"MS-C{n}-{number}" for n in (4, 2, 1) for number in range(1, 60)]
    seen: list[int] = []
    alone = list(solve_many(codes, workers=1, progress=seen.append))
    assert seen == list(range(1, len(codes) + 1))
    assert list(solve_many(map(Game.from_code, codes), workers=2)) == alone
    assert list(solve_many(codes, workers=2, node_limit=5)) == [
        solve(Game.from_code(code), node_limit=5) for code in codes
    ]


class Deadly:
    """What ends the process that it is sent to."""

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return os._exit, (1,)


def test_a_killed_process_is_reported() -> None:
    games = iter(["MS-C4-1", Deadly()])
    with pytest.raises(BoulangerError, match="one of 2 processes was ended from outside"):
        list(solve_many(games, workers=2))  # type: ignore[arg-type]


def test_threads_solve_at_the_same_time() -> None:
    codes = [f"MS-C4-{number}" for number in range(1, 40)]
    alone = [solve(Game.from_code(code)) for code in codes]
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(lambda: [solve(Game.from_code(code)) for code in codes]) for _ in range(3)]
    assert all(run.result() == alone for run in runs)


def test_winning_moves_are_those_after_which_the_game_is_solved() -> None:
    random = Random(11)
    moves_seen, lost = 0, 0
    for number in range(1, 60):
        game = Game.from_code(f"MS-C{random.choice([4, 4, 2])}-{number}")
        path = solve(game).moves
        for move in path[: random.randrange(60)]:
            game.push(move)
        verdicts = winning_moves(game)
        assert list(verdicts) == game.legal_moves()
        for move, wins in verdicts.items():
            after = game.copy()
            after.push(move)
            assert (solve(after).status is SOLVED) is wins
            moves_seen += 1
            lost += not wins
        assert any(verdicts.values()) == (solve(game).status is SOLVED)
    assert moves_seen > 300
    assert 30 < lost < moves_seen - 30


def test_winning_moves_within_a_limit_never_guess() -> None:
    game = long_search()
    exact = winning_moves(game)
    limited = winning_moves(game, node_limit=20)
    assert None in limited.values()
    assert all(limited[move] in (None, exact[move]) for move in exact)


def test_verdicts_in_bulk_are_those_of_single_games() -> None:
    codes = [f"MS-C{n}-{number}" for n in (4, 2, 1) for number in range(1, 120)]
    can_be_won, nodes = solver.verdicts(*DealSet("these", codes).decks())
    alone = [solve(Game.from_code(code)) for code in codes]
    assert can_be_won.tolist() == [solution.status is SOLVED for solution in alone]
    assert nodes.tolist() == [solution.nodes for solution in alone]
    none, no_nodes = solver.verdicts(np.zeros((0, 52), np.uint8), 4)
    assert none.shape == no_nodes.shape == (0,)
    decks, cells = DealSet("these", codes[:2]).decks()
    with pytest.raises(BoulangerError, match="each once"):
        solver.verdicts(decks + 1, cells)
    with pytest.raises(BoulangerError, match="n_cells is 3"):
        solver.verdicts(decks, 3)
    with pytest.raises(BoulangerError, match="n_cells is None"):
        solver.verdicts(decks)


def test_verdicts_of_positions_are_those_of_games() -> None:
    random = Random(3)
    games = []
    for number in range(1, 200):
        game = Game.from_code(f"MS-C{random.choice([4, 4, 2, 1])}-{number}")
        for _ in range(random.randrange(8)):
            if moves := game.legal_moves():
                game.push(random.choice(moves))
        games.append(game)
    rows = positions.from_games(games)
    can_be_won, nodes = solver.verdicts(rows)
    alone = [solve(game) for game in games]
    assert can_be_won.tolist() == [solution.status is SOLVED for solution in alone]
    assert nodes.tolist() == [solution.nodes for solution in alone]
    assert 20 < can_be_won.sum() < 180
    assert (rows == positions.from_games(games)).all()
    with pytest.raises(BoulangerError, match="n_cells is 4: positions have"):
        solver.verdicts(rows, 4)
    rows[7, 0] = 0
    with pytest.raises(BoulangerError, match="position 7: "):
        solver.verdicts(rows)


def test_importing_the_solver_compiles_nothing() -> None:
    script = (
        "from numba.core import event\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    import boulanger_env.solver\n"
        "assert not recorder.buffer, recorder.buffer\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "import boulanger_env.solver.search as search\n"
        "assert isinstance(search.search_on, Dispatcher) and not search.search_on.signatures\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_status_is_text_as_well() -> None:
    assert solver.SOLVED == "solved"
    assert f"{solver.UNSOLVABLE}" == "unsolvable"
