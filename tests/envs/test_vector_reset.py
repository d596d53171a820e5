"""Seeds, sequences of deals, partial resets and options of ``BoulangerVectorEnv``."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from oracle import SplitMix64, code_of
from support.batch_and_singles import (
    DISABLED,
    MODES,
    NEXT_STEP,
    SAME_STEP,
    Player,
    Singles,
    check,
    compare,
    row_of,
)

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    BoulangerVectorEnv,
    Game,
    InvalidBoardError,
    InvalidCodeError,
)
from boulanger_env.deals import load

N = 4
SUBSETS = [list(s) for s in chain.from_iterable(combinations(range(N), size) for size in range(1, N + 1))]
GAMES = [Game.from_code(f"MS-C4-{number}") for number in range(1, 5)]
WON = Game.from_columns([[]] * 8, foundations=[13] * 4)
CODES = ["MS-C4-1", "BK1-C2-BOULANG", "MS-C1-8589934591", "BK1-C4-AAAAA24"]


def codes_met(batch: BoulangerVectorEnv, episodes: int, **reset: Any) -> list[list[str]]:
    """The codes of each sub-environment's first games, whatever the autoreset mode."""
    n = batch.num_envs
    player = Player(0, n, 780)
    _, infos = batch.reset(**reset)
    met = [[code] for code in infos["code"].tolist()]
    over = np.zeros(n, np.bool_)
    while min(map(len, met)) < episodes:
        before = over
        _, _, terminations, truncations, infos = batch.step(player.choose(infos["action_mask"], infos))
        over = terminations | truncations
        if batch.autoreset_mode is DISABLED and over.any():
            _, infos = batch.reset(options={"reset_mask": over})
        for i in np.flatnonzero(before if batch.autoreset_mode is NEXT_STEP else over).tolist():
            met[i].append(str(infos["code"][i]))
    return [codes[:episodes] for codes in met]


# -- seeds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_a_seed_gives_the_games_of_single_environments(mode: AutoresetMode) -> None:
    batch = BoulangerVectorEnv(N, 2, max_episode_steps=3, autoreset_mode=mode)
    expected = []
    for i in range(N):
        env = BoulangerEnv(2)
        expected.append([env.reset(seed=40 + i if turn == 0 else None)[1]["code"] for turn in range(6)])
    assert codes_met(batch, 6, seed=40) == expected
    assert codes_met(batch, 6, seed=[40, 41, 42, 43]) == expected
    assert codes_met(batch, 6, seed=np.int64(40)) == expected
    # The deal stream as the interface defines it, from the oracle.
    for i in range(N):
        stream = SplitMix64(int(seeding.np_random(40 + i)[0].integers(2**64, dtype=np.uint64)))
        assert [code_of("BK1", 2, stream.random_game()) for _ in range(6)] == expected[i]


def test_drawing_from_a_list_is_seeded_too() -> None:
    batch = BoulangerVectorEnv(N, deals=CODES, max_episode_steps=2)
    expected = []
    for i in range(N):
        env = BoulangerEnv(deals=CODES)
        expected.append([env.reset(seed=3 + i if turn == 0 else None)[1]["code"] for turn in range(8)])
    assert codes_met(batch, 8, seed=3) == expected


def test_none_in_a_list_of_seeds_lets_the_stream_run_on() -> None:
    batch, singles = BoulangerVectorEnv(3), Singles(3, NEXT_STEP)
    compare(batch, singles, Player(1, 3, 780), 10, seeds=[5, 5, 2**40])
    assert len(set(batch.reset(seed=[8, 8, 8])[1]["code"])) == 1
    singles.reset([8, 8, 8])
    observation, infos = batch.reset(seed=[None, 9, None])
    singles.reset([None, 9, None])
    check(batch, singles, observation, infos, "some seeds")


def test_without_a_seed_games_differ() -> None:
    batch, other = BoulangerVectorEnv(N), BoulangerVectorEnv(N)
    codes = [*batch.reset()[1]["code"], *batch.reset()[1]["code"], *other.reset()[1]["code"]]
    assert len(set(codes)) == 3 * N


