"""Hostile arrays for every function of the package that takes arrays: it accepts or rejects them, in time.

``python tests/support/hostile_arrays.py 200000`` sends that many through all of them.
"""

from __future__ import annotations

import copy
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    BoulangerVectorEnv,
    DealSet,
    Game,
    agents,
    positions,
    sample_legal,
)
from boulanger_env.deals import ReverseCurriculum, Starts
from boulanger_env.envs import board_from_observation, feature
from boulanger_env.solver import solve, verdicts, winning_moves
from boulanger_env.wrappers import MaskInObservation

Random = np.random.Generator
DTYPES = "?bBhHiIlLfdgFDOUSM"


READERS: tuple[Callable[[Any], Any], ...] = (
    positions.masks,
    positions.outcomes,
    positions.keys,
    positions.observe,
    positions.inputs,
    lambda rows: positions.observe(rows, "cards"),
    positions.to_games,
    positions.auto_foundation,
    lambda rows: positions.masks(rows, actions="taps"),
    lambda rows: positions.expand(rows, auto_foundation=True).children,
    lambda rows: positions.expand(rows, actions="cards", prune=True).children,
)
"""What takes positions alone."""


class Refuses:
    """An object that will not be an array."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("not today")


def _entries(random: Random, array: Any) -> Any:
    """A few entries changed, to a neighbour, to a far number or to each other."""
    changed = np.array(array)
    if not changed.size:
        return changed
    flat = changed.reshape(-1)
    for _ in range(random.integers(1, 4)):
        i, j = random.integers(flat.size, size=2)
        kind = random.integers(3)
        if kind == 0:
            flat[i], flat[j] = flat[j], flat[i]
        elif flat.dtype.kind in "iub":
            low, high = (
                (0, 2) if flat.dtype.kind == "b" else (np.iinfo(flat.dtype).min, np.iinfo(flat.dtype).max)
            )
            flat[i] = random.integers(low, high) if kind == 1 else min(int(flat[j]) + 1, high)
        else:
            flat[i] = random.normal() * 1e9
    return changed


def _other_type(random: Random, array: Any) -> Any:
    with np.errstate(all="ignore"):
        given = np.array(array)
        kind = DTYPES[random.integers(len(DTYPES))]
        return (
            given.astype("M8[s]")
            if kind == "M" and given.dtype.kind in "iu"
            else given.astype(kind if kind != "M" else "O")
        )


def _other_shape(random: Random, array: Any) -> Any:
    given = np.array(array)
    return [
        lambda: given[..., :-1],
        lambda: given[None],
        lambda: np.stack([given, given]),
        lambda: given.reshape(-1),
        lambda: np.concatenate([given, given], axis=-1) if given.ndim else given,
        lambda: np.zeros((0, *given.shape), given.dtype),
        lambda: given.T,
        lambda: np.array(given.flat[0] if given.size else 0),
    ][random.integers(8)]()


def _other_memory(random: Random, array: Any) -> Any:
    """The same numbers, lying otherwise."""
    given = np.array(array)
    kind = random.integers(4)
    if kind == 0:
        given.flags.writeable = False
    elif kind == 1:
        given = np.repeat(given, 2, axis=-1)[..., ::2] if given.ndim else given
    elif kind == 2:
        given = given.astype(given.dtype.newbyteorder())
    else:
        given = np.asfortranarray(given)
    return given


def _noise(random: Random, array: Any) -> Any:
    given = np.array(array)
    numbers = random.integers(0, [2, 14, 54, 256][random.integers(4)], given.shape)
    return numbers.astype(given.dtype if given.dtype.kind in "iub" else np.uint8)


def _specials(random: Random, array: Any) -> Any:
    return [
        None, [], {}, "cards", b"\xff" * 52, 10**30, float("nan"), Refuses(), [[1], [2, 3]], object(),
        np.float64("inf"), -1, {1, 2}, iter([1]), [None] * 4, ["a", 1], np.array([np.nan] * 780),
        np.ma.masked, range(60), True,
    ][random.integers(20)]  # fmt: skip


MUTATIONS = (
    lambda random, array: array,
    _entries,
    _entries,
    _entries,
    _other_type,
    _other_shape,
    _other_memory,
    _noise,
    _specials,
    lambda random, array: (
        np.array(array) * random.integers(2, 6) if np.array(array).dtype.kind in "iu" else array
    ),
    lambda random, array: np.array(array).tolist(),
    lambda random, array: (
        np.full_like(np.array(array), random.integers(256) if np.array(array).dtype != bool else 1)
        if np.array(array).dtype.kind in "iub"
        and np.array(array).dtype.itemsize > 0
        and np.array(array).dtype != np.int8
        else array
    ),
)


def hostile(random: Random, array: Any) -> Any:
    """Something made of an array that would be right."""
    try:
        return MUTATIONS[random.integers(len(MUTATIONS))](random, array)
    except (IndexError, TypeError, ValueError, OverflowError):  # it cannot be changed in that way
        return _specials(random, array)


def some(random: Random, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of which one, or each, is hostile."""
    names = list(given)
    which = names if random.integers(4) == 0 else [names[random.integers(len(names))]]
    return {name: hostile(random, value) if name in which else value for name, value in given.items()}


