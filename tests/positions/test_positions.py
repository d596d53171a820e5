"""Arrays of positions: every function the same, row by row, as the oracle and as a game in an environment."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracle import NAMINGS, Oracle, Triple
from support.random_games import new_rows, random_move, random_start

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    Game,
    IllegalMoveError,
    InvalidBoardError,
    Move,
    positions,
)
from boulanger_env.deals import Starts
from boulanger_env.game.state import BOARD_SIZE

WALKS = 60  # of each number of cells
LONGEST = 60
OUTCOMES = {None: positions.PLAYING, "won": positions.WON, "stuck": positions.STUCK}


def walked(n_cells: int, walks: int = WALKS) -> list[Oracle]:
    """Positions of random games, won and stuck ones among them."""
    random = Random(n_cells)
    seen: list[Oracle] = []
    for _ in range(walks):
        oracle = random_start(random, "MS", n_cells)
        boldness = random.choice([0.0, 0.5, 1.0])
        for _ in range(random.randrange(LONGEST)):
            seen += [oracle.copy()] if random.random() < 0.2 else []
            legal = oracle.legal()
            if not legal:
                break
            oracle.push(random_move(random, legal, boldness))
        seen.append(oracle)
    return seen


@pytest.fixture(scope="module", params=[4, 2, 1])
def oracles(request: pytest.FixtureRequest) -> list[Oracle]:
    return walked(request.param)


def rows_of(oracles: list[Oracle]) -> NDArray[np.uint8]:
    """Their positions, computed apart from what is tested."""
    return np.array([new_rows(oracle)[0] for oracle in oracles], np.uint8).reshape(-1, BOARD_SIZE)


def as_games(oracles: list[Oracle]) -> list[Game]:
    return [
        Game.from_columns(oracle.columns, oracle.cells, oracle.home, len(oracle.cells)) for oracle in oracles
    ]


def all_home(oracle: Oracle) -> Oracle:
    """The position after all legal moves home."""
    after = oracle.copy()
    while home := [move for move in after.legal() if move[1] == 9]:
        after.push(home[-1])  # the kernel starts with the first: the order must not matter
    return after


def named(oracle: Oracle, actions: str, prune: bool = False) -> dict[int, Triple]:
    """The legal actions of a numbering, and the move that each stands for."""
    return NAMINGS[actions][0](oracle, oracle.pruned() if prune else oracle.legal())


def canonical(oracle: Oracle) -> object:
    return len(oracle.cells), oracle.key()


# -- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("actions", NAMINGS)
def test_masks(oracles: list[Oracle], actions: str, prune: bool) -> None:
    masks = positions.masks(rows_of(oracles), actions=actions, prune=prune)
    assert (masks.shape, masks.dtype) == ((len(oracles), NAMINGS[actions][1]), np.int8)
    assert masks.max() == 1
    for mask, oracle in zip(masks, oracles, strict=True):
        assert np.flatnonzero(mask).tolist() == sorted(named(oracle, actions, prune))


def test_outcomes(oracles: list[Oracle]) -> None:
    outcomes = positions.outcomes(rows_of(oracles))
    assert outcomes.dtype == np.int8
    assert outcomes.tolist() == [OUTCOMES[oracle.outcome] for oracle in oracles]
    assert set(outcomes.tolist()) >= {positions.PLAYING, positions.STUCK}


def test_keys(oracles: list[Oracle]) -> None:
    found = positions.keys(rows_of(oracles))
    assert (found.shape, found.dtype) == ((len(oracles),), np.uint64)
    classes = {canonical(oracle) for oracle in oracles}
    assert len(set(found.tolist())) == len(classes)
    random = Random(1)
    others = [
        Oracle(random.sample(oracle.columns, 8), random.sample(oracle.cells, len(oracle.cells)), oracle.home)
        for oracle in oracles
    ]
    assert (positions.keys(rows_of(others)) == found).all()


def test_observations_are_the_environments(oracles: list[Oracle]) -> None:
    rows = rows_of(oracles)
    features, cards = positions.observe(rows), positions.observe(rows, "cards")
    assert isinstance(features, np.ndarray)
    assert isinstance(cards, dict)
    for kind, seen in (("features", features), ("cards", cards)):
        assert (positions.from_observation(seen) == rows).all()
        env = BoulangerEnv(observation=kind)
        for i, (game, oracle) in enumerate(zip(as_games(oracles), oracles, strict=True)):
            if oracle.outcome is not None:
                continue
            shown, _ = env.reset(options={"game": game})
            if isinstance(shown, dict):
                assert all((cards[name][i] == part).all() for name, part in shown.items())
            else:
                assert (features[i] == shown).all()
            assert (positions.from_observation(shown) == rows[i : i + 1]).all()


@pytest.mark.parametrize("kind", ["features", "cards"])
@pytest.mark.parametrize("actions", NAMINGS)
def test_inputs_are_observations_and_masks(oracles: list[Oracle], kind: str, actions: str) -> None:
    rows = rows_of(oracles)
    for prune in (False, True):
        found = positions.inputs(rows, kind, actions=actions, prune=prune)
        expected = positions.observe(rows, kind), positions.masks(rows, actions=actions, prune=prune)
        np.testing.assert_equal(found, expected)


def test_what_is_returned_is_new() -> None:
    rows = positions.from_deals(["MS-C4-1"])
    before = rows.copy()
    for result in (
        positions.observe(rows, "cards")["tableau"],
        positions.auto_foundation(rows),
        positions.play(rows, [733]),
        positions.from_games(positions.to_games(rows)),
        positions.expand(rows).children,
    ):
        assert not np.shares_memory(result, rows)
        result[:] = 0
    assert (rows == before).all()


# -- from and to games ---------------------------------------------------------------------------------------------


def test_games(oracles: list[Oracle]) -> None:
    rows, games = rows_of(oracles), as_games(oracles)
    assert (positions.from_games(games) == rows).all()
    for back, game in zip(positions.to_games(rows), games, strict=True):
        assert back == game
        assert (back.score, back.moves, back.last_move, back.code) == (0, 0, None, None)
    played = positions.to_games(rows[:1])[0]
    if moves := played.legal_moves():
        played.push(moves[0])
    assert (positions.from_games(games) == rows).all()


def test_deals() -> None:
    codes = ["MS-C4-1", "BK1-C2-BOULANG", "MS-C1-617"]
    expected = positions.from_games([Game.from_code(code) for code in codes])
    assert (positions.from_deals(codes) == expected).all()
    assert positions.from_deals("c2-validation-100").shape == (100, positions.WIDTH)


# -- playing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auto_foundation", [False, True])
@pytest.mark.parametrize("actions", NAMINGS)
def test_play(oracles: list[Oracle], actions: str, auto_foundation: bool) -> None:
    random = Random(2)
    playing = [oracle for oracle in oracles if oracle.legal()]
    choices = [random.choice(list(named(oracle, actions).items())) for oracle in playing]
    rows = rows_of(playing)
    before = rows.copy()
    chosen = [action for action, _ in choices]
    found = positions.play(rows, chosen, actions=actions, auto_foundation=auto_foundation)
    assert (rows == before).all()
    after = [oracle.copy() for oracle in playing]
    for oracle, (_, move) in zip(after, choices, strict=True):
        oracle.push(move)
    assert (found == rows_of([all_home(oracle) for oracle in after] if auto_foundation else after)).all()


def test_auto_foundation(oracles: list[Oracle]) -> None:
    found = positions.auto_foundation(rows_of(oracles))
    assert (found == rows_of([all_home(oracle) for oracle in oracles])).all()


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("auto_foundation", [False, True])
@pytest.mark.parametrize("actions", NAMINGS)
def test_expand(oracles: list[Oracle], actions: str, auto_foundation: bool, prune: bool) -> None:
    rows = rows_of(oracles)
    found = positions.expand(rows, actions=actions, auto_foundation=auto_foundation, prune=prune)
    expected = []
    for i, oracle in enumerate(oracles):
        for action, move in sorted(named(oracle, actions, prune).items()):
            child = oracle.copy()
            child.push(move)
            expected.append((i, action, all_home(child) if auto_foundation else child))
    assert found.parents.tolist() == [i for i, _, _ in expected]
    assert found.actions.tolist() == [action for _, action, _ in expected]
    assert (found.children == rows_of([child for _, _, child in expected])).all()
    assert found.outcomes.tolist() == [OUTCOMES[child.outcome] for _, _, child in expected]
    assert [array.dtype for array in found] == [np.uint8, np.int64, np.int64, np.int8]


def test_positions_of_starts_and_back() -> None:
    rows = positions.from_deals(["MS-C4-1", "MS-C2-617"])
    starts = Starts(rows)
    assert (positions.keys(starts.positions) == positions.keys(rows)).all()
    assert (positions.play(starts.positions, [733, 733]) == positions.play(rows, [733, 733])).all()


def test_a_win_is_seen() -> None:
    oracle = Oracle([[13], *([] for _ in range(7))], [0] * 4, [12, 13, 13, 13])
    found = positions.expand(rows_of([oracle]))
    assert [found.outcomes[found.actions == Move(0, 9).id].tolist()] == [[positions.WON]]
    assert positions.expand(found.children[found.outcomes == positions.WON]).children.shape == (0, BOARD_SIZE)


def test_an_empty_array_is_accepted() -> None:
    none = np.zeros((0, positions.WIDTH), np.uint8)
    assert positions.masks(none).shape == (0, 780)
    assert [array.shape for array in positions.inputs(none)] == [(0, 2076), (0, 780)]  # type: ignore[union-attr]
    assert positions.keys(none).shape == positions.outcomes(none).shape == (0,)
    assert positions.play(none, []).shape == positions.auto_foundation(none).shape == none.shape
    assert positions.expand(none).children.shape == none.shape
    assert positions.to_games(none) == []
    assert positions.from_games([]).shape == none.shape
    for kind in ("features", "cards"):
        assert positions.from_observation(positions.observe(none, kind)).shape == none.shape


# -- what is refused -----------------------------------------------------------------------------------------------

DOORS: dict[str, Any] = {
    "masks": positions.masks,
    "outcomes": positions.outcomes,
    "keys": positions.keys,
    "observe": positions.observe,
    "observe cards": lambda rows: positions.observe(rows, "cards"),
    "inputs": positions.inputs,
    "inputs cards": lambda rows: positions.inputs(rows, "cards"),
    "to_games": positions.to_games,
    "play": lambda rows: positions.play(rows, np.full(len(rows), 733)),
    "auto_foundation": positions.auto_foundation,
    "expand": positions.expand,
}


def is_what_it_says(row: NDArray[np.uint8]) -> bool:
    """Whether a row is a position's, by ``Game.from_columns``, which checks its own way, and a naive index."""
    columns = [[card for card in row[19 * c : 19 * c + 19].tolist() if card] for c in range(8)]
    cells = row[152:156].tolist()
    n_cells = sum(card != 53 for card in cells)
    try:
        game = Game.from_columns(columns, cells[:n_cells], row[156:160].tolist(), n_cells)
    except BoulangerError:
        return False
    oracle = Oracle([list(column) for column in game.columns], list(game.cells), list(game.foundations))
    tops = [column[-1] if column else 0 for column in oracle.columns]
    derived = [*map(len, columns), *tops, *map(oracle.run_length, range(8))]
    return bool((new_rows(oracle)[0][:160] == row[:160]).all() and row[160:].tolist() == derived)


