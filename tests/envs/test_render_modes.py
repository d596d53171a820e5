"""What environments show: pictures, windows, and the recorders of Gymnasium and Stable-Baselines3."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

pytest.importorskip("PIL")

import boulanger_env  # noqa: F401 - registers the environments
from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game
from boulanger_env.render import render_ansi, render_rgb

SMALL = (480, 320)
# moviepy and imageio-ffmpeg do not close everything they open.
OTHERS_LEAKS = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture
def pygame(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """pygame without a screen, left as it was found."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    module = pytest.importorskip("pygame")
    window = pytest.importorskip("boulanger_env.render.window").Window
    yield module
    if window._owner is not None:
        window._owner.close()
    module.display.quit()


def shown(pygame: Any) -> Any:
    """What the window shows: uint8 ``(height, width, 3)``."""
    return np.transpose(pygame.surfarray.array3d(pygame.display.get_surface()), (1, 0, 2))


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that wait for no one."""
    monkeypatch.setattr("boulanger_env.render.view.RENDER_FPS", 100_000)


# -- pictures ---------------------------------------------------------------------------------------------------


def test_rgb_array() -> None:
    env = gym.make("Boulanger-C4-v0", render_mode="rgb_array", render_size=SMALL)
    assert env.metadata["render_fps"] == 4
    _, info = env.reset(seed=3)
    env.action_space.seed(3)
    frames = [env.render()]
    for _ in range(10):
        *_, info = env.step(env.action_space.sample(info["action_mask"]))
        frames.append(env.render())
        assert np.array_equal(frames[-1], render_rgb(env.unwrapped.game, SMALL))
    assert len({frame.tobytes() for frame in frames}) == 11
    assert BoulangerEnv(render_mode="rgb_array")._settings.size == (960, 640)
    with pytest.raises(ResetNeeded):
        BoulangerEnv(render_mode="rgb_array").render()
    twin = copy.deepcopy(env.unwrapped)
    assert np.array_equal(twin.render(), frames[-1])
    env.close()


def test_a_batch_draws_each_game_and_all_together() -> None:
    batch = BoulangerVectorEnv(4, render_mode="rgb_array", render_size=SMALL)
    with pytest.raises(ResetNeeded):
        batch.render_together()
    batch.reset(seed=1)
    frames = batch.render()
    assert frames is not None
    assert len(frames) == 4
    for i, frame in enumerate(frames):
        assert np.array_equal(frame, render_rgb(batch.game(i), SMALL))
    together = BoulangerVectorEnv(4)
    together.reset(seed=1)
    picture = together.render_together()
    assert picture.shape == (640, 960, 3)
    for i, frame in enumerate(frames):
        assert np.array_equal(
            picture[i // 2 * 320 :, i % 2 * 480 :][:319, :479], np.asarray(frame)[:319, :479]
        )


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_the_end_of_an_episode_is_shown(mode: str) -> None:
    def same(shown: Any, game: Game, outcome: str | None) -> bool:
        draw: Any = render_ansi if mode == "ansi" else partial(render_rgb, size=SMALL)
        return bool(np.array_equal(shown, draw(game, outcome=outcome)))

    env = BoulangerEnv(render_mode=mode, render_size=SMALL, max_episode_steps=2)
    env.reset(seed=1)
    for outcome in (None, "truncated"):
        env.step(728)
        assert same(env.render(), env.game, outcome)
    env.reset()
    assert same(env.render(), env.game, None)

    keywords: dict[str, Any] = {"render_mode": mode, "render_size": SMALL, "illegal_action": "terminate"}
    for autoreset, outcomes in [
        (AutoresetMode.NEXT_STEP, ["illegal", None]),
        (AutoresetMode.SAME_STEP, [None, None]),
    ]:
        batch = BoulangerVectorEnv(2, autoreset_mode=autoreset, **keywords)
        batch.reset(seed=1)
        batch.step(np.array([0, 728]))
        for i, shown in enumerate(batch.render() or ()):
            assert same(shown, batch.game(i), outcomes[i])
        batch.step(np.array([728, 728]))
        for i, shown in enumerate(batch.render() or ()):
            assert same(shown, batch.game(i), None)


@OTHERS_LEAKS
def test_record_video(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env = gym.wrappers.RecordVideo(
        gym.make("Boulanger-C4-v0", render_mode="rgb_array", render_size=SMALL),
        str(tmp_path / "videos"),
        disable_logger=True,
    )
    env.reset(seed=1)
    for _ in range(3):
        env.step(728)
    env.close()
    (video,) = tmp_path.rglob("*.mp4")
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    reader = ffmpeg.read_frames(str(video))
    assert next(reader)["size"] == SMALL
    first = np.frombuffer(next(reader), np.uint8).reshape(320, 480, 3)
    env.reset(seed=1)
    assert np.abs(first.astype(int) - env.render()).mean() < 4
    reader.close()


@OTHERS_LEAKS
def test_record_video_of_a_batch(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    envs = gym.make_vec("Boulanger-C4-v0", num_envs=2, render_mode="rgb_array", render_size=SMALL)
    envs = gym.wrappers.vector.RecordVideo(
        envs, str(tmp_path / "videos"), video_length=3, disable_logger=True
    )
    _, infos = envs.reset(seed=1)
    for _ in range(4):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
    envs.close()
    assert list(tmp_path.rglob("*.mp4"))


def test_render_collection() -> None:
    env = gym.wrappers.RenderCollection(
        gym.make("Boulanger-C2-v0", render_mode="rgb_array", render_size=SMALL)
    )
    env.reset(seed=1)
    env.step(728)
    frames = env.render()
    assert [frame.shape for frame in frames] == [(320, 480, 3)] * 2
    assert not np.array_equal(*frames)


@OTHERS_LEAKS
def test_vec_video_recorder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("moviepy")
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import VecVideoRecorder

    from boulanger_env.sb3 import BoulangerVecEnv

    env = BoulangerVecEnv(3, render_mode="rgb_array", render_size=SMALL)
    assert env.metadata["render_fps"] == 4
    recorder = VecVideoRecorder(env, str(tmp_path), lambda step: step == 0, video_length=2)
    recorder.reset()
    assert [image.shape for image in env.get_images()] == [(320, 480, 3)] * 3
    assert np.array_equal(recorder.render(), env.batch.render_together())
    for _ in range(3):
        recorder.step(env.action_masks().argmax(1))
    recorder.close()
    assert list(tmp_path.rglob("*.mp4"))
    capsys.readouterr()


# -- the window -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("fast")
def test_human_shows_every_step(pygame: Any) -> None:
    env = gym.make("Boulanger-C4-v0", render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    picture = render_rgb(env.unwrapped.game, SMALL)
    assert np.array_equal(shown(pygame), picture)
    env.step(728)
    assert np.array_equal(shown(pygame), render_rgb(env.unwrapped.game, SMALL))
    assert env.render() is None
    env.close()
    assert pygame.display.get_surface() is None
    env.close()


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("kind", [BoulangerEnv, lambda **k: BoulangerVectorEnv(2, **k)], ids=["one", "batch"])
def test_a_window_that_is_closed_stays_closed(pygame: Any, kind: Any) -> None:
    env = kind(render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    assert pygame.display.get_surface() is None
    for _ in range(2):
        env.step(728 if kind is BoulangerEnv else [728, 728])
        assert env.render() is None
        env.reset()
    assert pygame.display.get_surface() is None
    env.close()


@pytest.mark.usefixtures("fast")
def test_a_batch_shows_its_games_together(pygame: Any) -> None:
    envs = BoulangerVectorEnv(3, render_mode="human")
    envs.reset(seed=1)
    assert np.array_equal(shown(pygame), envs.render_together())
    envs.step([728, 729, 730])
    assert np.array_equal(shown(pygame), envs.render_together())
    envs.close()
    assert pygame.display.get_surface() is None


@pytest.mark.usefixtures("fast")
def test_the_second_window_takes_the_place_of_the_first(pygame: Any) -> None:
    first, second = (BoulangerEnv(render_mode="human", render_size=SMALL) for _ in range(2))
    first.reset(seed=1)
    second.reset(seed=2)
    first.step(728)
    assert np.array_equal(shown(pygame), render_rgb(second.game, SMALL))
    first.close()
    assert pygame.display.get_surface() is not None
    second.close()


@pytest.mark.usefixtures("fast")
def test_a_copy_opens_a_window_of_its_own(pygame: Any) -> None:
    env = BoulangerEnv(render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    twin.step(728)
    assert np.array_equal(shown(pygame), render_rgb(twin.game, SMALL))
    env.close()
    twin.close()


def test_frames_come_at_their_rate(pygame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[float] = []

    class Clock:
        def tick(self, fps: float) -> None:
            ticks.append(fps)

    monkeypatch.setattr(pygame.time, "Clock", Clock)
    env = BoulangerEnv(render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    env.step(728)
    assert ticks == [4, 4]
    env.close()


def test_without_a_display_it_says_so(monkeypatch: pytest.MonkeyPatch, pygame: Any) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no such driver")
    env = BoulangerEnv(render_mode="human", render_size=SMALL)
    with pytest.raises(BoulangerError, match=r"no window can be opened .*render_mode='rgb_array'"):
        env.reset(seed=1)


def test_without_pygame_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(ModuleNotFoundError, match=r'^a window needs pygame-ce: pip install "boulanger-env'):
        BoulangerEnv(render_mode="human")
    BoulangerEnv(render_mode="rgb_array")


HUMAN = """
import gymnasium as gym, boulanger_env
env = gym.make("Boulanger-C4-v0", render_mode="human")
env.reset(seed=1)
"""


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a display")
@pytest.mark.parametrize("arguments", [["-c", HUMAN], ["-m", "boulanger_env", "play", "MS-C4-1", "--window"]])
def test_without_a_display_nothing_runs_unseen(arguments: list[str], tmp_path: Path) -> None:
    unseen = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    }
    unseen |= {"BOULANGER_STATE": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, *arguments], env=unseen, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert "no window can be opened" in last
    assert "without a display" in last
