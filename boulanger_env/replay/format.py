"""A replay as text: one JSON object, a key a line.

================  =================================================================================================
key               content
================  =================================================================================================
``format``        ``"boulanger-env replay 1"``
``code``          the game's code; or ``board``, a text board, with ``n_cells``
``score_before``  of that code or board, with ``moves_before``, if moves led to it that undo cannot reach
``before``        ids of the moves from there to where the episode began, if any: undo reaches back into them
``agent``         who played, if that is known
``settings``      the environment's keywords, if it was an episode of one
``actions``       action ids, 780 = undo
``rewards``       one for each action, with ``settings`` only
``outcome``       ``"won"``, ``"stuck"``, ``"illegal"``, ``"truncated"``, or null: it was left
``score``         at the end, by the app's count
``cards_home``    at the end
``annotations``   for each action null or what the agent thought: ``choices`` (pairs of action and probability, the
                  likeliest first), ``value``, ``note``, each only if there is one
================  =================================================================================================

Nothing in a file is run or unpickled, and all of it is checked: a replay that was changed or cut is refused.
"""

from __future__ import annotations

import json
from typing import Any

from boulanger_env.game.errors import BoulangerError
from boulanger_env.render.html import Annotation
from boulanger_env.strict_json import parse

from .parts import ReplayError, begin, origin
from .replay import Replay

KIND = "boulanger-env replay"
"""What the format of every version begins with."""
FORMAT = f"{KIND} 1"

_ORIGIN = {"code", "board", "n_cells", "score_before", "moves_before", "before"}
_REQUIRED = {"format", "actions", "outcome", "score", "cards_home"}
_OPTIONAL = {"agent", "settings", "rewards", "annotations"}
_LONGEST = 500
"""Characters of an error's message."""
_THOUGHT = {"choices", "value", "note"}


def write(replay: Replay) -> str:
    """The text of a replay."""
    content: dict[str, Any] = {"format": FORMAT, **origin(replay.start)}
    if replay.agent:
        content["agent"] = replay.agent
    if replay.settings is not None:
        content |= {"settings": dict(replay.settings)}
    content["actions"] = replay.actions
    if replay.rewards is not None:
        content["rewards"] = [int(reward) if reward.is_integer() else reward for reward in replay.rewards]
    content |= {"outcome": replay.outcome, "score": replay.end.score, "cards_home": replay.end.cards_home}
    lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in content.items()]
    if any(replay.annotations):
        rows = ",\n  ".join(json.dumps(_plain(annotation)) for annotation in replay.annotations)
        lines.append(f'"annotations": [\n  {rows}\n ]')
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _plain(annotation: Annotation | None) -> dict[str, Any] | None:
    if annotation is None:
        return None
    return {key: value for key, value in annotation._asdict().items() if value not in ((), "", None)} or None


def read(text: str) -> Replay:
    """A replay from its text, trusting nothing.

    Raises:
        ReplayError: it is none, or an episode that cannot have gone so; the message names the step.
    """
    try:
        return _read(parse(text))
    except BoulangerError as error:
        # Some messages quote what was given, which may be long.
        said = str(error)
        raise ReplayError(said if len(said) <= _LONGEST else f"{said[:_LONGEST]}...") from None


def _read(content: Any) -> Replay:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ReplayError(f"it does not say that its format is {FORMAT!r}")
    missing = sorted(_REQUIRED - set(content))
    unknown = sorted(set(content) - _REQUIRED - _OPTIONAL - _ORIGIN)
    if missing or unknown:
        raise ReplayError(f"{missing[0]!r} is missing" if missing else f"key {unknown[0]!r} is unknown")
    replay = Replay(
        start=begin(content),
        actions=content["actions"],
        outcome=content["outcome"],
        rewards=content.get("rewards"),
        settings=content.get("settings"),
        agent=content.get("agent", ""),
        annotations=tuple(map(_annotation, _list(content.get("annotations", []), "annotations"))),
    )
    for key, value in (("score", replay.end.score), ("cards_home", replay.end.cards_home)):
        if content[key] != value or type(content[key]) is not int:
            raise ReplayError(
                f"after step {len(replay.actions)}, the last one, the {key} is {value}, not {content[key]!r}: it was "
                "cut or changed"
            )
    return replay


def _annotation(value: Any) -> Annotation | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not set(value) <= _THOUGHT:
        raise ReplayError(f"an annotation is {value!r}: it may have {', '.join(sorted(_THOUGHT))}")
    return Annotation(**{**value, "choices": tuple(_list(value.get("choices", []), "choices"))})


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ReplayError(f"the {what} are not a list")
    return value