class Odd(gym.Wrapper[Any, Any, Any, Any]):
    """A wrapper of somebody else's, whose masks are not those of the environment."""

    def __init__(self, env: gym.Env[Any, Any], random: Random) -> None:
        super().__init__(env)
        self.random = random

    def reset(self, **keywords: Any) -> Any:
        """The environment's reset, with another mask."""
        observation, info = self.env.reset(**keywords)
        return observation, {**info, "action_mask": hostile(self.random, info["action_mask"])}

    def step(self, action: Any) -> Any:
        """The environment's step, with another mask."""
        *rest, info = self.env.step(action)
        return *rest, {**info, "action_mask": hostile(self.random, info["action_mask"])}


class Doors:
    """What a caller of the package can give arrays to; each method sends one lot through one door."""

    def __init__(self, seed: int) -> None:
        self.random = random = np.random.default_rng(seed)
        self.envs = {kind: BoulangerEnv(observation=kind, allow_undo=True) for kind in ("features", "cards")}
        self.batches = {n: BoulangerVectorEnv(n, observation="cards") for n in (1, 5)}
        for i, env in enumerate([*self.envs.values(), *self.batches.values()]):
            env.reset(seed=int(random.integers(1000)) + i)
        self.agents = [agents.make(name) for name in ("random", "greedy")]
        self.agents += [agents.make("heuristic", nodes=5), agents.make("solver", nodes=300, quality="any")]
        self.wrapped = [
            MaskInObservation(Odd(BoulangerEnv(actions=actions), random))
            for actions in ("places", "cards", "taps")
        ]
        game = Game.from_code("MS-C4-1")
        self.curriculum = ReverseCurriculum(Starts([game, game], [0, 1]))
        self._compile()

    def _compile(self) -> None:
        """Call every kernel once, so that no lot has to wait for it."""
        game = Game.from_code("MS-C4-1")
        game.push(game.legal_moves()[0])
        solve(game, node_limit=500)
        winning_moves(game, node_limit=30)
        verdicts(np.arange(1, 53)[None], 4)
        rows = positions.from_games([game])
        for read in READERS:
            read(rows)
        positions.play(rows, [733])
        use(self.random, game.copy())
        copy.copy(game).undo()
        sample_legal(np.ones((1, 780), bool), np.zeros(1, np.uint64))
        for env in self.envs.values():
            observation, info = env.reset()
            env.step(780)
            for agent in self.agents:
                agent(observation, info["action_mask"], info)
        for batch in self.batches.values():
            batch.step(np.zeros(batch.num_envs, np.int64))
            batch.reset(options={"reset_mask": np.ones(batch.num_envs, bool)})
        for wrapped in self.wrapped:
            wrapped.unwrapped.reset()
            wrapped.unwrapped.step(0)

    def _played(self, most: int = 60) -> Game:
        game = Game.from_code(f"MS-C{[4, 2, 1][self.random.integers(3)]}-{self.random.integers(1, 32000)}")
        for _ in range(self.random.integers(most)):
            if not (moves := game.legal_moves()):
                break
            game.push(moves[self.random.integers(len(moves))])
        return game

    def _seen(self) -> tuple[Any, Any, dict[str, Any]]:
        """An observation of one game or of some, with masks and info."""
        kind = ("features", "cards")[self.random.integers(2)]
        env = self.envs[kind]
        game = self._played()
        while game.outcome is not None:
            game = self._played()
        observation, info = env.reset(options={"game": game})
        mask = info["action_mask"]
        if self.random.integers(3) == 0:
            observation = (
                np.stack([observation] * 3)
                if kind == "features"
                else {k: np.stack([v] * 3) for k, v in observation.items()}
            )
            return observation, np.stack([mask] * 3), {"moves": np.array([info["moves"], 0, 3])}
        return observation, mask, info

    def _hostile_observation(self, observation: Any) -> Any:
        if isinstance(observation, dict):
            changed = some(self.random, observation)
            if self.random.integers(20) == 0:
                del changed["cells"]
            return changed
        return hostile(self.random, observation)

    def observations(self) -> None:
        """``board_from_observation``, and what it lets through: positions, to be sure."""
        boards = board_from_observation(self._hostile_observation(self._seen()[0])).reshape(-1, 184)
        for board in boards:
            assert is_board(board), board.tolist()

    def features(self) -> None:
        """``feature``."""
        observation = hostile(self.random, self.envs["features"].reset()[0])
        if isinstance(observation, np.ndarray):
            feature(observation, "column")

    def acting(self) -> None:
        """The agents."""
        agent = self.agents[self.random.integers(len(self.agents))]
        observation, mask, info = self._seen()
        if self.random.integers(2):
            observation = self._hostile_observation(observation)
        else:
            given = some(self.random, {"mask": mask, "moves": info["moves"]})
            mask, info = given["mask"], {"moves": given["moves"]}
        agent(observation, mask, info)

    def slots(self) -> None:
        """``reset`` of the agents."""
        agent = self.agents[self.random.integers(len(self.agents))]
        agent.reset(**some(self.random, {"games": np.arange(4), "slots": np.arange(4)}))
        if self.random.integers(50) == 0:
            agent.seed(0)

    def rows(self) -> None:
        """``Game(...)``, and play with what it accepts."""
        game = self._played(130)
        rows = some(self.random, {"board": game._board, "counters": game._counters, "history": game._history})
        use(self.random, Game(**rows))

    def pickles(self) -> None:
        """What a pickle of a game holds."""
        game = self._played()
        state = some(
            self.random, dict(zip(("board", "counters", "history"), game.__getstate__(), strict=False))
        )
        other = copy.copy(game)
        other.__setstate__((*state.values(), None))  # type: ignore[arg-type]
        use(self.random, other)

    def columns(self) -> None:
        """``Game.from_columns``."""
        game = self._played()
        parts: dict[str, Any] = {
            "cells": game.cells,
            "foundations": game.foundations,
            "columns": list(game.columns),
        }
        if self.random.integers(2):
            i = self.random.integers(8)
            parts["columns"][i] = hostile(self.random, np.array(parts["columns"][i], np.int64))
        else:
            parts = (
                some(self.random, parts)
                if self.random.integers(2)
                else parts
                | {
                    "cells": hostile(self.random, np.array(game.cells)),
                    "foundations": hostile(self.random, np.array(game.foundations)),
                }
            )
        use(self.random, Game.from_columns(n_cells=game.n_cells, **parts))

    def decks(self) -> None:
        """``Game.from_deck`` and ``verdicts``."""
        deck = self.random.permutation(52) + 1
        if self.random.integers(2):
            use(self.random, Game.from_deck(hostile(self.random, deck)))
        else:
            given = some(self.random, {"deals": deck[None].astype(np.uint8), "n_cells": np.array([4])})
            verdicts(**given)

    def position_rows(self) -> None:
        """Each function of ``boulanger_env.positions``, and ``verdicts``."""
        games = [self._played() for _ in range(self.random.integers(1, 4))]
        rows = hostile(self.random, positions.from_games(games))
        found = READERS[self.random.integers(len(READERS))](rows)
        if isinstance(found, np.ndarray) and found.dtype == np.uint8 and found.shape[1:] == (184,):
            assert all(is_board(row) for row in found)
        if self.random.integers(8) == 0:
            verdicts(rows)

    def position_moves(self) -> None:
        """``positions.play``."""
        game = self._played()
        while game.outcome is not None:
            game = self._played()
        rows = positions.from_games([game] * 3)
        actions = ("places", "cards", "taps")[self.random.integers(3)]
        legal = np.flatnonzero(positions.masks(rows[:1], actions=actions))
        given = some(self.random, {"positions": rows, "chosen": self.random.choice(legal, 3)})
        assert all(is_board(row) for row in positions.play(**given, actions=actions))

    def labels(self) -> None:
        """``DealSet``."""
        codes = ["MS-C4-1", "MS-C4-2", "MS-C4-3"]
        arrays = some(
            self.random,
            {
                "solvable": np.ones(3, bool),
                "length": np.array([80, 70, 60], np.int16),
                "nodes": np.ones(3, np.int32),
            },
        )
        DealSet("some", codes, tuple(arrays.values()))  # type: ignore[arg-type]

    def masks(self) -> None:
        """``sample_legal``."""
        masks = self.random.random((3, 780)) < 0.1
        mask = masks.astype([np.int8, np.uint8, bool][self.random.integers(3)])
        given = some(self.random, {"masks": mask, "rng_state": np.arange(3, dtype=np.uint64)})
        if given["rng_state"] is not None:
            sample_legal(**given)

    def wrappers(self) -> None:
        """The wrappers, around one that changes masks."""
        env = self.wrapped[self.random.integers(len(self.wrapped))]
        _, info = env.reset()
        for _ in range(3):
            legal = np.flatnonzero(info["action_mask"])
            _, _, terminated, truncated, info = env.step(int(legal[0]) if len(legal) else 0)
            if terminated or truncated:
                break

    def actions(self) -> None:
        """``step``, single and batch."""
        if self.random.integers(2):
            env = self.envs["cards"]
            if env._state != "playing":
                env.reset()
            env.step(hostile(self.random, np.array(self.random.integers(780))))
        else:
            self.batches[5].step(hostile(self.random, self.random.integers(780, size=5)))

    def resets(self) -> None:
        """``reset`` of the batch."""
        batch = self.batches[5]
        options = some(self.random, {"codes": np.array(["MS-C4-1"] * 5), "reset_mask": np.ones(5, bool)})
        batch.reset(seed=hostile(self.random, np.arange(5)), options=options)

    def starts(self) -> None:
        """``Starts``, and play from what it accepts."""
        games = [game for game in (self._played() for _ in range(3)) if game.outcome is None]
        if not games:
            return
        given: dict[str, Any] = {
            "positions": positions.from_games(games),
            "left": np.arange(len(games), dtype=np.int32),
            "weights": np.ones(len(games)),
            "deal_share": 0.5,
        }
        starts = Starts(**some(self.random, given))
        assert all(is_board(row) for row in starts.positions)
        starts.weights = hostile(self.random, starts.weights)
        assert np.isfinite(starts.tables.cumulative).all()

    def states(self) -> None:
        """``set_state`` of the batch, and play from what it accepts."""
        batch = self.batches[5]
        batch.set_state(some(self.random, batch.get_state()))
        assert all(is_board(row) for row in positions.from_games([batch.game(i) for i in range(5)]))
        state = batch.get_state([1, 3])
        indices = hostile(self.random, np.array([0, 4]))
        batch.set_state(state, indices)
        batch.get_state(indices)

    def curricula(self) -> None:
        """``ReverseCurriculum.update`` and ``set_state``."""
        infos = {"group": np.array([-1, 0, 1]), "is_success": np.array([True, False, True])}
        given = some(self.random, {**infos, "ended": np.ones(3, bool)})
        ended = given.pop("ended")
        self.curriculum.update(given, True if ended is None else ended)
        self.curriculum.set_state(some(self.random, self.curriculum.get_state()))
        assert np.isfinite(self.curriculum.starts.tables.cumulative).all()