SOME = rows_of([oracle for n_cells in (4, 2, 1) for oracle in walked(n_cells, 12)])


@given(
    st.integers(0, len(SOME) - 1),
    st.lists(
        st.tuples(st.integers(0, BOARD_SIZE - 1), st.one_of(st.integers(0, 54), st.integers(0, 255))),
        max_size=4,
    ),
    st.lists(st.tuples(st.integers(0, 159), st.integers(0, 159)), max_size=2),
)
def test_a_row_is_taken_if_and_only_if_it_is_a_position(
    which: int, changes: list[tuple[int, int]], swaps: list[tuple[int, int]]
) -> None:
    row = SOME[which].copy()
    for place, value in changes:
        row[place] = value
    for i, j in swaps:
        row[[i, j]] = row[[j, i]]
    if is_what_it_says(row):
        assert positions.keys(row[None]).shape == (1,)
    else:
        with pytest.raises(InvalidBoardError, match=r"^position 0: "):
            positions.keys(row[None])


@pytest.mark.parametrize("door", DOORS)
def test_of_several_rows_the_wrong_one_is_named(door: str) -> None:
    rows = positions.from_deals(["MS-C4-1", "MS-C4-2", "MS-C4-3"])
    for place, words in ((0, r"position 1: .*(missing|doubled)"), (161, "position 1: from byte 160 on")):
        wrong = rows.copy()
        wrong[1, place] = 3
        with pytest.raises(InvalidBoardError, match=words):
            DOORS[door](wrong)
    wrong[1, 0] = 3
    with pytest.raises(InvalidBoardError, match=r"position 1: .*(missing|doubled)"):
        DOORS[door](wrong[:, :160])
    with pytest.raises(
        InvalidBoardError, match=r"shape \(3, 183\): one row per position is \(n, 184\), or .* \(n, 160\)"
    ):
        DOORS[door](rows[:, :183])
    with pytest.raises(InvalidBoardError, match=r"rows\[None\]"):
        positions.keys(rows[0])


