"""Where games come from: game codes, the schemes behind them, and named sets of codes."""

from __future__ import annotations

from boulanger_env.game.game import Game

from .codes import (
    SCHEMES,
    GameCode,
    Scheme,
    code_range,
    deal_code,
    format_code,
    parse_code,
)
from .labels import Labels
from .sets import DealSet, as_deal_set, load, set_names

__all__ = [
    "SCHEMES",
    "DealSet",
    "GameCode",
    "Labels",
    "Scheme",
    "as_deal_set",
    "code_range",
    "deal_code",
    "format_code",
    "load",
    "parse_code",
    "set_names",
]

# ``Game.from_code`` deals through this; the game package itself imports nothing from here.
Game.register_dealer(deal_code)
