"""``Starts``: what they are made of, how they are weighted, and their file."""

from __future__ import annotations

import copy
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle import Oracle
from support.example_starts import example_games, example_starts, oracle_of
from support.random_games import peer_games

from boulanger_env import BoulangerEnv, BoulangerError, DealSet, Game, InvalidBoardError
from boulanger_env.deals import Starts
from boulanger_env.envs import board_from_observation
from boulanger_env.game import Move

GAMES = [game for game, _ in example_games()[:5]]
# Its last moves all go home: the one before them is the last decision.
ENDING = """Foundations: H-Q C-K D-K S-Q
Freecells: KS - - -
: KH
:
:
:
:
:
:
:
"""


def rows_of(games: list[Game]) -> np.ndarray:
    env = BoulangerEnv(observation="cards")
    return np.array([board_from_observation(env.reset(options={"game": game})[0]) for game in games])


# -- making them ------------------------------------------------------------------------------------------------


def test_from_games_boards_and_arrays() -> None:
    played = GAMES[1].copy()
    played.push(played.legal_moves()[0])
    played.undo()
    rows = rows_of(GAMES)
    for given in (
        GAMES,
        iter([GAMES[0], played, *GAMES[2:]]),
        [str(game) for game in GAMES],
        rows,
        rows[:, :160],
        rows[:, :160].astype(np.int64),
        np.asfortranarray(rows),
    ):
        starts = Starts(given, left=[5, 0, 5, 2, 3])
        assert [starts.game(i) for i in range(5)] == GAMES
        assert starts.positions.tolist() == rows[:, :160].tolist()
        assert (len(starts), starts.n_groups, starts.left.tolist()) == (5, 6, [5, 0, 5, 2, 3])
        assert (starts.left.dtype, starts.positions.dtype) == (np.int32, np.uint8)
        assert starts.weights.tolist() == [1.0] * 6
        assert (starts.game(1).moves, starts.game(1).score, starts.game(1).code) == (0, 0, None)
    assert repr(starts) == "Starts(5 positions in 4 groups)"
    assert Starts(GAMES).left.tolist() == [0] * 5


def test_boards_with_fewer_cells() -> None:
    game = Game.from_code("MS-C2-1")
    assert Starts([str(game)], n_cells=2).game(0) == game