def test_seeds_are_kept_for_the_batch_too() -> None:
    batch = BoulangerVectorEnv(2)
    batch.reset(seed=5)
    assert batch.np_random_seed == 5
    assert isinstance(batch.np_random, np.random.Generator)
    batch.reset()
    assert batch.np_random_seed == 5


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        ([1, 2], "2 seeds are given for 4"),
        (-1, "seed=-1 must be a whole number of at least 0"),
        ([0, 1, -5, 2], "seed of sub-environment 2=-5 must be a whole number of at least 0"),
        (2**128, "at most"),
        (np.array(3), "whole number"),
        ("1234", "whole number"),
    ],
)
def test_wrong_seeds(seed: Any, words: str) -> None:
    batch = BoulangerVectorEnv(N)
    with pytest.raises(BoulangerError, match=words):
        batch.reset(seed=seed)


# -- sequences --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("n", [1, 3, 4, 7])
def test_sequences_are_shared_out(n: int, mode: AutoresetMode) -> None:
    deals = [*CODES, "MS-C4-7"]
    batch = BoulangerVectorEnv(
        n, deals=deals, deal_order="sequential", max_episode_steps=2, autoreset_mode=mode
    )
    expected = [[deals[(i + turn * n) % 5] for turn in range(7)] for i in range(n)]
    assert codes_met(batch, 7) == expected
    # A seed starts over; without one the stream continues.
    assert codes_met(batch, 7, seed=1) == expected
    assert codes_met(batch, 1, seed=[None] * n) != expected


def test_a_whole_set_is_played_once() -> None:
    deals = load("c4-validation-100")
    batch = BoulangerVectorEnv(10, deals=deals, deal_order="sequential", max_episode_steps=1)
    met = codes_met(batch, 10)
    assert sorted(chain.from_iterable(met)) == sorted(deals)


# -- partial resets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("observation", ["features", "cards"])
def test_partial_resets_of_every_subset(observation: str, mode: AutoresetMode) -> None:
    keywords = {"observation": observation, "allow_undo": True, "max_episode_steps": 9}
    batch, singles = BoulangerVectorEnv(N, autoreset_mode=mode, **keywords), Singles(N, mode, **keywords)
    player = Player(mode, N, 781)
    compare(batch, singles, player, 3, seeds=1)
    for turn, subset in enumerate(SUBSETS + SUBSETS[::-1]):
        mask = np.zeros(N, np.bool_)
        mask[subset] = True
        options: dict[str, Any] = {"reset_mask": mask}
        seeds: list[int | None] = [None] * N
        if turn % 3 == 0:
            seeds = [turn, None, 2 * turn, 99]
        if turn % 4 == 0:
            options["codes"] = CODES
        before = dict(options)
        observations, infos = batch.reset(seed=seeds, options=options)
        assert options == before
        assert options["reset_mask"] is mask
        singles.reset(seeds, options.get("codes"), mask)
        for i in np.flatnonzero(~mask & np.array(singles.over)).tolist():
            # Still to be reset: the mask of an episode that has terminated stays all ones.
            assert infos["action_mask"][i].tolist() == singles.infos[i]["action_mask"].tolist()
        check(batch, singles, observations, infos, (turn, subset))
        if mode is DISABLED and any(singles.over):
            with pytest.raises(
                ResetNeeded, match=str(np.flatnonzero(singles.over).tolist()).replace("[", r"\[")
            ):
                batch.step(np.full(N, 728))
            over = np.array(singles.over)
            observations, infos = batch.reset(options={"reset_mask": over})
            singles.reset([None] * N, chosen=over)
            check(batch, singles, observations, infos, (turn, "the rest"))
        compare(batch, singles, player, 2 + turn % 5, first=(observations, infos))


