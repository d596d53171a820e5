"""The same seed gives the same episodes: in another process, without the compiler, in copies, from a spec."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from oracle import BASE32, SplitMix64, code_of
from support.env_and_oracle import exact
from support.paths import TESTS
from support.written_episodes import environments, play, play_all

from boulanger_env import BoulangerEnv, DealSet

SCRIPT = TESTS / "support" / "written_episodes.py"
RESERVED = ("TST", "VAL")


def first_draw(seed: int) -> int:
    """The first 64-bit number of the generator that Gymnasium creates from a seed."""
    return int(np.random.PCG64(np.random.SeedSequence(seed)).random_raw())


def random_codes(seed: int, n_cells: int, count: int) -> tuple[list[str], int]:
    """The codes of the first random games of a seed, and how many reserved ones were skipped."""
    stream, codes, skipped = SplitMix64(first_draw(seed)), [], 0
    while len(codes) < count:
        code = code_of("BK1", n_cells, stream.below(2**35))
        if code.split("-")[2].startswith(RESERVED):
            skipped += 1
        else:
            codes.append(code)
    return codes, skipped


def played_codes(env: gym.Env[Any, Any], seed: int, count: int) -> list[str]:
    return [env.reset(seed=seed if i == 0 else None)[1]["code"] for i in range(count)]


# -- the deal stream --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31, 2**40 + 3, 123456789])
@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_random_games_are_the_streams_numbers(seed: int, n_cells: int) -> None:
    expected, _ = random_codes(seed, n_cells, 50)
    assert played_codes(BoulangerEnv(n_cells), seed, 50) == expected


@pytest.mark.parametrize("prefix", RESERVED)
def test_reserved_codes_are_passed_over(prefix: str) -> None:
    # A seed among whose first numbers there is a reserved one; one in 16,384 is.
    high = sum(BASE32.index(symbol) * 32**i for i, symbol in enumerate(reversed(prefix)))
    for seed in range(2_000):
        stream = SplitMix64(first_draw(seed))
        if any(stream.next() >> 20 & 0x7FFF == high for _ in range(150)):
            break
    expected, skipped = random_codes(seed, 4, 200)
    assert skipped >= 1
    assert played_codes(BoulangerEnv(), seed, 200) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("seed", [0, 5, 2**33])
def test_listed_games_are_drawn_by_the_stream(count: int, seed: int) -> None:
    codes = [f"MS-C4-{i + 1}" for i in range(count)]
    stream = SplitMix64(first_draw(seed))
    expected = [codes[stream.below(count)] for _ in range(60)]
    assert played_codes(BoulangerEnv(deals=codes), seed, 60) == expected
    assert played_codes(BoulangerEnv(deals=DealSet("some", codes)), seed, 60) == expected


def test_a_given_game_takes_nothing_from_the_stream() -> None:
    env = BoulangerEnv()
    expected, _ = random_codes(3, 4, 3)
    assert env.reset(seed=3)[1]["code"] == expected[0]
    env.reset(options={"code": "MS-C4-1"})
    assert env.reset()[1]["code"] == expected[1]
    # A seed counts even if a game is given.
    env.reset(seed=3, options={"code": "MS-C4-1"})
    assert env.reset()[1]["code"] == expected[0]


def test_without_a_seed_games_differ() -> None:
    assert BoulangerEnv().reset()[1]["code"] != BoulangerEnv().reset()[1]["code"]


def test_np_random_is_gymnasiums() -> None:
    env = BoulangerEnv()
    env.reset(seed=42)
    assert env.np_random_seed == 42
    # One 64-bit number was taken, no more.
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(42)))
    generator.integers(2**64, dtype=np.uint64)
    assert env.np_random.bit_generator.state == generator.bit_generator.state


def test_the_code_deals_the_game_again() -> None:
    random = Random(1)
    for name, env in environments().items():
        first = env.reset(seed=random.randrange(1000))
        again = env.reset(options={"code": first[1]["code"]})
        assert exact(again) == exact(first), name


# -- the same episodes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("jit", "seed", "steps"),
    [("0", 1, 400), ("0", 2**35, 100), ("1", 1, 120)],
    ids=["compiled", "seed", "interpreted"],
)
def test_another_process_plays_the_same(jit: str, seed: int, steps: int) -> None:
    settings = {**os.environ, "NUMBA_DISABLE_JIT": jit, "PYTHONHASHSEED": "77"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), str(seed), str(steps)],
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    theirs = json.loads(run.stdout)
    ours = json.loads(json.dumps(play_all(seed, steps)))
    for name, lines in ours.items():
        assert len(theirs[name]) == len(lines)
        for number, line in enumerate(lines):
            assert theirs[name][number] == line, f"{name}, line {number}"


@pytest.mark.parametrize("name", environments())
def test_a_seed_starts_again(name: str) -> None:
    env = environments()[name]
    first = play(env, 6, 150)
    assert play(env, 6, 150) == first
    assert play(environments()[name], 6, 150) == first
    assert play(env, 7, 150) != first


@pytest.mark.parametrize("name", environments())
def test_copies_continue_alike_and_independently(name: str) -> None:
    env = environments()[name]
    play(env, 3, 40)
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]
    play(copies.pop(), 99, 60)  # what one does does not affect the others
    states = [one.reset() for one in (env, *copies)]
    assert all(exact(state) == exact(states[0]) for state in states)
    for _ in range(60):
        action = int(np.flatnonzero(states[0][-1]["action_mask"])[-1])
        states = [one.step(action) for one in (env, *copies)]
        assert all(exact(state) == exact(states[0]) for state in states)
        if states[0][2] or states[0][3]:
            states = [one.reset() for one in (env, *copies)]
            assert all(exact(state) == exact(states[0]) for state in states)


def test_a_copy_keeps_the_middle_of_an_episode() -> None:
    env = BoulangerEnv(max_episode_steps=9, allow_undo=True)
    _, info = env.reset(seed=8)
    for action in (728, 729, 730):
        env.step(action)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        results = [other.step(780)[4] for _ in range(3)]
        assert [result["moves"] for result in results] == [2, 1, 0]
        assert other.step(780)[4]["illegal_action"]
        other.step(728)
        assert other.step(780)[3]
        assert env.game.moves == 3
    assert info["code"] == env.game.code


@pytest.mark.parametrize("name", environments())
def test_a_spec_builds_the_same_environment(name: str) -> None:
    env = environments()[name]
    assert env.spec is not None
    for again in (gym.make(env.spec), gym.make(EnvSpec.from_json(env.spec.to_json()))):
        assert again.spec == env.spec
        assert str(again) == str(env)
        assert play(again, 4, 60) == play(env, 4, 60)


def test_a_spec_with_a_reward_goes_through_json() -> None:
    env = gym.make(
        "Boulanger-C1-v0", reward={"win": 3, "foundation": 0.5}, deals=["MS-C1-5"], deal_order="sequential"
    )
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert play(again, 4, 60) == play(env, 4, 60)
