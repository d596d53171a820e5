"""The actions of a game as one short text: two base32 symbols each, high one first, with the alphabet of game codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boulanger_env.game import Game
from boulanger_env.game.bk1 import SYMBOLS
from boulanger_env.game.errors import BoulangerError
from boulanger_env.game.moves import UNDO
from boulanger_env.game.walk import NOTHING, as_played

_BASE = len(SYMBOLS)
_NONE = 255
_VALUES = np.full(256, _NONE, np.uint8)
_VALUES[np.frombuffer(SYMBOLS.encode(), np.uint8)] = np.arange(_BASE)


def encode(actions: Iterable[int]) -> str:
    """The text of action ids 0..780, 780 = undo.

    >>> encode([733, 741, 0])
    'W5XFAA'
    """
    return "".join(SYMBOLS[action // _BASE] + SYMBOLS[action % _BASE] for action in actions)


def decode(text: str) -> NDArray[np.int16]:
    """The action ids, int16 ``(steps,)``, of a text.

    Raises:
        BoulangerError: it is not such a text.

    >>> decode("W5XFAA")
    array([733, 741,   0], dtype=int16)
    """
    values = _VALUES[np.frombuffer(text.encode("utf-8", "replace"), np.uint8)]
    if len(values) % 2 or (values == _NONE).any():
        raise BoulangerError(
            f"{text[:40]!r} is not the text of a game's actions: two symbols of A-Z and 2-7 each"
        )
    actions = values[0::2].astype(np.int16) * _BASE + values[1::2]
    if (actions > UNDO).any():
        raise BoulangerError(f"action {int(actions.max())} does not exist: they go from 0 to {UNDO} (undo)")
    return actions


def played(code: str, text: str, settings: Mapping[str, Any]) -> list[int]:
    """All that was played in a game of a run: its actions, without those that its settings refused, and with what
    played itself.

    Args:
        code: the game.
        text: its actions.
        settings: the run's.
    """
    actions: list[int] = decode(text).tolist()
    rules = {key: bool(settings[key]) for key in ("auto_foundation", "no_repeats")}
    if not any(rules.values()):
        return actions
    everything = as_played(Game.from_code(code), actions, **rules)
    return [action for action, _ in everything if action != NOTHING]