def test_seeds_of_games_that_are_not_reset_do_not_count() -> None:
    batch, twin = BoulangerVectorEnv(2), BoulangerVectorEnv(2)
    batch.reset(seed=0)
    twin.reset(seed=0)
    mask = np.array([True, False])
    batch.reset(seed=[5, 6], options={"reset_mask": mask})
    twin.reset(seed=[5, None], options={"reset_mask": mask})
    assert batch.reset()[1]["code"].tolist() == twin.reset()[1]["code"].tolist()


@pytest.mark.parametrize(
    "mask",
    [
        [True, False, False, True],
        np.array([1, 0, 0, 1]),
        np.zeros(N, np.bool_),
        np.ones(3, np.bool_),
        None,
        "1001",
    ],
    ids=["list", "int", "none", "short", "None", "str"],
)
def test_wrong_reset_masks(mask: Any) -> None:
    batch = BoulangerVectorEnv(N)
    batch.reset(seed=2)
    before = [batch.game(i) for i in range(N)]
    if isinstance(mask, list):
        # We may accept what Gymnasium rejects: a list means the same.
        codes = [game.code for game in before]
        _, infos = batch.reset(options={"reset_mask": mask})
        assert [code != other for code, other in zip(infos["code"], codes, strict=True)] == mask
        return
    with pytest.raises(BoulangerError, match=r"reset_mask .* must be bool \(4,\) with at least one True"):
        batch.reset(seed=9, options={"reset_mask": mask})
    assert [batch.game(i) for i in range(N)] == before


def test_the_first_reset_is_of_all() -> None:
    batch = BoulangerVectorEnv(2)
    with pytest.raises(ResetNeeded, match="every sub-environment"):
        batch.reset(options={"reset_mask": np.array([True, False])})
    assert batch.reset(options={"reset_mask": np.array([True, True])})[1]["_code"].all()


# -- codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codes", [CODES, tuple(CODES), np.array(CODES), [code.lower() for code in CODES]])
def test_codes(codes: Any) -> None:
    batch = BoulangerVectorEnv(N, observation="cards")
    observations, infos = batch.reset(seed=1, options={"codes": codes})
    assert infos["code"].tolist() == CODES
    assert observations["cells"].tolist() == [[0, 0, 0, 0], [0, 0, 53, 53], [0, 53, 53, 53], [0, 0, 0, 0]]
    for i, code in enumerate(CODES):
        expected, info = BoulangerEnv(observation="cards").reset(options={"code": code})
        assert all(np.array_equal(row_of(observations, i)[key], expected[key]) for key in expected)
        assert np.array_equal(infos["action_mask"][i], info["action_mask"])
    # Given games use up no turn: the next ones are those of the seed.
    twin = BoulangerVectorEnv(N)
    assert batch.reset()[1]["code"].tolist() == twin.reset(seed=1)[1]["code"].tolist()