@pytest.mark.parametrize("door", DOORS)
def test_the_same_numbers_in_other_memory_are_accepted(door: str) -> None:
    rows = positions.from_deals(["MS-C4-1", "MS-C4-2"])
    expected = DOORS[door](rows)
    read_only = rows.copy()
    read_only.flags.writeable = False
    np.testing.assert_equal(DOORS[door](read_only[:, :160]), expected)
    for other in (
        rows.astype(np.int64),
        np.asfortranarray(rows),
        read_only,
        np.repeat(rows, 2, axis=1)[:, ::2],
    ):
        np.testing.assert_equal(DOORS[door](other), expected)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ([733, 738], "position 1: 3h is not legal: .* is not next on its foundation"),
        ([733, 780], "action 780 does not exist"),
        ([-1, 733], "action -1 does not exist"),
        ([733.0, 733.0], "are not integers from 0 to 779"),
        ([True, False], "are not integers"),
        (["6f", "6f"], "are not integers"),
    ],
)
def test_actions_that_are_not_legal(chosen: Any, words: str) -> None:
    rows = positions.from_deals(["MS-C4-1", "MS-C4-2"])
    with pytest.raises(IllegalMoveError, match=words):
        positions.play(rows, chosen)


@pytest.mark.parametrize(
    ("actions", "action", "words"),
    [
        ("cards", 152 + 2, "position 1: 3S is not on top of its column"),
        ("cards", 48 + 5, "position 1: 6S cannot go to an empty column: there is none"),
        ("cards", 204, "action 204 does not exist: actions are numbered 0 to 203"),
        ("taps", 8, "position 1: "),
        ("taps", 12, "action 12 does not exist: actions are numbered 0 to 11"),
    ],
)
def test_actions_of_the_other_numberings_that_are_not_legal(actions: str, action: int, words: str) -> None:
    rows = positions.from_deals(["MS-C4-1", "MS-C4-1"])
    legal = int(positions.masks(rows, actions=actions)[0].argmax())
    with pytest.raises(IllegalMoveError, match=words):
        positions.play(rows, [legal, action], actions=actions)