def test_what_is_given_is_copied_and_what_is_shown_cannot_be_changed() -> None:
    rows, left, weights = rows_of(GAMES), np.arange(5, dtype=np.int32), np.ones(5)
    starts = Starts(rows, left, weights=weights)
    rows[:], left[:], weights[:] = 0, 0, 0
    assert [starts.game(i) for i in range(5)] == GAMES
    assert starts.weights.tolist() == [1.0] * 5
    for array in (starts.positions, starts.left, starts.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    starts.game(0).push(starts.game(0).legal_moves()[0])
    assert starts.game(0) == GAMES[0]


def missing_card() -> np.ndarray:
    rows = rows_of(GAMES)
    rows[2, np.flatnonzero(rows[2, :152])[-1]] = 0
    return rows


def won() -> np.ndarray:
    rows = rows_of(GAMES)
    rows[3] = 0
    rows[3, 156:160] = 13
    return rows


def stuck() -> Game:
    """Two cells, both full, with tops that fit nowhere: found by playing to the cells."""
    for number in range(1, 200):
        game = Game.from_code(f"MS-C1-{number}")
        while not game.is_stuck:
            game.push(game.legal_moves()[-1])
            if game.moves > 200:
                break
        if game.is_stuck:
            return game
    raise AssertionError("no game got stuck")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Starts(missing_card()), InvalidBoardError, r"position 2: .*(missing|not there|once|52)"),
        (lambda: Starts(won()), BoulangerError, "position 3 is already won: nothing is left to play"),
        (lambda: Starts([*GAMES, stuck()]), BoulangerError, "position 5 is already stuck"),
        (lambda: Starts([GAMES[0], str(GAMES[1]) + "AS"]), InvalidBoardError, "position 1: "),
        (lambda: Starts([GAMES[0], 7]), BoulangerError, "position 1 is 7: it must be a Game or a text board"),
        (lambda: Starts(GAMES[0]), BoulangerError, "an array or a list of games or boards"),
        (lambda: Starts("MS-C4-1"), BoulangerError, "an array or a list of games or boards, not 'MS-C4-1'"),
        (lambda: Starts([]), BoulangerError, "at least one is needed"),
        (lambda: Starts(np.zeros((0, 160), np.uint8)), BoulangerError, "at least one is needed"),
        (
            lambda: Starts(np.zeros((3, 159), np.uint8)),
            InvalidBoardError,
            r"\(3, 159\): rows of cards are \(m, 160\)",
        ),
        (lambda: Starts(np.zeros(160, np.uint8)), InvalidBoardError, r"shape \(160,\)"),
        (
            lambda: Starts(np.full((1, 160), np.nan)),
            InvalidBoardError,
            "nan is not a whole number from 0 to 255",
        ),
        (lambda: Starts(GAMES, [1, 2]), BoulangerError, r"left of shape \(2,\): .* 5 positions, \(5,\)"),
        (lambda: Starts(GAMES, [1, 2, 3, 4, -1]), BoulangerError, "whole numbers from 0 to 65535"),
        (lambda: Starts(GAMES, [1, 2, 3, 4, 65536]), BoulangerError, "whole numbers from 0 to 65535"),
        (lambda: Starts(GAMES, [1.0, 2, 3, 4, 5]), BoulangerError, "whole numbers from 0 to 65535"),
        (lambda: Starts(GAMES, deals="c5"), BoulangerError, "no deal set"),
        (lambda: Starts([str(GAMES[0])], n_cells=3), BoulangerError, "3"),
        (lambda: Starts.from_solutions(["MS-C2-1"], workers=1), BoulangerError, "none of 1 deals was won"),
        (lambda: Starts.from_solutions(["MS-C2-0"], workers=1), BoulangerError, "MS-C2-0"),
        (lambda: Starts.from_solutions(["MS-C4-1"], quality="best"), BoulangerError, "quality 'best'"),
        (lambda: Starts.from_solutions(["MS-C4-1"], workers=0), BoulangerError, "workers is 0"),
        (lambda: Starts(GAMES).game(5), BoulangerError, "at most 4"),
        (lambda: Starts(GAMES).game(-1), BoulangerError, "at least 0"),
    ],
)
def test_wrong_positions(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_what_moves_home_would_win_or_end_is_no_start_where_they_play_themselves() -> None:
    starts = Starts([GAMES[0], Game.from_text(ENDING)])
    starts.check_playable(auto_foundation=False)
    with pytest.raises(BoulangerError, match="position 1 would be won before the first decision"):
        starts.check_playable(auto_foundation=True)
    Starts(GAMES).check_playable(auto_foundation=True)


# -- solutions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auto_foundation", [False, True])
@pytest.mark.parametrize("quality", ["any", "short"])
def test_each_position_is_one_decision_before_the_next(quality: str, auto_foundation: bool) -> None:
    deals = [peer["code"] for peer in peer_games()[::40]] + ["MS-C2-1", "MS-C4-1", "MS-C4-617"]
    told: list[int] = []
    starts = Starts.from_solutions(
        deals, quality=quality, auto_foundation=auto_foundation, workers=1, progress=told.append
    )
    assert told == list(range(1, len(deals) + 1))
    starts.check_playable(auto_foundation)
    lines = np.split(np.arange(len(starts)), np.flatnonzero(np.diff(starts.left) > 0) + 1)
    begun = []
    for line in lines:
        assert starts.left[line].tolist() == list(range(len(line), 0, -1))
        positions = [oracle_of(starts.positions[i]) for i in line]
        begun.append(positions[0].key())
        for position, after in zip(positions, [*positions[1:], None], strict=True):
            if auto_foundation:
                assert not [move for move in position.legal() if move[1] == 9]
            keys = set()
            for move in position.pruned():
                child = position.copy()
                child.push(move)
                if auto_foundation:
                    child.send_home()
                keys.add("won" if child.outcome == "won" else child.key())
            assert ("won" if after is None else after.key()) in keys
    expected = []
    for code in deals:
        oracle = Oracle.from_code(code)
        if auto_foundation:
            oracle.send_home()
        if code != "MS-C2-1":
            expected.append(oracle.key())
    assert begun == expected


def test_automatic_home_moves_leave_fewer_decisions() -> None:
    deals = ["MS-C4-1", "MS-C4-617"]
    plain, auto = (Starts.from_solutions(deals, auto_foundation=auto, workers=1) for auto in (False, True))
    assert auto.left.max() < plain.left.max() - 20


def test_several_processes_find_the_same() -> None:
    deals = DealSet("few", [f"MS-C4-{number}" for number in range(1, 41)])
    one, two = (
        Starts.from_solutions(deals, quality="any", workers=workers, deal_share=0.25) for workers in (1, 2)
    )
    assert np.array_equal(one.positions, two.positions)
    assert np.array_equal(one.left, two.left)
    assert two.deal_share == 0.25


# -- weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 2], r"weights of shape \(2,\): there is one for each of the groups 0 to 5, \(6,\)"),
        (np.ones((6, 1)), r"weights of shape \(6, 1\)"),
        (1.0, r"weights of shape \(\)"),
        ([1, -0.5, 1, 1, 1, 1], "weight 1 is -0.5: each must be a finite number of at least 0"),
        ([1, 1, np.nan, 1, 1, 1], "weight 2 is nan"),
        ([1, 1, 1, 1, 1, np.inf], "weight 5 is inf"),
        ([0] * 6, "at least one must be above 0"),
        ([0, 1, 0, 0, 1, 0], "all weights of groups with positions are 0"),
        (["a"] * 6, "are not numbers"),
        (None, "weights"),
        ([1j] * 6, "are not numbers"),
        (np.full(6, np.longdouble("1e400")), "weight 0 is inf"),
    ],
)
def test_wrong_weights_change_nothing(weights: Any, words: str) -> None:
    starts = Starts(GAMES, left=[5, 0, 5, 2, 3], weights=[1, 2, 3, 4, 5, 6], deal_share=0.5)
    before = starts.tables.cumulative.tolist()
    with pytest.raises(BoulangerError, match=words):
        starts.weights = weights
    assert starts.weights.tolist() == [1, 2, 3, 4, 5, 6]
    assert starts.tables.cumulative.tolist() == before
    if weights is not None:
        with pytest.raises(BoulangerError, match=words):
            Starts(GAMES, left=[5, 0, 5, 2, 3], weights=weights)


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "a", None, True, [0.5]])
def test_wrong_shares_change_nothing(share: Any) -> None:
    starts = Starts(GAMES, deal_share=0.5)
    with pytest.raises(BoulangerError, match="must be a number from 0 to 1"):
        starts.deal_share = share
    assert starts.deal_share == 0.5
    with pytest.raises(BoulangerError, match="must be a number from 0 to 1"):
        Starts(GAMES, deal_share=share)


