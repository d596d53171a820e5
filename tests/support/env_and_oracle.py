"""The same game in the environment and in the oracle."""

from __future__ import annotations

from random import Random
from typing import Any

import gymnasium as gym
import numpy as np
from oracle import ID, UNDO, Oracle, Triple

from boulanger_env import BoulangerEnv, Game
from support.random_games import random_code, random_endgame, random_start


def game_of(oracle: Oracle) -> Game:
    """The oracle's position as a Game without a past."""
    return Game.from_columns(oracle.columns, oracle.cells, oracle.home, len(oracle.cells))


def start(random: Random, env: gym.Env[Any, Any], n_cells: int) -> tuple[Oracle, dict[str, Any]]:
    """A position that is not over, in the oracle and in the environment, with the info of its reset."""
    while True:
        kind = random.random()
        if kind < 0.3:
            code = random_code(random, "BK1", n_cells)
            return Oracle.from_code(code), env.reset(options={"code": code})[1]
        oracle = random_start(random, "MS", n_cells) if kind < 0.6 else random_endgame(random, n_cells)
        if oracle.outcome is None:
            return oracle, env.reset(options={"game": game_of(oracle)})[1]


def same_position(env: gym.Env[Any, Any], oracle: Oracle) -> bool:
    """Whether cards, score and move count are the same in both."""
    assert isinstance(env.unwrapped, BoulangerEnv)
    game = env.unwrapped.game
    return (
        [list(column) for column in game.columns] == oracle.columns
        and list(game.cells) == oracle.cells
        and list(game.foundations) == oracle.home
        and (game.score, game.moves) == (oracle.score, oracle.moves)
    )


def mask_of(oracle: Oracle, prune: bool = False, undo: bool = False) -> list[int]:
    """The environment's mask, by the oracle."""
    mask = [0] * (780 + undo)
    for move in oracle.pruned() if prune else oracle.legal():
        mask[ID[move]] = 1
    if undo:
        mask[UNDO] = int(bool(oracle.past))
    return mask


def masks_agree(env: gym.Env[Any, Any], info: dict[str, Any]) -> bool:
    """Whether ``info["action_mask"]`` and ``action_masks()`` are the same, of the right types and widths."""
    shown, asked = info["action_mask"], env.get_wrapper_attr("action_masks")()
    assert isinstance(env.action_space, gym.spaces.Discrete)
    return bool(
        shown.dtype == np.int8
        and asked.dtype == np.bool_
        and shown.shape == asked.shape == (env.action_space.n,)
        and (shown == asked).all()
    )


def legal_actions(info: dict[str, Any]) -> list[int]:
    """The actions that an info's mask allows."""
    return np.flatnonzero(info["action_mask"]).tolist()


def card_of(oracle: Oracle, move: Triple) -> int:
    """The card that a move is named by: of a group the lowest in the column."""
    s, _, k = move
    return oracle.columns[s][-k] if s < 8 else oracle.cells[s - 8]


def exact(value: Any) -> Any:
    """A step's or a reset's result in a form that ``==`` compares to the last bit."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: exact(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [exact(entry) for entry in value]
    return type(value), value


def cards_of(oracle: Oracle) -> dict[str, list[Any]]:
    """What the "cards" observation shows of the oracle's position."""
    return {
        "tableau": [column + [0] * (19 - len(column)) for column in oracle.columns],
        "cells": oracle.cells + [53] * (4 - len(oracle.cells)),
        "foundations": oracle.home,
    }
