"""What writes replays: the benchmark, the wrapper, and the command that shows them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from support.sample_replays import lost, won

import boulanger_env
from boulanger_env import BoulangerEnv, BoulangerError, Game, IllegalMoveError
from boulanger_env.agents import as_policy
from boulanger_env.benchmark import evaluate
from boulanger_env.benchmark.evaluation import header_of
from boulanger_env.benchmark.replay_folder import RUN, claim
from boulanger_env.deals import DealSet
from boulanger_env.replay import Annotation, Replay, ReplayError
from boulanger_env.solver import diagnose
from boulanger_env.wrappers import MaskInObservation, RecordReplay

DEALS = DealSet("few", [*(f"MS-C4-{i}" for i in range(1, 12)), "MS-C2-5", "BK1-C4-AAAAA24"])


def loaded(folder: Path) -> list[Replay]:
    return [Replay.load(path) for path in sorted(folder.glob("*.json"))]


# -- the benchmark ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [1, 4, 64])
def test_every_game_of_a_benchmark_is_recorded(tmp_path: Path, batch_size: int) -> None:
    settings: dict[str, Any] = {"max_episode_steps": 60, "prune": True, "batch_size": batch_size}
    results = evaluate("greedy", DEALS, record=tmp_path / "new" / "games", **settings)
    assert results == evaluate("greedy", DEALS, **settings)
    replays = loaded(tmp_path / "new" / "games")
    assert [replay.start.code for replay in replays] == list(DEALS)
    for row, replay in zip(results.games, replays, strict=True):
        end = replay.end
        assert (row.outcome, row.score, row.cards_home, row.moves) == (
            replay.outcome,
            end.score,
            end.cards_home,
            end.moves,
        )
        assert replay.agent == "greedy"
        assert replay.settings is not None
        assert (replay.settings["max_episode_steps"], replay.settings["prune"]) == (60, True)
        assert replay.rewards is not None
        assert sum(replay.rewards) == row.score


def test_which_games_are_recorded(tmp_path: Path) -> None:
    rows = evaluate("heuristic", DEALS, record=tmp_path / "losses", record_games="losses").games
    losses = [row.code for row in rows if not row.won]
    assert 0 < len(losses) < len(DEALS)
    assert [replay.start.code for replay in loaded(tmp_path / "losses")] == losses
    seen: list[Replay] = []
    evaluate("heuristic", DEALS, record=seen.append, record_games=3, batch_size=2)
    assert sorted(replay.start.code or "" for replay in seen) == list(DEALS)[:3]
    assert [path.name for path in sorted((tmp_path / "losses").glob("*.json"))] == [
        f"{list(DEALS).index(code) + 1:06d}-{code}.json" for code in losses
    ]


def test_illegal_actions_and_undo_are_recorded() -> None:
    class Wild:
        batched, allow_undo = True, True

        def __init__(self) -> None:
            self.random = np.random.default_rng(5)

        def __call__(self, observation: Any, mask: Any, info: Any) -> Any:
            return self.random.choice([780, 3, int(mask[0].argmax())], len(mask))

    seen: list[Replay] = []
    evaluate(Wild(), DEALS[:4], record=seen.append, max_episode_steps=40)
    assert len(seen) == 4
    assert any(780 in replay.actions for replay in seen)
    assert any(-1 in (replay.rewards or ()) for replay in seen)


def test_what_a_policy_thinks_is_recorded() -> None:
    class Single:
        """Takes the first legal action, and says so."""

        def annotate(self, observation: Any, mask: Any, info: Any) -> Annotation | None:
            if info["moves"] % 2:
                return None
            return Annotation(
                ((int(mask.argmax()), 1.0),), float(info["score"]), f"move {int(info['moves'])}"
            )

        def __call__(self, observation: Any, mask: Any, info: Any) -> int:
            return int(mask.argmax())

    seen: list[Replay] = []
    evaluate(Single(), DEALS[:3], record=seen.append, max_episode_steps=9, name="first")
    for replay in seen:
        score = 0.0
        assert replay.rewards is not None
        for i, (action, reward, noted) in enumerate(
            zip(replay.actions, replay.rewards, replay.annotations, strict=True)
        ):
            assert noted == (None if i % 2 else Annotation(((action, 1.0),), score, f"move {i}"))
            score += reward
        assert Replay.from_json(replay.to_json()) == replay
    (replay,) = (seen.clear(), evaluate("heuristic", DEALS[:1], record=seen.append), seen)[2]
    assert all(noted and noted.value is not None for noted in replay.annotations)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"record": 5}, "record=5 is neither"),
        ({"record": print, "record_games": "wins"}, "games to record 'wins': choose"),
        ({"record": print, "record_games": 0}, "games to record 0: choose"),
        ({"record": print, "record_games": True}, "games to record True: choose"),
    ],
)
def test_what_cannot_be_recorded(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BoulangerError, match=message):
        evaluate("random", DEALS[:1], **arguments)


class TestOddAnnotations:
    """A policy whose annotations no replay can hold: the game still counts."""

    class Odd:
        def __init__(self, value: Any) -> None:
            self.value = value

        def annotate(self, observation: Any, mask: Any, info: Any) -> Any:
            return self.value if info["moves"] == 1 else Annotation(((int(mask.argmax()), 1.0),), 0.5)

        def __call__(self, observation: Any, mask: Any, info: Any) -> int:
            return int(mask.argmax())

    @pytest.mark.parametrize(
        "value",
        [
            Annotation(((728, 0.5),), float("inf")),
            Annotation(((728, 0.5),), float("nan")),
            Annotation(((728, 1.1),)),
            Annotation(((728, float("nan")),)),
            Annotation(((10**6, 0.5),)),
            Annotation((), None, 5),  # type: ignore[arg-type]
            "a good move",
            (1, 2, 3),
        ],
        ids=repr,
    )
    def test_the_game_is_recorded_without_it(self, tmp_path: Path, value: Any) -> None:
        with pytest.warns(UserWarning, match="odd: what it notes is left out"):
            results = evaluate(
                self.Odd(value),
                DEALS[:2],
                name="odd",
                file=tmp_path / "r.jsonl",
                record=tmp_path / "games",
                max_episode_steps=5,
            )
        assert len(results.games) == 2
        for replay in loaded(tmp_path / "games"):
            assert replay.annotations[1] is None
            assert replay.annotations[0] is not None
            assert replay.annotations[2] is not None

    @pytest.mark.parametrize("answer", [None, 5, [], [None] * 3])
    def test_as_many_annotations_as_games(self, answer: Any) -> None:
        class Batched:
            batched = True

            def annotate(self, observation: Any, masks: Any, info: Any) -> Any:
                return answer

            def __call__(self, observation: Any, masks: Any, info: Any) -> Any:
                return masks.argmax(1)

        seen: list[Replay] = []
        with pytest.warns(UserWarning, match="Batched: what it notes is left out"):
            evaluate(Batched(), DEALS[:2], record=seen.append, max_episode_steps=5)
        assert [replay.annotations for replay in seen] == [(), ()]

    def test_what_rounding_does_is_cut_off(self) -> None:
        seen: list[Replay] = []
        evaluate(
            self.Odd(Annotation(((728, 1.0000001), (729, -1e-9)))),
            DEALS[:1],
            record=seen.append,
            max_episode_steps=5,
        )
        assert seen[0].annotations[1] == Annotation(((728, 1.0), (729, 0.0)))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"value": float("inf")}, "inf is not a finite number"),
            ({"value": "high"}, "'high' is not a finite number"),
            ({"choices": {728: 1.1}}, "probability 1.1 is not within 0 to 1"),
            ({"choices": {728: float("nan")}}, "nan is not a finite number"),
            ({"choices": {781: 0.5}}, "781"),
            ({"choices": [(728, 0.5)]}, "they must be actions and their probabilities"),
            ({"choices": 0}, "they must be actions and their probabilities"),
            ({"note": 5}, "note 5 is not a string"),
        ],
    )
    def test_the_wrapper_refuses_it_at_once(
        self, tmp_path: Path, arguments: dict[str, Any], message: str
    ) -> None:
        env = RecordReplay(BoulangerEnv(max_episode_steps=2), tmp_path)
        env.reset(options={"code": "MS-C4-1"})
        env.annotate({733: 1.0000001}, 0.5)
        with pytest.raises(BoulangerError, match=message):
            env.annotate(**arguments)
        env.step(733)
        env.step(733)
        assert loaded(tmp_path)[0].annotations == (Annotation(((733, 1.0),), 0.5), None)


class TestFoldersOfRuns:
    """A folder of replays is one run's, and has all of its games that are wanted."""

    def test_a_finished_run_gets_the_replays_that_it_lacks(self, tmp_path: Path) -> None:
        file, games = tmp_path / "r.jsonl", tmp_path / "games"
        run = evaluate("greedy", DEALS, file=file, seed=[3, 4])
        lines = file.read_bytes()
        options: dict[str, Any] = {"file": file, "seed": [3, 4], "record": games, "record_games": "losses"}
        assert evaluate("greedy", DEALS, **options) == run
        lost_games = [row for row in run.games if not row.won]
        for seed in (3, 4):
            codes = [replay.start.code for replay in loaded(games / f"seed-{seed}")]
            assert codes == [row.code for row in lost_games if row.seed == seed]
        before = {path: path.read_bytes() for path in games.rglob("*.json")}
        gone = sorted(before)[1]
        gone.unlink()
        assert evaluate("greedy", DEALS, **options) == run
        assert {path: path.read_bytes() for path in games.rglob("*.json")} == before
        assert file.read_bytes() == lines

    def test_two_runs_do_not_mix(self, tmp_path: Path) -> None:
        evaluate("greedy", DEALS[:3], record=tmp_path)
        before = sorted(path.name for path in tmp_path.iterdir())
        for other in (
            {"policy": "random"},
            {"deals": DEALS[:4]},
            {"seed": 1},
            {"max_episode_steps": 50},
            {"name": "mine"},
        ):
            with pytest.raises(BoulangerError, match="run with other settings"):
                evaluate(**{"policy": "greedy", "deals": DEALS[:3], "record": tmp_path, **other})
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        # The same run again is not another one.
        evaluate("greedy", DEALS[:3], record=tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    def test_a_folder_is_claimed_by_one_of_many_runs(self, tmp_path: Path) -> None:
        headers = [header_of(as_policy("greedy"), DEALS, seed, {}) for seed in range(8)]
        for folder in (tmp_path / str(n) for n in range(20)):
            with ThreadPoolExecutor(8) as pool:
                claims = [pool.submit(claim, folder, header) for header in headers]
                errors = [attempt.exception() for attempt in claims]
            assert errors.count(None) == 1
            assert all(isinstance(error, BoulangerError) for error in errors if error is not None)
            winner = headers[errors.index(None)]
            claims[errors.index(None)].result().close()
            assert (folder / RUN).read_text() == winner.line()

    def test_two_do_not_record_into_one_folder(self, tmp_path: Path) -> None:
        pytest.importorskip("fcntl")

        def progress(done: int, total: int) -> None:
            with pytest.raises(BoulangerError, match="another process is working on the run"):
                evaluate("greedy", DEALS[:2], record=tmp_path)

        evaluate("greedy", DEALS[:2], record=tmp_path, progress=progress)
        # A kill can leave nothing of the first line.
        for cut in (0, 10):
            (tmp_path / RUN).write_bytes((tmp_path / RUN).read_bytes()[:cut])
            evaluate("greedy", DEALS[:2], record=tmp_path)
        with pytest.raises(BoulangerError, match="run with other settings"):
            evaluate("random", DEALS[:2], record=tmp_path)

    def test_what_a_kill_left_is_removed(self, tmp_path: Path) -> None:
        evaluate("greedy", DEALS[:2], record=tmp_path, seed=[1, 2])
        left = tmp_path / "seed-1" / f".{'a0' * 8}.tmp"
        left.touch()
        evaluate("greedy", DEALS[:2], record=tmp_path, seed=[1, 2])
        assert not left.exists()

    def test_a_folder_with_other_replays_is_refused(self, tmp_path: Path) -> None:
        play(RecordReplay(BoulangerEnv(max_episode_steps=3), tmp_path), 1)
        with pytest.raises(BoulangerError, match="that do not belong to this run"):
            evaluate("greedy", DEALS[:3], record=tmp_path)

    def test_each_agent_has_a_folder_of_its_own(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        from boulanger_env.cli.bench_agents import bench

        record = tmp_path / "a" / "games"
        for agents in (["greedy"], ["..=random"], ["x=greedy", "y=random"]):
            bench(agents, "c4-test-100", limit=3, record=record, record_games="all")
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert [path.name for path in (tmp_path / "a").iterdir()] == ["games"]
        assert f"The replays are in {record}, 12 in all: " in capsys.readouterr().out
        agents = {folder.name: {r.agent for r in loaded(folder)} for folder in record.iterdir()}
        assert sorted(map(str, agents.values())) == ["{'..'}", "{'greedy'}", "{'x'}", "{'y'}"]
        assert {len(list(folder.glob("*.json"))) for folder in record.iterdir()} == {3}

    def test_a_policy_that_plays_differently_gets_no_wrong_replay(self, tmp_path: Path) -> None:
        random = np.random.default_rng(1)

        def wild(observation: Any, mask: Any, info: Any) -> int:
            return int(random.choice(np.flatnonzero(mask)))

        file = tmp_path / "r.jsonl"
        evaluate(wild, DEALS[:2], name="wild", file=file)
        with pytest.warns(UserWarning, match="wild: games that it plays differently"):
            evaluate(wild, DEALS[:2], name="wild", file=file, record=tmp_path / "games")
        assert loaded(tmp_path / "games") == []


# -- the wrapper ------------------------------------------------------------------------------------------------


def play(env: Any, seed: int, episodes: int = 1, illegal: float = 0.1) -> list[dict[str, Any]]:
    """Chance plays; the last infos."""
    random = np.random.default_rng(seed)
    ends = []
    _, info = env.reset(seed=seed)
    for _ in range(episodes):
        over = False
        while not over:
            legal = np.flatnonzero(info["action_mask"])
            wild = random.random() < illegal
            action = random.integers(env.action_space.n) if wild else random.choice(legal)
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        ends.append(info)
        _, info = env.reset()
    return ends


def test_the_wrapper_writes_each_episode(tmp_path: Path) -> None:
    env = RecordReplay(
        BoulangerEnv(allow_undo=True, reward="win", max_episode_steps=30), tmp_path, agent="me"
    )
    ends = play(env, 3, episodes=6)
    replays = loaded(tmp_path)
    assert [replay.start.code for replay in replays] == [end["code"] for end in ends]
    assert [replay.outcome for replay in replays] == [end["outcome"] or "truncated" for end in ends]
    assert {replay.agent for replay in replays} == {"me"}
    assert [path.name[:7] for path in sorted(tmp_path.iterdir())] == [f"00000{i}-" for i in range(1, 7)]
    # Another run goes on with the numbers.
    play(RecordReplay(BoulangerEnv(max_episode_steps=3), tmp_path, games=1), 4, episodes=2)
    assert sorted(path.name[:7] for path in tmp_path.iterdir())[-1] == "000007-"
    assert len(list(tmp_path.iterdir())) == 7


def test_the_wrapper_lies_inside_others(tmp_path: Path) -> None:
    env = MaskInObservation(
        RecordReplay(gym.make("Boulanger-C4-v0", allow_undo=True, max_episode_steps=40), tmp_path)
    )
    play(env, 8, episodes=4)
    assert len(loaded(tmp_path)) == 4
    assert gym.make(env.spec).spec == env.spec


@pytest.mark.parametrize("more", [{}, {"allow_undo": True}, {"no_repeats": True}], ids=str)
@pytest.mark.parametrize("auto_foundation", [False, True])
@pytest.mark.parametrize("actions", ["places", "cards", "taps"])
def test_moves_are_recorded_by_place(
    tmp_path: Path, actions: str, auto_foundation: bool, more: dict[str, Any]
) -> None:
    keywords = {"auto_foundation": auto_foundation, **more}
    env = RecordReplay(BoulangerEnv(actions=actions, max_episode_steps=60, **keywords), tmp_path)
    played = play(env, 5, episodes=8)
    replays = loaded(tmp_path)
    assert len(played) == len(replays) == 8
    for replay in replays:
        assert replay.settings is not None
        assert "actions" not in replay.settings
        assert {key: replay.settings[key] for key in keywords} == keywords
        # Loading has played it; the views walk through it themselves.
        *_, last = replay.steps()
        assert last.game == replay.end
        assert (last.game.score, last.game.moves) == (replay.end.score, replay.end.moves)
        assert len(replay.to_episode()["steps"]) == len(replay.notation()) >= len(replay.actions)


def test_two_environments_in_one_folder_overwrite_nothing(tmp_path: Path) -> None:
    envs = [RecordReplay(BoulangerEnv(max_episode_steps=1), tmp_path, agent=name) for name in "ab"]
    for env in envs * 2:
        env.reset(options={"code": "MS-C4-1"})
        env.step(733)
    assert sorted(replay.agent for replay in loaded(tmp_path)) == ["a", "a", "b", "b"]


def test_a_time_limit_is_a_keyword_of_the_replay(tmp_path: Path) -> None:
    env = RecordReplay(gym.make("Boulanger-C4-v0", max_episode_steps=2), tmp_path)
    env.reset(options={"code": "MS-C4-1"})
    env.step(733)
    env.step(733)
    (replay,) = loaded(tmp_path)
    assert (replay.outcome, replay.settings and replay.settings["max_episode_steps"]) == ("truncated", 2)


@pytest.mark.parametrize("limit", [5, -1])
def test_infos_without_texts_are_recorded_all_the_same(tmp_path: Path, limit: int) -> None:
    env = RecordReplay(gym.make("Boulanger-C4-v0", max_episode_steps=limit, array_infos=True), tmp_path)
    ends = play(env, 5, episodes=4)
    for replay, end in zip(loaded(tmp_path), ends, strict=True):
        assert replay.outcome == ("truncated" if len(replay.actions) == limit else "stuck")
        assert replay.start.code is not None
        assert replay.settings is not None
        assert replay.settings["max_episode_steps"] == (5 if replay.outcome == "truncated" else -1)
        assert "outcome" not in end


def test_an_episode_that_is_left_is_written_without_an_outcome(tmp_path: Path) -> None:
    env = RecordReplay(BoulangerEnv(), tmp_path / "all")
    env.reset(options={"code": "MS-C4-1"})
    env.reset(options={"code": "MS-C4-1"})
    env.annotate({733: 0.75, 728: 0.25}, 0.5, "a good start")
    env.step(733)
    assert env.replay.annotations == (Annotation(((733, 0.75), (728, 0.25)), 0.5, "a good start"),)
    env.reset(options={"code": "MS-C4-2"})
    env.step(729)
    env.close()
    assert [(replay.start.code, replay.outcome) for replay in loaded(tmp_path / "all")] == [
        ("MS-C4-1", None),
        ("MS-C4-2", None),
    ]
    losses = RecordReplay(BoulangerEnv(illegal_action="terminate"), tmp_path / "losses", games="losses")
    losses.reset(options={"code": "MS-C4-1"})
    losses.step(733)
    losses.reset(options={"code": "MS-C4-1"})
    losses.step(0)
    assert [replay.outcome for replay in loaded(tmp_path / "losses")] == ["illegal"]


def test_an_episode_from_a_position_with_a_past(tmp_path: Path) -> None:
    game = Game.from_code("MS-C4-1")
    for text in ["6a", "6b", "6h"]:
        game.push(game.parse_move(text))
    env = RecordReplay(BoulangerEnv(allow_undo=True), tmp_path)
    env.reset(options={"game": game})
    env.step(780)
    env.close()
    (replay,) = loaded(tmp_path)
    assert replay.start == game
    assert replay.end.moves == 2


def test_actions_that_raise_are_not_recorded(tmp_path: Path) -> None:
    env = RecordReplay(BoulangerEnv(illegal_action="raise"), tmp_path)
    with pytest.raises(ResetNeeded):
        _ = env.replay
    env.reset(options={"code": "MS-C4-1"})
    for action in (0, "a"):
        with pytest.raises(IllegalMoveError):
            env.step(action)
    env.step(np.int64(733))
    assert env.replay.actions == (733,)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: RecordReplay(gym.make("CartPole-v1"), folder), "wraps a Boulanger environment"),
        (
            lambda folder: RecordReplay(
                gym.wrappers.TransformReward(BoulangerEnv(), lambda r: 2 * r), folder
            ),
            r"TransformReward\(RecordReplay",
        ),
        (lambda folder: RecordReplay(BoulangerEnv(), folder, games="wins"), "games to record 'wins'"),
    ],
)
def test_what_cannot_be_wrapped(tmp_path: Path, make: Any, message: str) -> None:
    with pytest.raises(BoulangerError, match=message):
        make(tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


# -- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "games" / "deeper").mkdir(parents=True)
    won().save(tmp_path / "games" / "1.json")
    lost().save(tmp_path / "games" / "deeper" / "2.json")
    return tmp_path / "games"


def run(*arguments: object) -> str:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from boulanger_env.cli import app

    result = CliRunner().invoke(app, ["replay", *map(str, arguments)])
    assert result.exit_code in (0, 1), result.output
    if result.exit_code:
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr
    return result.stdout


def test_moves_are_printed(folder: Path) -> None:
    assert run(folder) == f"{won()}\n\n{lost()}\n"


def test_a_page_of_all_games_is_written(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(folder / "1.json", folder / "deeper", "--html", page) == f"{page}\n"
    text = page.read_text()
    assert "<title>2 games</title>" in text
    assert '"title":"MS-C4-1","agent":"a solver"' in text
    assert '"title":"MS-C4-12","agent":"chance"' in text
    run(folder / "1.json", "--html", page)
    assert page.read_text() == won().to_html(diagnosis=diagnose(won().start, won().actions))


def test_a_game_plays_in_the_terminal(folder: Path) -> None:
    shown = run(folder / "deeper", "--ansi", "--ascii")
    assert shown.isascii()
    assert shown.count("MS-C4-12   score") == len(lost().actions) + 1
    assert "refused: " in shown
    assert f"step {len(lost().actions)} of {len(lost().actions)}: " in shown
    assert "STUCK" in shown


def test_a_bad_file_is_one_line(folder: Path, tmp_path: Path) -> None:
    damaged = folder / "1.json"
    damaged.write_text(damaged.read_text().replace("733", "734", 1))
    assert "1.json is not a replay: step " in run(folder)
    assert "No such file" in run(tmp_path / "nowhere.json")
    (tmp_path / "empty").mkdir()
    assert "there is no replay, a .json file" in run(tmp_path / "empty")
    assert "--gif shows one game, and these are 2" in run(
        folder / "deeper", folder / "deeper", "--gif", "x.gif"
    )


def test_pictures_are_written(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("boulanger_env.render.animation")
    pytest.importorskip("PIL")
    gif = tmp_path / "game.gif"
    assert run(folder / "deeper", "--gif", gif, "--speed", "10") == f"{gif}\n"
    assert gif.read_bytes()[:6] == b"GIF89a"


def test_a_film_says_how_the_episode_ended(folder: Path, tmp_path: Path) -> None:
    tables = pytest.importorskip("boulanger_env.render.rgb")
    image = pytest.importorskip("PIL.Image")
    start = Game.from_code("MS-C4-1")
    cut = Replay(start, (733,), "truncated", (0,), {"max_episode_steps": 1})
    cut.save(tmp_path / "cut.json")
    assert "TRUNCATED: " in run(tmp_path / "cut.json", "--ansi", "--no-color")
    run(tmp_path / "cut.json", "--gif", tmp_path / "cut.gif")
    with image.open(tmp_path / "cut.gif") as film:
        film.seek(1)
        expected = tables.render_rgb(cut.end, outcome="truncated")
        assert np.abs(np.asarray(film.convert("RGB")).astype(int) - expected).mean() < 0.6


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_whatever_its_output_is(folder: Path, tmp_path: Path) -> None:
    """A closed output, or one that lacks a character, must not make it fail."""
    command = f"{shlex.quote(sys.executable)} -m boulanger_env replay 1.json"
    environment = {**os.environ, "PYTHONPATH": str(Path(boulanger_env.__file__).parent.parent)}
    for rest in (">&-", "--html page.html >&- 2>&-"):
        found = subprocess.run(
            f"{command} {rest}", shell=True, cwd=folder, env=environment, stderr=subprocess.PIPE, check=True
        )
        assert found.stderr == b""
    assert (folder / "page.html").read_text() == won().to_html(diagnosis=diagnose(won().start, won().actions))
    environment["PYTHONIOENCODING"] = "ascii"
    shown = subprocess.check_output(command, shell=True, cwd=folder, env=environment)
    assert shown.startswith(b"# MS-C4-1 ? a solver\n")


def test_replay_errors_are_the_packages() -> None:
    assert issubclass(ReplayError, BoulangerError)