def use(random: Random, game: Game) -> None:
    """What any user may do with a game."""
    assert is_board(game._board)
    for _ in range(random.integers(1, 30)):
        moves = game.legal_moves()
        if not moves:
            break
        game.push(moves[random.integers(len(moves))])
    assert is_board(game._board)
    if random.integers(8) == 0:
        solve(game, node_limit=500)
        winning_moves(game, node_limit=30)
    while game.last_move is not None:
        game.undo()
        assert is_board(game._board)


def is_board(board: Any) -> bool:
    """A second reading of what a position is, from the rules: each card in one place, 4, 2 or 1 cells."""
    columns = board[:152].reshape(8, 19).tolist()
    cells, home = board[152:156].tolist(), board[156:160].tolist()
    heights = [next((i for i, card in enumerate(column) if not card), 19) for column in columns]
    if any(any(column[height:]) for column, height in zip(columns, heights, strict=True)):
        return False
    if cells not in ([c if c != 53 else -1 for c in cells[:n]] + [53] * (4 - n) for n in (4, 2, 1)):
        return False
    lying = [card for column in columns for card in column if card] + [c for c in cells if c not in (0, 53)]
    lying += [13 * suit + rank + 1 for suit in range(4) for rank in range(home[suit])]
    return sorted(lying) == list(range(1, 53))


