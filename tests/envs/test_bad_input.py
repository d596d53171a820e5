"""Bad input: a clear error of the right kind each time, and nothing is changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from support.env_and_oracle import exact, legal_actions

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    BoulangerVectorEnv,
    Game,
    IllegalMoveError,
    InvalidBoardError,
    InvalidCodeError,
    Move,
)
from boulanger_env.deals import format_code, parse_code
from boulanger_env.wrappers import MaskInObservation

BAD_CODES = {
    "": "empty",
    "   ": "empty",
    "AAAAA24": "scheme",
    "BK2-C4-AAAAA24": "'BK2' is not a dealing scheme",
    "FC-C4-617": "'FC' is not a dealing scheme",
    "BK1": "joined by '-'",
    "BK1-C4": "joined by '-'",
    "BK1-C3-AAAAA24": "'C3' is not a cell count",
    "BK1-4-AAAAA24": "'4' is not a cell count",
    "BK1-C4-": "'' is not a deal",
    "BK1-C4-AAAAA2": "not a deal of BK1",
    "BK1-C4-AAAAA244": "not a deal of BK1",
    "BK1-C4-AAAAA20": "not a deal of BK1",
    "BK1-C4-AAAAA21": "not a deal of BK1",
    "BK1-C4-AAAAA28": "not a deal of BK1",
    "BK1-C4-AAAAA29": "not a deal of BK1",
    "BK1-C4-AAAA-24": "not a deal of BK1",
    "BK1 C4 AAAAA24": "scheme",
    "BK1-C4-AAAÄA24": "outside ASCII",
    "BK1-C4-AAAAA2４": "outside ASCII",
    "BK1-C4-ſAAAA24": "outside ASCII",  # an s in capitals
    "MS-C4-0": "not a deal of MS",
    "MS-C4--1": "not a deal of MS",
    "MS-C4-8589934592": "not a deal of MS",  # 2**33
    "MS-C4-99999999999999999999999999": "not a deal of MS",
    "MS-C4-6.17": "not a deal of MS",
    "MS-C4-6_17": "not a deal of MS",
    "MS-C4-": "not a deal of MS",
    "MS-C4-AAAAA24": "not a deal of MS",
}

GOOD_BOARD = str(Game.from_code("MS-C4-617"))


def board(change: Callable[[list[str]], list[str]]) -> str:
    """A good board with its lines changed: foundations, cells, then the columns."""
    return "\n".join(change(GOOD_BOARD.splitlines()))


BAD_BOARDS: dict[str, tuple[Any, list[str]]] = {
    "a missing card": (board(lambda rows: [*rows[:-1], rows[-1][:-3]]), ["missing", GOOD_BOARD[-2:]]),
    "a doubled card": (board(lambda rows: [*rows[:-1], rows[-1] + " AS"]), ["doubled AS"]),
    "one for another": (GOOD_BOARD.replace("KH", "KD"), ["missing KH", "doubled KD"]),
    "7 columns": (board(lambda rows: [*rows[:-2], rows[-2] + rows[-1][1:]]), ["7 columns", "8"]),
    "9 columns": (board(lambda rows: [*rows, ":"]), ["9 columns", "8"]),
    "a bad rank": (GOOD_BOARD.replace("KH", "1H"), ["'1H' is not a card", "line"]),
    "a bad suit": (GOOD_BOARD.replace("KH", "KX"), ["'KX' is not a card", "line"]),
    "words": ("the king of hearts", ["line 1"]),
    "nothing": ("", ["0 columns"]),
    "no text": (7, ["int"]),
    "bytes": (GOOD_BOARD.encode(), ["bytes"]),
    "5 cells": (board(lambda rows: [rows[0], "Freecells: - - - - -", *rows[2:]]), ["5 cells", "4"]),
    "a home card on the board": (board(lambda rows: ["Foundations: H-2", *rows[1:]]), ["doubled AH 2H"]),
    "a bad foundation": (board(lambda rows: ["Foundations: H-14", *rows[1:]]), ["'H-14'", "line 1"]),
    "two foundation lines": (board(lambda rows: [rows[0], *rows]), ["line 2", "foundations"]),
}

BAD_ACTIONS = [-1, 780, 10**30, 1.5, 3.0, float("nan"), "3", "76", b"3", None, [3], (0, 1, 1), {}, np.array([3]),
               np.array([], int), np.array(3.0), np.float32(3), np.array([[1]]), Move(0, 8), object()]  # fmt: skip

BAD_OPTIONS: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown": ({"cod": "MS-C4-1"}, BoulangerError, "'cod' is unknown"),
    "of a batch": ({"codes": ["MS-C4-1"]}, BoulangerError, "'codes' is unknown"),
    "one unknown": ({"code": "MS-C4-1", "seed": 3}, BoulangerError, "'seed' is unknown"),
    "two": ({"code": "MS-C4-1", "board": GOOD_BOARD}, BoulangerError, "2 options"),
    "no name": ({3: 4}, BoulangerError, "3 is unknown"),
    "no dict": ("MS-C4-1", BoulangerError, "is not a dict"),
    "a number": (617, BoulangerError, "is not a dict"),
    "no code": ({"code": 617}, InvalidCodeError, "617 is not a game code"),
    "None as a code": ({"code": None}, InvalidCodeError, "None is not a game code"),
    "no game": ({"game": GOOD_BOARD}, BoulangerError, "must be a Game"),
    "None as a game": ({"game": None}, BoulangerError, "must be a Game"),
    "a won game": (
        {"board": "Foundations: H-K C-K D-K S-K\n" + ":\n" * 8},
        BoulangerError,
        "already won",
    ),
}


def env_in_play() -> tuple[BoulangerEnv, BoulangerEnv]:
    """An environment in the middle of an episode, and its twin to compare it with."""
    env = BoulangerEnv(allow_undo=False, max_episode_steps=12)
    env.reset(seed=5)
    for action in (728, 729):
        env.step(action)
    return env, copy.deepcopy(env)


def same_future(env: Any, twin: Any) -> bool:
    """Whether both continue alike: masks, steps to the limit, the next game dealt."""
    alike = env.action_masks().tolist() == twin.action_masks().tolist()
    info = {"action_mask": twin.action_masks()}
    for _ in range(25):
        action = legal_actions(info)[-1]
        ours, theirs = env.step(action), twin.step(action)
        info = theirs[4]
        alike &= exact(ours) == exact(theirs)
        if theirs[2] or theirs[3]:
            mine, (seen, info) = env.reset(), twin.reset()
            alike &= exact(mine) == exact((seen, info))
    return alike


def clear(error: pytest.ExceptionInfo[BaseException]) -> bool:
    """Whether a message is one sentence or two that a person can read: no traceback, no bare repr."""
    words = str(error.value)
    return "\n" not in words and 20 <= len(words) <= 400


# -- codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "words"), BAD_CODES.items(), ids=lambda value: ascii(value))
def test_codes(code: str, words: str) -> None:
    env, twin = env_in_play()
    readers: list[Callable[[], Any]] = [
        lambda: parse_code(code),
        lambda: Game.from_code(code),
        lambda: env.reset(options={"code": code}),
        lambda: BoulangerEnv(deals=["MS-C4-1", code]),
    ]
    for read in readers:
        with pytest.raises(InvalidCodeError, match=words) as error:
            read()
        assert clear(error)
    assert same_future(env, twin)


@pytest.mark.parametrize("number", [0, -1, 2**33, 2**33 + 1, 1.5, "617", None])
def test_microsoft_numbers_out_of_range(number: Any) -> None:
    with pytest.raises(InvalidCodeError, match="deal number"):
        format_code("MS", 4, number)


@pytest.mark.parametrize("number", [-1, 2**35, 1.5])
def test_bk1_numbers_out_of_range(number: Any) -> None:
    with pytest.raises(InvalidCodeError, match="deal number"):
        format_code("BK1", 4, number)


@pytest.mark.parametrize("code", [" bk1-c4-aaaaa24\n", "BK1-C4-AAAAA24", "\tBk1-C4-aAaAa24  "])
def test_case_and_spaces_are_accepted(code: str) -> None:
    assert BoulangerEnv().reset(options={"code": code})[1]["code"] == "BK1-C4-AAAAA24"


# -- boards -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BAD_BOARDS)
def test_boards(name: str) -> None:
    text, words = BAD_BOARDS[name]
    env, twin = env_in_play()
    for read in (Game.from_text, lambda text: env.reset(options={"board": text})):
        with pytest.raises(InvalidBoardError) as error:
            read(text)
        assert clear(error)
        assert all(word in str(error.value) for word in words), str(error.value)
    assert same_future(env, twin)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r\n") + "\r\n",
        lambda text: text.replace("\n", "  \t\n") + "   ",
        lambda text: "\n\n" + text.replace("\n", "\n\n") + "\n\n",
        lambda text: text.lower(),
        lambda text: text.replace("T", "10"),
        lambda text: text.replace("\n: ", "\n"),
        lambda text: text.replace("\n: ", "\n:"),
        lambda text: "\n".join(text.splitlines()[2:]),
    ],
    ids=["CRLF", "CRLF at the end", "trailing blanks", "blank lines", "lower case", "10", "no colons", "no spaces",
         "columns only"],
)  # fmt: skip
def test_other_ways_to_write_a_board_are_accepted(change: Callable[[str], str]) -> None:
    assert Game.from_text(change(GOOD_BOARD)) == Game.from_code("MS-C4-617")


# -- actions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("illegal_action", ["penalize", "terminate", "raise"])
@pytest.mark.parametrize("action", BAD_ACTIONS, ids=repr)
def test_actions(action: Any, illegal_action: str) -> None:
    env = BoulangerEnv(illegal_action=illegal_action)
    env.reset(seed=5)
    env.step(728)
    twin = copy.deepcopy(env)
    with pytest.raises(IllegalMoveError, match="0 to 779") as error:
        env.step(action)
    assert clear(error)
    assert same_future(env, twin)
    made = gym.make("Boulanger-C4-v0", illegal_action=illegal_action)
    made.reset(seed=5)
    with pytest.raises(IllegalMoveError, match="0 to 779"):
        made.step(action)


def test_undo_is_an_action_only_where_it_is_allowed() -> None:
    env = BoulangerEnv(allow_undo=True)
    env.reset(seed=1)
    assert env.step(780)[4]["illegal_action"]
    with pytest.raises(IllegalMoveError, match="0 to 780"):
        env.step(781)


@pytest.mark.parametrize("action", [np.int64(728), np.int8(3), np.uint16(728), np.array(728), 728])
def test_any_integer_is_an_action(action: Any) -> None:
    env = BoulangerEnv()
    env.reset(seed=1)
    assert env.step(action)[4]["illegal_action"] is (int(action) == 3)


# -- the order of calls -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [BoulangerEnv, lambda **options: gym.make("Boulanger-C4-v0", **options)])
def test_step_before_reset(make: Any) -> None:
    env = make()
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    env.reset(seed=1)
    assert env.step(728)[4]["moves"] == 1


def test_step_after_the_end() -> None:
    for options, actions in (
        ({"illegal_action": "terminate"}, [0]),
        ({"max_episode_steps": 2}, [728, 729]),
    ):
        env = BoulangerEnv(**options)
        env.reset(seed=1)
        for action in actions:
            _, _, terminated, truncated, info = env.step(action)
        assert terminated or truncated
        game = env.game
        for action in (728, 0, -1, "x"):
            with pytest.raises(ResetNeeded, match="the episode has ended"):
                env.step(action)
        assert env.game == game
        assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
        env.reset()
        assert env.step(728)[4]["moves"] == 1


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_reset_options(name: str) -> None:
    options, kind, words = BAD_OPTIONS[name]
    env, twin = env_in_play()
    for seed in (None, 77):
        with pytest.raises(kind, match=words) as error:
            env.reset(seed=seed, options=options)
        assert clear(error)
    assert same_future(env, twin)


def test_a_stuck_game_cannot_be_a_start() -> None:
    random_play = BoulangerEnv(n_cells=1)
    _, info = random_play.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = random_play.step(legal_actions(info)[-1])
    assert info["outcome"] == "stuck"
    env, twin = env_in_play()
    for options in ({"game": random_play.game}, {"board": str(random_play.game)}):
        env_of_one_cell = env if "game" in options else BoulangerEnv(n_cells=1)
        with pytest.raises(BoulangerError, match="already stuck"):
            env_of_one_cell.reset(options=options)
    assert same_future(env, twin)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True, 2**128, np.arange(2), np.array(7)])
def test_seeds(seed: Any) -> None:
    env, twin = env_in_play()
    for options in (None, {"code": "MS-C4-1"}):
        with pytest.raises(BoulangerError, match="seed"):
            env.reset(seed=seed, options=options)
    with pytest.raises(BoulangerError, match="seed"):
        BoulangerVectorEnv(3).reset(seed=seed)
    assert same_future(env, twin)


def test_any_integer_is_a_seed() -> None:
    code = BoulangerEnv().reset(seed=7)[1]["code"]
    assert BoulangerEnv().reset(seed=np.uint8(7))[1]["code"] == code  # type: ignore[arg-type]


def test_no_options_are_fine() -> None:
    assert BoulangerEnv().reset(seed=1, options={})[1]["code"] == BoulangerEnv().reset(seed=1)[1]["code"]


# -- keywords ---------------------------------------------------------------------------------------------------

BAD_KEYWORDS: list[tuple[str, Any, str]] = [
    ("n_cells", 3, "4, 2 or 1"),
    ("n_cells", 0, "4, 2 or 1"),
    ("n_cells", "4", "4, 2 or 1"),
    ("n_cells", None, "4, 2 or 1"),
    ("deals", [], "empty"),
    ("deals", iter(["MS-C4-1"]), "only once"),
    ("deals", (code for code in ["MS-C4-1"]), r"deals=list\(...\)"),
    ("deals", 617, "a set's name, a DealSet or a list"),
    ("deals", "c4-tests", "c4-test-100"),
    ("deals", "MS-C4-617", "MS-C4-617 is a code"),
    ("deals", [617], "place 0"),
    ("deals", ["MS-C4-1", "MS-C4-0"], "place 1"),
    ("deal_order", "shuffled", "'random', 'sequential'"),
    ("deal_order", None, "'random', 'sequential'"),
    ("observation", "image", "features, cards"),
    ("observation", None, "features, cards"),
    ("illegal_action", "ignore", "'penalize', 'terminate', 'raise'"),
    ("illegal_action", ["raise"], "'penalize', 'terminate', 'raise'"),
    ("allow_undo", "no", "False, True"),
    ("prune", None, "False, True"),
    ("max_episode_steps", 0, "or -1 for no limit"),
    ("max_episode_steps", -5, "or -1 for no limit"),
    ("max_episode_steps", 2.5, "or -1 for no limit"),
    ("max_episode_steps", True, "or -1 for no limit"),
    ("max_episode_steps", 2**63, "or -1 for no limit"),
    ("max_episode_steps", 10**400, "or -1 for no limit"),
    ("array_infos", 1.5, "False, True"),
    ("render_mode", "text", "'ansi', 'rgb_array', 'human'"),
    ("render_size", (960, 0), "at least"),
    ("render_size", 960, "width, height"),
    ("reward", {"win": 1j}, "finite number"),
    ("reward", {"win": [1, 2]}, "finite number"),
    ("reward", {"win": 10**400}, "finite number"),
    ("reward", {"win": float("nan")}, "finite number"),
    ("reward", {"step": -float("inf")}, "finite number"),
    ("reward", {"stuck": -1e300}, "finite number"),
]


@pytest.mark.parametrize(("keyword", "value", "words"), BAD_KEYWORDS)
def test_keywords(keyword: str, value: Any, words: str) -> None:
    with pytest.raises(BoulangerError, match=words) as error:
        BoulangerEnv(**{keyword: value})
    # Commands take deals and numbers of cells too, but not as keywords.
    assert keyword in str(error.value) or keyword in ("deals", "n_cells")
    assert "\n" not in str(error.value)
    # The batch rejects it in the same words, when it is created.
    with pytest.raises(BoulangerError) as same:
        BoulangerVectorEnv(2, **{keyword: value})
    assert str(same.value) == str(error.value)


def test_errors_are_value_errors() -> None:
    for kind in (InvalidCodeError, InvalidBoardError, IllegalMoveError):
        assert issubclass(kind, BoulangerError)
    assert issubclass(BoulangerError, ValueError)


def test_there_is_nothing_to_see_before_the_first_reset() -> None:
    single, batch = BoulangerEnv(), BoulangerVectorEnv(2)
    for look in (
        single.action_masks,
        lambda: single.game,
        MaskInObservation(BoulangerEnv()).action_masks,
        batch.action_masks,
        lambda: batch.game(0),
    ):
        with pytest.raises(ResetNeeded, match="yet"):
            look()


@pytest.mark.parametrize("i", [-1, 2])
def test_the_games_of_a_batch_are_numbered(i: int) -> None:
    batch = BoulangerVectorEnv(2)
    batch.reset(seed=0)
    with pytest.raises(BoulangerError, match="0 to 1"):
        batch.game(i)


@pytest.mark.parametrize("seed", [1.5, "ab", [1.5, 2], {1, 2}, [1], [-1, 2]])
def test_seeds_of_a_batch_are_checked(seed: object) -> None:
    with pytest.raises(BoulangerError, match="seed"):
        BoulangerVectorEnv(2).reset(seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("codes", [{"a": 1, "b": 2}, "MS-C4-1", 7, ["MS-C4-1"]])
def test_codes_of_a_batch_are_checked(codes: object) -> None:
    with pytest.raises(BoulangerError, match="one code per sub-environment"):
        BoulangerVectorEnv(2).reset(options={"codes": codes})


@pytest.mark.parametrize("n_cells", [4.0, True, np.array([4, 2]), "4", 3])
def test_numbers_of_cells_are_whole(n_cells: object) -> None:
    for make in (
        lambda: BoulangerEnv(n_cells=n_cells),  # type: ignore[arg-type]
        lambda: Game.from_text("", n_cells),  # type: ignore[arg-type]
        lambda: Game.from_deck(range(1, 53), n_cells),  # type: ignore[arg-type]
    ):
        with pytest.raises(BoulangerError, match="4, 2 or 1 cells"):
            make()


@pytest.mark.parametrize("keyword", ["observation", "illegal_action", "deal_order", "render_mode", "prune"])
def test_arrays_are_not_keywords(keyword: str) -> None:
    with pytest.raises(BoulangerError, match=keyword):
        BoulangerEnv(**{keyword: np.array(["cards", "features"])})


def test_true_is_not_an_action() -> None:
    env = BoulangerEnv()
    env.reset(seed=0)
    for action in (True, np.True_):
        with pytest.raises(IllegalMoveError, match="not an action"):
            env.step(action)
