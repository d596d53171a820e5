"""Where games come from: game codes, the schemes behind them, and named sets of codes."""

from __future__ import annotations

from boulanger_env.game.codes import SCHEMES, GameCode, Scheme, code_range, deal_code, format_code, parse_code

from .curriculum import ReverseCurriculum
from .labels import Labels
from .sets import DealSet, as_deal_set, load, set_names
from .starts import Starts

__all__ = [
    "SCHEMES",
    "DealSet",
    "GameCode",
    "Labels",
    "ReverseCurriculum",
    "Scheme",
    "Starts",
    "as_deal_set",
    "code_range",
    "deal_code",
    "format_code",
    "load",
    "parse_code",
    "set_names",
]