@pytest.mark.parametrize(
    "weights",
    [[1e308] * 6, [5e-324] * 6, [0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], [1e-300, 0, 1e300, 1, 0, 0]],
)
def test_extreme_weights(weights: list[float]) -> None:
    starts = Starts(GAMES, left=[5, 0, 5, 2, 3], weights=weights)
    chances = starts.tables.cumulative
    assert chances[0] == 0
    assert chances[-1] == 1
    assert (np.diff(chances) >= 0).all()
    present = np.array(weights)[[0, 2, 3, 5]]
    assert np.allclose(np.diff(chances), present / present.max() / (present / present.max()).sum())


# -- keeping and sharing them -----------------------------------------------------------------------------------


def same(one: Starts, two: Starts) -> bool:
    return (
        np.array_equal(one.positions, two.positions)
        and np.array_equal(one.left, two.left)
        and np.array_equal(one.weights, two.weights)
        and (one.deal_share, one.deals) == (two.deal_share, two.deals)
        and np.array_equal(one.tables.cumulative, two.tables.cumulative)
    )


@pytest.mark.parametrize("deals", [None, "solvable", "c4-validation-100", ["MS-C4-1", "MS-C2-7"]])
def test_a_file_keeps_everything(deals: Any, tmp_path: Path) -> None:
    starts = example_starts(0.125)
    starts = Starts(starts.positions, starts.left, weights=starts.weights, deals=deals, deal_share=0.125)
    starts.save(tmp_path / "starts")
    assert [path.name for path in tmp_path.iterdir()] == ["starts"]
    assert same(Starts.load(tmp_path / "starts"), starts)
    starts.weights = np.arange(starts.n_groups)
    starts.save(str(tmp_path / "starts"))
    assert same(Starts.load(str(tmp_path / "starts")), starts)


