"""Text files from outside: how bytes are decoded."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from support.sample_replays import won

from boulanger_env import BoulangerError, Game
from boulanger_env.deals import load
from boulanger_env.files.texts import decode
from boulanger_env.play.session import read_board
from boulanger_env.replay import Replay

# What editors and PowerShell's > write; line ends of Windows too.
WAYS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "UTF-16 LE": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "UTF-16 BE": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "PowerShell": lambda text: b"\xff\xfe" + text.replace("\n", "\r\n").encode("utf-16-le"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_text_files_are_read_as_they_were_written(
    way: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = Game.from_code("MS-C2-617")
    (tmp_path / "board.txt").write_bytes(way(str(game) + "\n"))
    assert read_board(tmp_path / "board.txt", 2) == game
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(way(str(game)))))
    assert read_board(Path("-"), 2) == game
    (tmp_path / "set.txt").write_bytes(way("# name: été\nMS-C4-1\nMS-C4-2\n"))
    assert (load(tmp_path / "set.txt").name, *load(tmp_path / "set.txt").codes) == (
        "été",
        "MS-C4-1",
        "MS-C4-2",
    )
    (tmp_path / "game.json").write_bytes(way(won().to_json()))
    assert Replay.load(tmp_path / "game.json") == won()


@pytest.mark.parametrize("content", [b"\x80", b"\xff\xfe\x00", b"\xff\xfe\x00\xd8", b"\xef\xbb\xbf\xff"])
def test_what_is_not_text(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    for read in (lambda path: read_board(path, 4), load, Replay.load):
        with pytest.raises(BoulangerError, match="file is not a text file in UTF-8 or UTF-16"):
            read(tmp_path / "file")
    with pytest.raises(BoulangerError, match=r"^x is not a text file"):
        decode(content, "x")
