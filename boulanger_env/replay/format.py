"""A replay as text: one JSON object, one key per line.

================  =================================================================================================
key               content
================  =================================================================================================
``format``        ``"boulanger-env replay 1"``
``code``          the game's code; or ``board``, a text board, with ``n_cells``
``score_before``  of that code or board, with ``moves_before``, if moves led to it that undo cannot reach
``before``        ids of the moves from there to where the episode began, if any: undo reaches back into them
``agent``         who played, if known
``settings``      the environment's keywords, if the episode comes from an environment
``actions``       action ids, 780 = undo
``rewards``       one per action, only with ``settings``
``outcome``       ``"won"``, ``"stuck"``, ``"illegal"``, ``"truncated"``, or null: unfinished
``score``         at the end, by the app's count
``cards_home``    at the end
``annotations``   for each action null or what the agent thought: ``choices`` (pairs of action and probability, the
                  likeliest first), ``value``, ``note``, each only if there is one
================  =================================================================================================

Nothing in a file is executed or unpickled, and everything is checked: an altered or truncated replay is rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from boulanger_env.files.strict_json import parse
from boulanger_env.game.annotation import Annotation

from .parts import ReplayError

KIND = "boulanger-env replay"
"""The beginning of every version's format."""
FORMAT = f"{KIND} 1"

_ORIGIN = {"code", "board", "n_cells", "score_before", "moves_before", "before"}
_REQUIRED = {"format", "actions", "outcome", "score", "cards_home"}
_OPTIONAL = {"agent", "settings", "rewards", "annotations"}
_THOUGHT = {"choices", "value", "note"}


def write(content: Mapping[str, Any]) -> str:
    """The text of a replay from its keys (all but ``format``, in the order of the file) and their values."""
    annotations: Sequence[Annotation | None] = content["annotations"]
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}"
        for key, value in {"format": FORMAT, **content}.items()
        if key != "annotations"
    ]
    if any(annotations):
        rows = ",\n  ".join(json.dumps(_plain(annotation)) for annotation in annotations)
        lines.append(f'"annotations": [\n  {rows}\n ]')
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _plain(annotation: Annotation | None) -> dict[str, Any] | None:
    if annotation is None:
        return None
    return {key: value for key, value in annotation._asdict().items() if value not in ((), "", None)} or None


def read(text: str) -> dict[str, Any]:
    """The keys of a replay and their values, as ``write`` takes them, from its text.

    Only the text is checked: that it has the right keys and well-formed annotations.

    Raises:
        BoulangerError: it is not the text of a replay.
    """
    content = parse(text)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ReplayError(f"it does not say that its format is {FORMAT!r}")
    missing = sorted(_REQUIRED - set(content))
    unknown = sorted(set(content) - _REQUIRED - _OPTIONAL - _ORIGIN)
    if missing or unknown:
        raise ReplayError(f"{missing[0]!r} is missing" if missing else f"key {unknown[0]!r} is unknown")
    del content["format"]
    annotations = _list(content.get("annotations", []), "annotations")
    return {**content, "annotations": tuple(map(_annotation, annotations))}


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