@pytest.mark.parametrize("actions", ["card", None, 1, ["places"], np.array(["places", "cards"])])
def test_other_numberings(actions: Any) -> None:
    rows = positions.from_deals(["MS-C4-1"])
    for door in (
        positions.masks,
        positions.inputs,
        positions.expand,
        lambda rows, **kind: positions.play(rows, [733], **kind),
    ):
        with pytest.raises(BoulangerError, match="choose one of 'places', 'cards', 'taps'"):
            door(rows, actions=actions)  # type: ignore[operator]


@pytest.mark.parametrize("chosen", [733, [733], [[733, 733]], [733] * 3, []])
def test_one_action_a_position(chosen: Any) -> None:
    with pytest.raises(BoulangerError, match=r"actions of shape .* for 2 positions"):
        positions.play(positions.from_deals(["MS-C4-1", "MS-C4-2"]), chosen)


@pytest.mark.parametrize(
    "games", [None, 3, "MS-C4-1", [Game.from_code("MS-C4-1"), "MS-C4-1"], Game.from_code("MS-C4-1")]
)
def test_games_that_are_none(games: Any) -> None:
    with pytest.raises(BoulangerError, match="must be a"):
        positions.from_games(games)


def test_other_kinds_of_observation() -> None:
    rows = positions.from_deals(["MS-C4-1"])
    for kind in ("pixels", None, np.array(["cards", "features"])):
        with pytest.raises(BoulangerError, match="features, cards"):
            positions.observe(rows, kind)  # type: ignore[arg-type]
        with pytest.raises(BoulangerError, match="features, cards"):
            positions.inputs(rows, kind)  # type: ignore[arg-type]
