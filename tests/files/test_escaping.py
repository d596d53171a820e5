"""Text from files and names is escaped where it is shown, and JSON is read strictly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.hostile_text import HOSTILE

from boulanger_env.escaping import in_markdown, printable
from boulanger_env.files.strict_json import JSONError, parse
from boulanger_env.replay import Replay, ReplayError


def test_nothing_is_left_that_a_terminal_obeys() -> None:
    assert printable("plain é 漢 ±") == "plain é 漢 ±"
    shown = printable(HOSTILE)
    assert shown.isprintable()
    assert "\\x1b]0;owned\\x07\\n" in shown
    assert printable("\ud800").encode() == b"\\ud800"
    assert printable("a" * 100_000, 60) == "a" * 59 + "…"


def test_markdown_shows_a_text_as_it_is() -> None:
    markdown = pytest.importorskip("markdown")
    html: str = markdown.markdown(f"Name: {in_markdown(HOSTILE)}")
    text = html.removeprefix("<p>").removesuffix("</p>")
    assert "<" not in text
    # Python-Markdown leaves two as they are that only GitHub knows: the bar of a table and the dollar of a formula.
    shown = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert shown.replace(r"\|", "|").replace(r"\$", "$") == f"Name: {printable(HOSTILE)}"


@pytest.mark.parametrize("argument", ["\x1b]0;owned\x07", "a\nb", "[red]x[/red]"])
def test_an_error_is_one_line_of_text(
    argument: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from boulanger_env.cli import main

    # As an OSError and as an error of this package.
    for arguments in (["compare", argument], ["deal", argument], ["bench", "--agent", argument]):
        monkeypatch.setattr("sys.argv", ["boulanger", *arguments])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr().err
        assert said.endswith("\n")
        assert said[:-1].isprintable(), said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "b": {"x": 1, "y": 2, "x": 3}}', "key 'x' comes twice"),
        ("[NaN]", "NaN is not a number"),
        ("-Infinity", "-Infinity is not a number"),
        ("1e999", "1e999 is too large a number"),
        ("1" + 400 * "0", "a number of 401 digits"),
        ("1" * 5000, "a number of 5000 digits"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff", "not JSON"),
        ("", "not JSON"),
        ("{'a': 1}", "not JSON"),
    ],
)
def test_what_is_not_strict_json(text: str | bytes, said: str) -> None:
    with pytest.raises(JSONError, match=said):
        parse(text)


@pytest.mark.parametrize("value", [None, True, [1, -2.5, "é"], {"a": {"b": []}}, 2**64 - 1, -(2**63)])
def test_strict_json_is_json(value: Any) -> None:
    assert parse(json.dumps(value)) == value
    assert parse(json.dumps(value).encode()) == value


def test_a_replay_with_a_doubled_key_is_refused(tmp_path: Path) -> None:
    from boulanger_env import Game
    from boulanger_env.replay.replay import replay_of

    text = replay_of(Game.from_code("MS-C4-1"), [733]).to_json()
    assert Replay.from_json(text).actions == (733,)
    with pytest.raises(ReplayError, match="key 'format' comes twice"):
        Replay.from_json('{"format": "no replay",' + text[1:])