@pytest.mark.parametrize("mode", [NEXT_STEP, SAME_STEP], ids=lambda mode: mode.name)
def test_after_a_code_the_stream_continues(mode: AutoresetMode) -> None:
    keywords = {"max_episode_steps": 4, "n_cells": 2}
    batch, singles = BoulangerVectorEnv(N, autoreset_mode=mode, **keywords), Singles(N, mode, **keywords)
    first = batch.reset(seed=6, options={"codes": CODES})
    singles.reset([6, 7, 8, 9], CODES)
    check(batch, singles, *first, "codes")
    compare(batch, singles, Player(0, N, 780), 12, first=first)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"code": "MS-C4-1"}, BoulangerError, "'code' is unknown: it takes codes, boards, games, reset_mask"),
        ({"codes": "MS-C4-1"}, BoulangerError, "one code per sub-environment, 4, not 'MS-C4-1'"),
        ({"codes": CODES[:2]}, BoulangerError, "one code per sub-environment, 4, not 2"),
        ({"codes": [*CODES[:3], "MS-C4-0"]}, InvalidCodeError, "MS-C4-0"),
        ({"codes": [*CODES[:3], None]}, BoulangerError, "None"),
        ({"codes": 7}, BoulangerError, "one code per sub-environment, 4, not 7"),
        ({"codes": None}, BoulangerError, "one code per sub-environment, 4, not None"),
        (["codes"], BoulangerError, "it must be a dict with codes or boards or games or reset_mask"),
        (
            {"codes": CODES, "games": GAMES},
            BoulangerError,
            "both codes and games are given: it takes one of them",
        ),
        ({"games": GAMES[:3]}, BoulangerError, "games must be one game per sub-environment, 4, not 3"),
        ({"games": GAMES[0]}, BoulangerError, "one game per sub-environment"),
        (
            {"games": [*GAMES[:3], CODES[0]]},
            BoulangerError,
            "sub-environment 3: .*'game' is str, it must be a Game",
        ),
        ({"games": [None, *GAMES[1:]]}, BoulangerError, "sub-environment 0: .*NoneType"),
        ({"games": [GAMES[0], WON, *GAMES[2:]]}, BoulangerError, "sub-environment 1: .*already won"),
        ({"boards": [str(WON)] * 4}, BoulangerError, "sub-environment 0: .*already won"),
        ({"boards": [*map(str, GAMES[:3]), "9S"]}, InvalidBoardError, "sub-environment 3: "),
        ({"boards": GAMES}, InvalidBoardError, "sub-environment 0: "),
        ({"boards": str(GAMES[0])}, BoulangerError, "one board per sub-environment"),
    ],
)
def test_wrong_options_change_nothing(options: Any, error: type[Exception], words: str) -> None:
    batch, twin = BoulangerVectorEnv(N), BoulangerVectorEnv(N)
    batch.reset(seed=2)
    twin.reset(seed=2)
    before = [batch.game(i) for i in range(N)]
    with pytest.raises(error, match=words):
        batch.reset(seed=7, options=options)
    assert [batch.game(i) for i in range(N)] == before
    assert batch.reset()[1]["code"].tolist() == twin.reset()[1]["code"].tolist()


def test_codes_of_those_that_are_not_reset_are_not_read() -> None:
    batch = BoulangerVectorEnv(2)
    first = batch.reset(seed=0)[1]["code"][0]
    options = {"codes": [None, "MS-C4-5"], "reset_mask": np.array([False, True])}
    assert batch.reset(options=options)[1]["code"].tolist() == [first, "MS-C4-5"]


# -- games and boards -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("form", ["game", "board"])
def test_games_and_boards_as_in_single_environments(form: str, mode: AutoresetMode) -> None:
    games = [game.copy() for game in GAMES]
    for number, game in enumerate(games):
        for _ in range(3 * number):
            game.push(game.legal_moves()[0])
    given = games if form == "game" else [str(game) for game in games]
    keywords = {"max_episode_steps": 5, "allow_undo": True}
    batch, singles = BoulangerVectorEnv(N, autoreset_mode=mode, **keywords), Singles(N, mode, **keywords)
    first = batch.reset(seed=6, options={f"{form}s": given})
    for i, env in enumerate(singles.envs):
        singles._begin(i, *env.reset(seed=6 + i, options={form: given[i]}))
    check(batch, singles, *first, form)
    compare(batch, singles, Player(0, N, 781), 20, first=first)
    # What was given is not played on.
    assert [game.moves for game in games] == [0, 3, 6, 9]


def test_boards_have_the_environments_cells() -> None:
    game = Game.from_code("MS-C2-1")
    batch = BoulangerVectorEnv(2, 2)
    batch.reset(options={"boards": [str(game)] * 2})
    assert batch.game(1) == game
    with pytest.raises(InvalidBoardError, match="sub-environment 0"):
        BoulangerVectorEnv(2, 1).reset(options={"boards": [str(game)] * 2})


def test_games_for_some() -> None:
    batch = BoulangerVectorEnv(3)
    batch.reset(seed=0)
    before = batch.game(0)
    options = {"games": [None, GAMES[1], GAMES[2]], "reset_mask": np.array([False, True, True])}
    infos = batch.reset(options=options)[1]
    assert [batch.game(i) for i in range(3)] == [before, *GAMES[1:3]]
    assert infos["code"].tolist() == [before.code, "MS-C4-2", "MS-C4-3"]
