"""Episodes as one HTML page with a player, which works offline and executes no text from the episodes.

The page's source files are in ``player/``. Episodes are embedded as JSON, in which ``<`` is escaped, and the script
shows them only as text. The Content-Security-Policy allows nothing but the page's own script and style.
"""

from __future__ import annotations

import html
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from boulanger_env.game.annotation import Annotation
from boulanger_env.game.cards import N_CARDS, N_RANKS
from boulanger_env.game.errors import BoulangerError, IllegalMoveError
from boulanger_env.game.game import Game
from boulanger_env.game.moves import UNDO, Move
from boulanger_env.game.state import CELLS, FOUNDATIONS, MAX_HEIGHT, TABLEAU
from boulanger_env.game.walk import walk

from .last_move import last_move_of
from .marks import MARKS, MOVED, Mark

FRAME_HEIGHT = 720
"""Height of the player in a notebook, in pixels."""


def episode(
    start: Game,
    actions: Sequence[int],
    *,
    outcome: str | None = None,
    agent: str = "",
    rewards: Sequence[float] | None = None,
    annotations: Sequence[Annotation | None] = (),
    at: int = 0,
    solvable: bool | None = None,
    strength: str = "",
    value_unit: str = "",
    proof: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The data that the player shows of an episode, as plain values.

    Args:
        start: the game before the first action.
        actions: action ids, including illegal ones and undo (780).
        outcome: how it ended.
        agent: who played.
        rewards: one per action.
        annotations: one before each action, or none at all.
        at: the step that is shown first.
        solvable: whether the game could be won from its start, as proved by the solver; None if unknown.
        strength: how good the agent is, such as "wins 8 % of c4-test".
        value_unit: what the annotations' values measure, such as "cards home still expected".
        proof: what a diagnosis found (``replay.diagnosed.in_page``).
    """
    places = _places(start)
    first = dict(places)
    steps: list[list[Any]] = []
    scores = [start.score]
    thoughts: list[dict[str, Any] | None] = []
    before = start.copy()
    # The player finds the cards that moved itself.
    marks = [(mark, None if name == MOVED else [_cards(mark, start)]) for name, mark in MARKS.items()]
    for i, step in enumerate(walk(start, actions)):
        thought = annotations[i] if len(annotations) else None
        thoughts.append(_thought(thought, before, step.action) if thought else None)
        if len(annotations):
            before = step.game.copy()
        now = _places(step.game)
        moved = [number for card in now if now[card] != places[card] for number in (card, now[card])]
        steps.append([step.text, step.error or moved])
        places = now
        scores.append(step.game.score)
        for mark, marked in marks:
            if marked is not None:
                marked.append(_cards(mark, step.game))
    return {
        "title": start.code or f"A board with {start.n_cells} cell{'s' * (start.n_cells > 1)}",
        "agent": agent,
        "strength": strength,
        "outcome": outcome,
        "solvable": solvable,
        "cells": start.n_cells,
        # The places of cards 1 to 52; a step has the cards that it moves and their new places, or its error.
        "places": [first[card] for card in range(1, N_CARDS + 1)],
        "steps": steps,
        "scores": scores,
        # Each mark's colour, and the cards that carry it in each position.
        "marks": [["#{:02x}{:02x}{:02x}".format(*mark.colour), marked] for mark, marked in marks],
        "rewards": None if rewards is None else [round(float(reward), 6) for reward in rewards],
        "thoughts": thoughts if any(thoughts) else None,
        "unit": value_unit or "on the agent's own scale",
        "at": at,
        "proof": proof,
    }


def _places(game: Game) -> dict[int, int]:
    """Each card's place, numbered as in ``game.state``: 19 per column, then the cells, then the foundations."""
    places = {
        suit * N_RANKS + rank: FOUNDATIONS + suit
        for suit, top in enumerate(game.foundations)
        for rank in range(1, top + 1)
    }
    for number, column in enumerate(game.columns):
        places |= {card: TABLEAU + number * MAX_HEIGHT + row for row, card in enumerate(column)}
    return places | {card: CELLS + number for number, card in enumerate(game.cells) if card}


def _cards(mark: Mark, game: Game) -> list[int]:
    return list(mark.cards(game, last_move_of(game)))


def _thought(thought: Annotation, game: Game, action: int) -> dict[str, Any]:
    return {
        "choices": [
            [_text(game, choice), round(float(p), 4), choice == action] for choice, p in thought.choices
        ],
        "value": None if thought.value is None else round(float(thought.value), 4),
        "note": thought.note,
    }


def _text(game: Game, action: int) -> str:
    if action == UNDO:
        return "undo"
    move = Move.from_id(action)
    try:
        return game.notation(move)
    except IllegalMoveError:
        return str(move)


@cache
def _part(name: str) -> str:
    return (files(__package__) / "player" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def render_html(episodes: Iterable[dict[str, Any]], title: str = "") -> str:
    """A page with a player, and a list to choose from if there are several episodes.

    Args:
        episodes: from ``episode`` or ``Replay.to_episode``.
        title: the page's title; by default the first game's code.

    Raises:
        BoulangerError: there is no episode.
    """
    shown = list(episodes)
    if not shown:
        raise BoulangerError("a page needs at least one episode")
    data = json.dumps(shown, separators=(",", ":"), allow_nan=False)
    style, script = _part("player.css"), _part("player.js")
    return Template(_part("page.html")).substitute(
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        title=html.escape(title or str(shown[0]["title"])).encode("ascii", "xmlcharrefreplace").decode(),
        style=style,
        script=script,
        # The other characters special to HTML or JavaScript are not ASCII, so json escapes them.
        data=data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    )


def in_frame(page: str) -> str:
    """A page in a frame for a notebook, which isolates its style and script."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" title="A game of Jeu du Boulanger" '
        f'loading="lazy" style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
    )


def player(start: Game, moves: Sequence[int], at: int = 0) -> str:
    """The player of a plain game, in a frame for a notebook.

    Args:
        start: the game before the first move.
        moves: action ids.
        at: the step that is shown first.
    """
    end = start
    for step in walk(start, moves):
        end = step.game
    return in_frame(render_html([episode(start, moves, outcome=end.outcome, at=at)]))


def game_html(game: Game) -> str:
    """The player of a game and the moves in its history, showing the last one, for a notebook."""
    start, moves = game.copy(), []
    while start.last_move is not None:
        moves.append(start.undo().id)
    return player(start, moves[::-1], at=len(moves))