class Trap:
    """Unpickling it fails the test."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("unpickled",)


def test_files_that_are_no_starts(tmp_path: Path) -> None:
    path = tmp_path / "starts.npz"
    example_starts().save(path)
    whole = path.read_bytes()
    content = dict(np.load(path))
    with pytest.raises(BoulangerError, match="there is no file"):
        Starts.load(tmp_path / "none")
    for damaged in (whole[:100], whole[:-30], whole[:2000] + bytes(100) + whole[2100:], b"", b"MS-C4-1\n"):
        path.write_bytes(damaged)
        with pytest.raises(BoulangerError, match="starts"):
            Starts.load(path)
    with pytest.raises(BoulangerError, match="cannot be read as starts"):
        Starts.load(tmp_path)
    for change, words in (
        ({"boulanger_starts": 2}, "starts of version 2: this package reads version 1"),
        ({"left": content["left"][1:]}, "left of shape"),
        ({"positions": content["positions"] * 0}, "position 0"),
        ({"weights": -content["weights"]}, "weight"),
        ({"deal_share": 3.0}, "deal_share=3.0"),
        ({"deal_share": [3.0, 2]}, "cannot be read"),
        ({"positions": np.array([Trap()])}, "cannot be read"),
        ({"deal_set": "name", "deal_codes": ["MS-C4-0"]}, "MS-C4-0"),
    ):
        np.savez(path, **{**content, **change})
        with pytest.raises(BoulangerError, match=words):
            Starts.load(path)
    for other in ({"a": np.zeros(3)}, {key: content[key] for key in content if key != "boulanger_starts"}):
        np.savez(path, **other)
        with pytest.raises(BoulangerError, match="does not hold starts"):
            Starts.load(path)
    np.savez(path, **{key: content[key] for key in content if key != "left"})
    with pytest.raises(BoulangerError, match="left"):
        Starts.load(path)
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(BoulangerError, match="does not hold starts"):
        Starts.load(path)


@pytest.mark.parametrize("deals", ["solvable", ["MS-C4-1", "MS-C2-7"]])
def test_a_damaged_directory_never_changes_what_is_loaded(deals: Any, tmp_path: Path) -> None:
    path = tmp_path / "starts.npz"
    starts = Starts(GAMES[:1], deals=deals, deal_share=0.5)
    starts.save(path)
    whole = path.read_bytes()
    refused = 0
    for place in range(whole.index(b"PK\x01\x02"), len(whole)):
        for bits in (1, 32, 255):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :])
            try:
                loaded = Starts.load(path)
            except BoulangerError as error:
                assert str(path) in str(error)  # noqa: PT017
                refused += 1
            else:
                assert same(loaded, starts)
    assert refused > 300


def test_a_file_must_have_every_array_once_and_a_known_version(tmp_path: Path) -> None:
    path = tmp_path / "starts.npz"
    Starts(GAMES, deals=["MS-C4-1"], deal_share=0.5).save(path)
    content = dict(np.load(path))
    for changed, words in (
        ({key: content[key] for key in content if key != "deal_codes"}, "each once"),
        ({key: content[key] for key in content if key != "deal_set"}, "each once"),
        ({**content, "more": 1}, "'more.npy'"),
        ({**content, "deal_codes": np.array([], np.str_)}, "'codes' has no codes"),
        ({**content, "deal_set": ""}, "cannot name a deal set"),
        ({**content, "boulanger_starts": True}, "starts of version True"),
        ({**content, "boulanger_starts": 1.0}, "starts of version 1.0"),
    ):
        np.savez(path, **changed)
        with pytest.raises(BoulangerError, match=words) as caught:
            Starts.load(path)
        assert str(path) in str(caught.value)
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        np.savez(tmp_path / "plain.npz", **content)
        with zipfile.ZipFile(tmp_path / "plain.npz") as plain, zipfile.ZipFile(path, "w", method) as other:
            for name in plain.namelist():
                other.writestr(name, plain.read(name))
        with pytest.raises(BoulangerError, match="compressed in another way"):
            Starts.load(path)


def test_a_copy_is_the_same_object_and_a_pickle_another() -> None:
    starts = example_starts(0.25)
    assert copy.copy(starts) is starts
    assert copy.deepcopy(starts) is starts
    other = pickle.loads(pickle.dumps(starts))
    assert same(other, starts)
    other.weights = np.arange(1.0, other.n_groups + 1)
    assert starts.weights[0] != other.weights[0] or starts.weights[1] != other.weights[1]
    assert other.tables.cumulative.flags.writeable


def test_moves_by_others_are_followed() -> None:
    peer = peer_games()[0]
    game = Game.from_code(peer["code"])
    for move in peer["moves"]:
        game.push(Move(*move))
    assert game.is_won
    with pytest.raises(BoulangerError, match="position 0 is already won"):
        Starts([game])