def names() -> list[str]:
    """The doors."""
    return [name for name, method in vars(Doors).items() if not name.startswith("_") and callable(method)]


def attack(door: str, seed: int, count: int, most_seconds: float = 1.0) -> Counter[str]:
    """Send ``count`` lots through a door; returns how many were taken and how many refused.

    Raises:
        AssertionError: another error than a ``BoulangerError``, or one that took too long.
    """
    doors = Doors(seed)
    seen: Counter[str] = Counter()
    send: Callable[[], None] = getattr(doors, door)
    for i in range(count):
        start = time.process_time()
        try:
            send()
            seen["taken"] += 1
        except BoulangerError as error:
            seen["refused"] += 1
            if "\n" in str(error) or len(str(error)) > 600:
                raise AssertionError(
                    f"{door}, lot {i} of seed {seed}: not a message to read: {error}"
                ) from error
        except Exception as error:
            raise AssertionError(
                f"{door}, lot {i} of seed {seed}: {type(error).__name__}: {error}"
            ) from error
        took = time.process_time() - start
        if took > most_seconds:
            raise AssertionError(f"{door}, lot {i} of seed {seed} took {took:.1f} s")
    return seen


def _report(total: int) -> Iterator[str]:
    each = -(-total // len(names()))
    for door in names():
        start = time.perf_counter()
        seen = attack(door, 0, each)
        yield f"{door:14} {dict(seen)} {time.perf_counter() - start:.0f} s"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    for line in _report(int(sys.argv[1]) if len(sys.argv) > 1 else 2000):
        print(line, flush=True)
