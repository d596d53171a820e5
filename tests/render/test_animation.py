"""Films of played games: the frames are the game's pictures, and a file is written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import drawn_tables as tables

pytest.importorskip("PIL")

from PIL import Image

from boulanger_env import BoulangerError, Game, IllegalMoveError, Move
from boulanger_env.render import animation, render_rgb, write_gif, write_mp4

SMALL = (480, 320)
UNDO = 780
# imageio-ffmpeg does not close the pipes of the program it reads from.
OTHERS_LEAKS = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def played(n: int) -> tuple[Game, list[int]]:
    """A start and the ids of the first moves of a game that is won."""
    solution = next(game for game in tables.peer_games() if "-C4-" in game["code"])
    return Game.from_code(solution["code"]), [Move(*move).id for move in solution["moves"][:n]]


def pictures(start: Game, actions: list[int]) -> list[Any]:
    game = start.copy()
    frames = [render_rgb(game, SMALL)]
    for action in actions:
        if action == UNDO:
            game.undo()
        else:
            game.push(Move.from_id(action))
        frames.append(render_rgb(game, SMALL))
    return frames


@pytest.mark.parametrize("n", [0, 1, 200])
def test_a_gif_shows_the_game(tmp_path: Path, n: int) -> None:
    start, actions = played(n)
    if n == 1:
        actions += [UNDO, actions[0]]
    before = start.copy()
    path = tmp_path / "game.gif"
    write_gif(path, start, actions, size=SMALL, fps=5, hold=1.5)
    assert start == before
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]
    frames = pictures(start, actions)
    with Image.open(path) as film:
        assert getattr(film, "n_frames", 1) == len(frames)
        assert film.size == SMALL
        assert n == 0 or film.info["loop"] == 0
        for i, frame in enumerate(frames):
            film.seek(i)
            assert film.info["duration"] == (1700 if i == len(frames) - 1 else 200)
            apart = np.abs(np.asarray(film.convert("RGB")).astype(int) - frame)
            assert apart.mean() < 0.6
            assert (apart.max(axis=-1) > 60).mean() < 0.001


def test_the_last_frame_says_how_it_ended(tmp_path: Path) -> None:
    start, actions = played(2)
    write_gif(tmp_path / "game.gif", start, actions, size=SMALL, outcome="truncated")
    game = start.copy()
    with Image.open(tmp_path / "game.gif") as film:
        for i, action in enumerate([*actions, None]):
            film.seek(i)
            expected = render_rgb(game, SMALL, "truncated" if action is None else None)
            assert np.abs(np.asarray(film.convert("RGB")).astype(int) - expected).mean() < 0.6
            if action is not None:
                game.push(Move.from_id(action))


def test_a_gif_is_not_held_in_memory(tmp_path: Path) -> None:
    """Frames are written as they are drawn: none lives on when the next but one is made."""
    start = Game.from_code("MS-C4-1")
    held: list[weakref.ref[Any]] = []
    most = 0
    original = animation.game_frames

    def frames(*given: Any) -> Iterator[Any]:
        nonlocal most
        for frame in original(*given):
            held.append(weakref.ref(frame))
            most = max(most, sum(one() is not None for one in held))
            yield frame

    image = animation.Image.frombytes
    pictures: list[weakref.ref[Any]] = []
    alive = 0

    def counted(*given: Any) -> Any:
        nonlocal alive
        made = image(*given)
        pictures.append(weakref.ref(made))
        alive = max(alive, sum(one() is not None for one in pictures))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(animation, "game_frames", frames)
        patch.setattr(animation.Image, "frombytes", counted)
        write_gif(tmp_path / "game.gif", start, [733, UNDO] * 15, size=(240, 160))
    assert len(held) == 31
    assert len(pictures) >= 31
    assert max(most, alive) <= 3


def test_gif_bytes_are_the_same_each_time(tmp_path: Path) -> None:
    start, actions = played(5)
    for name in "ab":
        write_gif(tmp_path / name, start, actions, size=SMALL)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@OTHERS_LEAKS
@pytest.mark.parametrize("size", [SMALL, (481, 321)])
def test_an_mp4_shows_the_game(tmp_path: Path, size: tuple[int, int]) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    start, actions = played(6)
    path = tmp_path / "game of the day"
    write_mp4(path, start, actions, size=size, fps=5, hold=0.6)
    assert [file.name for file in tmp_path.iterdir()] == ["game of the day"]
    reader = ffmpeg.read_frames(str(path))
    about = next(reader)
    width, height = about["size"]
    assert (width, height) == (size[0] + size[0] % 2, size[1] + size[1] % 2)
    assert about["fps"] == 5
    frames = [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]
    assert len(frames) == 1 + len(actions) + 3
    game = start.copy()
    for action, frame in zip(actions, frames[1:], strict=False):
        game.push(Move.from_id(action))
        apart = np.abs(frame[: size[1], : size[0]].astype(int) - render_rgb(game, size))
        assert apart.mean() < 4


@pytest.mark.parametrize("write", [write_gif, write_mp4])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fps": 0}, "fps=0"),
        ({"fps": "fast"}, "fps='fast'"),
        ({"fps": float("inf")}, "fps=inf"),
        ({"hold": -1}, "hold=-1"),
        ({"hold": float("nan")}, "hold=nan"),
        ({"size": (1, 1)}, "render_size="),
    ],
)
def test_what_cannot_be(tmp_path: Path, write: Any, change: dict[str, Any], words: str) -> None:
    if write is write_mp4:
        pytest.importorskip("imageio_ffmpeg")
    start, actions = played(2)
    with pytest.raises(BoulangerError, match=words):
        write(tmp_path / "film", start, actions, **change)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [write_gif, write_mp4])
def test_an_illegal_action_is_named_and_nothing_written(tmp_path: Path, write: Any) -> None:
    if write is write_mp4:
        pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "film.mp4"
    path.write_text("an earlier film")
    start, actions = played(3)
    for wrong in (-1, 781, 743, "6a"):
        with pytest.raises(IllegalMoveError, match=r"^action 4 of 5: "):
            write(path, start, [*actions, wrong, 0], size=SMALL)
    with pytest.raises(IllegalMoveError, match=r"^action 1 of 1: nothing to undo"):
        write(path, start, [UNDO], size=SMALL)
    assert path.read_text() == "an earlier film"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("write", [write_gif, write_mp4])
def test_a_film_that_cannot_be_finished_leaves_the_last_one(
    tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if write is write_mp4:
        pytest.importorskip("imageio_ffmpeg")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "film.mp4"
    path.write_text("an earlier film")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(path, *played(2), size=SMALL)
    assert path.read_text() == "an earlier film"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name != "posix", reason="limits of a Unix")
@pytest.mark.parametrize("name", ["gif", "mp4"])
def test_a_film_that_finds_no_room_is_an_error(tmp_path: Path, name: str) -> None:
    """A limit on the size of files stands for a full disk: a video is noticed to be cut only at its end."""
    if name == "mp4":
        pytest.importorskip("imageio_ffmpeg")
    program = (
        "import resource, sys\n"
        "from boulanger_env import Game\n"
        "from boulanger_env.render import write_gif, write_mp4\n"
        "Game.from_code('MS-C4-1').legal_moves()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, -1))\n"
        f"write_{name}(sys.argv[1], Game.from_code('MS-C4-1'), [733] * 2, size=(480, 320))\n"
    )
    path = tmp_path / f"film.{name}"
    ended = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("OSError: "), ended.stderr
    assert last.endswith(f": {str(path)!r}")
    assert ".tmp" not in last
    assert list(tmp_path.iterdir()) == []


def test_a_gif_has_a_fastest_speed(tmp_path: Path) -> None:
    with pytest.raises(BoulangerError, match="at most 50"):
        write_gif(tmp_path / "film.gif", *played(2), size=SMALL, fps=100)


def test_without_imageio_ffmpeg_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ModuleNotFoundError) as error:
        write_mp4(tmp_path / "film.mp4", *played(2))
    assert str(error.value) == 'videos need imageio-ffmpeg: pip install "boulanger-env[video]"'
