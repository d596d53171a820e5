"""Policies as given: names, files named like agents, what identifies a callable, the settings of models."""

from __future__ import annotations

import dataclasses
import functools
import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import boulanger_env
from boulanger_env import BoulangerEnv, BoulangerError
from boulanger_env.agents import AgentSpec, as_policy, make, save_model
from boulanger_env.agents.model_files import SETTINGS
from boulanger_env.agents.naming import file_stem, identity
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.benchmark.action_text import decode
from boulanger_env.cli.bench_agents import bench
from boulanger_env.deals import DealSet
from boulanger_env.envs import internal
from boulanger_env.envs.settings import Settings
from boulanger_env.replay import Replay
from boulanger_env.wrappers import MaskInObservation

DEALS = DealSet("few", [f"MS-C4-{i}" for i in range(1, 7)])


def first(observation: Any, mask: Any, info: Any) -> int:
    return int(mask.argmax())


def last(observation: Any, mask: Any, info: Any) -> int:
    return int(np.flatnonzero(mask)[-1])


class TestNames:
    @pytest.mark.parametrize("name", ["x" * 101, "x" * 100_000, "", " ", "a\nb", "a\x1b[2J", 5, ["a"]])
    def test_a_name_is_checked_at_the_door(self, name: Any) -> None:
        started = time.perf_counter()
        for policy in ("random", first, as_policy("greedy")):
            with pytest.raises(BoulangerError, match=r"name .* printable characters") as error:
                evaluate(policy, DEALS[:1], name=name)
            assert len(str(error.value)) < 200
        assert time.perf_counter() - started < 20  # it was minutes

    def test_a_long_text_that_names_nothing_is_refused_soon(self) -> None:
        for text in ("x" * 100_000, "x=" * 50_000, f"{'x' * 100_000}=greedy", "greedy:" + "[" * 100_000):
            started = time.perf_counter()
            with pytest.raises(BoulangerError):
                bench([text], "c4-test-100", limit=1)
            assert time.perf_counter() - started < 20  # it was minutes

    def test_a_policy_that_was_made_takes_another_name(self) -> None:
        results = evaluate(as_policy("greedy"), DEALS[:2], name="mine")
        assert results.policy == "mine"
        assert results.games == evaluate("greedy", DEALS[:2]).games

    @pytest.mark.parametrize("name", ["greedy", "heuristic-30", "m.zip", "a_b", "a+b"])
    def test_plain_names_are_names_of_files(self, name: str) -> None:
        assert file_stem(name) == name

    def test_other_names_give_different_files_inside_the_folder(self) -> None:
        names = [
            "é",
            "ü",
            "_",
            ".",
            "..",
            "a/b",
            "a_b",
            "a b",
            "/etc/x",
            "..\\x",
            "x" * 100,
            "€" * 100,
            ".hidden",
        ]
        stems = [file_stem(name) for name in names]
        assert len(set(stems)) == len(names)
        for stem in stems:
            assert stem.isascii()
            assert not stem.startswith(".")
            assert Path(stem).name == stem
            assert len(stem) < 120

    def test_all_names_are_checked_before_anything_is_played(self, tmp_path: Path) -> None:
        with pytest.raises(BoulangerError, match="names that differ"):
            bench(["A=greedy", "a=random"], "c4-test-100", limit=1, output=tmp_path / "new")
        bench(["é=greedy", "ü=random", "..=random"], "c4-test-100", limit=2, output=tmp_path / "in" / "runs")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
        assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["runs"]
        assert len(list((tmp_path / "in" / "runs").glob("*.jsonl"))) == 3

    def test_the_files_of_all_agents_are_checked_before_anything_is_played(self, tmp_path: Path) -> None:
        bench(["random"], "c4-test-100", limit=3, output=tmp_path)
        with pytest.raises(BoulangerError, match=r"random\.jsonl is a run with other settings"):
            bench(["greedy", "random"], "c4-test-100", limit=2, output=tmp_path)
        assert not (tmp_path / "greedy.jsonl").exists()
        # A kill can leave nothing of the first line: that is not another run.
        (tmp_path / "greedy.jsonl").touch()
        assert bench(["greedy"], "c4-test-100", limit=2, output=tmp_path)[0].n_deals == 2

    @pytest.mark.parametrize(
        ("agent", "near"),
        [("gredy", "greedy"), ("heuristics:nodes=3", "heuristic"), ("heuristic:node=3", "nodes")],
    )
    def test_did_you_mean(self, agent: str, near: str) -> None:
        with pytest.raises(BoulangerError, match=rf"did you mean '{near}'\?"):
            bench([agent], "c4-test-100")

    def test_did_you_mean_of_a_set(self) -> None:
        with pytest.raises(BoulangerError, match=r"did you mean 'c4-test'\?"):
            bench(["random"], "c4-tset")


class Nameless:
    def act(self, observation: Any, mask: Any, info: Any) -> int:
        return first(observation, mask, info)


class TestIdentity:
    def test_two_callables_do_not_resume_each_others_run(self, tmp_path: Path) -> None:
        file = tmp_path / "r.jsonl"
        evaluate(first, DEALS, name="mine", file=file)
        with pytest.raises(BoulangerError, match="run with other settings"):
            evaluate(last, DEALS, name="mine", file=file)
        assert evaluate(first, DEALS, name="mine", file=file).games == evaluate(first, DEALS).games

    def test_code_that_changed_is_another_policy(self, tmp_path: Path) -> None:
        made = []
        for pick in ("0", "-1"):
            scope: dict[str, Any] = {"np": np, "__name__": "notebook"}
            exec(f"def mine(observation, mask, info):\n    return int(np.flatnonzero(mask)[{pick}])", scope)
            made.append(scope["mine"])
        assert identity(made[0])["callable"] == identity(made[1])["callable"] == "notebook:mine"
        evaluate(made[0], DEALS[:2], file=tmp_path / "r.jsonl")
        with pytest.raises(BoulangerError, match="run with other settings"):
            evaluate(made[1], DEALS[:2], file=tmp_path / "r.jsonl")

    @pytest.mark.parametrize(
        "policy",
        [
            lambda observation, mask, info: first(observation, mask, info),
            functools.partial(first),
            Nameless().act,
        ],
    )
    def test_what_has_no_name_of_its_own_needs_one_for_a_file(self, tmp_path: Path, policy: Any) -> None:
        with pytest.raises(BoulangerError, match="give one as name="):
            evaluate(policy, DEALS[:1], file=tmp_path / "r.jsonl")
        assert not list(tmp_path.iterdir())
        assert evaluate(policy, DEALS[:1], file=tmp_path / "r.jsonl", name="mine").policy == "mine"
        assert evaluate(policy, DEALS[:1]).games == evaluate(first, DEALS[:1]).games

    @pytest.mark.parametrize(
        "source",
        [
            "def f(o, m, i, n={}):\n    return n",
            "def f(o, m, i, *, n={}):\n    return n",
            "N = {}\ndef f(o, m, i):\n    return N",
            "def g():\n    return {}\ndef f(o, m, i):\n    return [g() for _ in m]",
            "def g(n):\n    def f(o, m, i):\n        return n\n    return f\nf = g({})",
            "class F:\n    N = {}\n    def __call__(self, o, m, i):\n        return self.N\nf = F()",
            "class F:\n    def __call__(self, o, m, i):\n        return self.g()\n    def g(self):\n"
            "        return {}\nf = F()",
            "class F:\n    def act(self, o, m, i):\n        return self.g()\n    @staticmethod\n    def g():\n"
            "        return {}\nf = F().act",
        ],
    )
    def test_what_a_callable_uses_of_its_module_is_part_of_it(self, source: str) -> None:
        found = []
        for value in ("7", "7", "8"):
            scope: dict[str, Any] = {"__name__": "notebook"}
            exec(source.format(value), scope)
            found.append(identity(scope["f"]))
        assert found[0] == found[1] != found[2]

    def test_a_module_that_was_changed_holds_another_policy(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        source = (
            "class P:\n    def __init__(self, n): self.n = n\n    def __call__(self, o, m, i): return self.n\n"
            "p = P({})"
        )
        details = []
        for n in (1, 2):
            (tmp_path / "changed.py").write_text(source.format(n))
            monkeypatch.delitem(sys.modules, "changed", raising=False)
            details.append(as_policy("changed:p").details)
        assert {key for key in details[0] if details[0][key] != details[1][key]} == {"source"}

    def test_the_identity_does_not_depend_on_where_the_code_stands(self) -> None:
        scopes: list[dict[str, Any]] = [{}, {}]
        source = "def f(o, m, i):\n    return [x for x in m if x in {'a', 'b', 'c'}]"
        exec(source, scopes[0])
        exec(compile("\n\n\n" + source, "elsewhere.py", "exec"), scopes[1])
        assert identity(scopes[0]["f"]) == identity(scopes[1]["f"])


class TestBadPolicies:
    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("x = (", "importing broken fails: SyntaxError"),
            ("raise RuntimeError('no GPU')", "importing broken fails: RuntimeError: no GPU"),
            ("import sys; sys.exit(0)", "importing broken fails: SystemExit: 0"),
            ("import nowhere_at_all", "there is no module 'nowhere_at_all'"),
            ("policies = 1", r"no 'policy' \(did you mean 'policies'"),
            ("class policy:\n    def __init__(self, x): ...", r"policy\(\) fails: TypeError"),
            ("policy = 3", "is not a policy"),
        ],
    )
    def test_a_module_that_fails_is_one_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, message: str
    ) -> None:
        (tmp_path / "broken.py").write_text(source)
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "broken", raising=False)
        with pytest.raises(BoulangerError, match=message):
            as_policy("broken:policy")

    def test_settings_are_refused_before_a_file_is_made(self, tmp_path: Path) -> None:
        for wrong in ({"observation": "image"}, {"prune": 3}, {"max_episode_steps": float("nan")}):
            with pytest.raises(BoulangerError):
                evaluate("random", DEALS[:1], file=tmp_path / "r.jsonl", **wrong)  # type: ignore[arg-type]
        assert not list(tmp_path.iterdir())


class TestModels:
    """What a model carries, and under what it is played."""

    pytestmark = pytest.mark.usefixtures("one_thread")

    @pytest.fixture(autouse=True)
    def _needs_contrib(self) -> None:
        pytest.importorskip("sb3_contrib")

    def model(self, env: Any, policy: str = "MultiInputPolicy") -> Any:
        from sb3_contrib import MaskablePPO

        return MaskablePPO(policy, env, n_steps=8, batch_size=8, seed=0, device="cpu")

    def test_a_model_carries_its_settings_and_its_way_of_play(self, tmp_path: Path) -> None:
        from sb3_contrib import MaskablePPO

        from boulanger_env.sb3 import BoulangerVecEnv

        settings: dict[str, Any] = {"observation": "cards", "prune": True, "max_episode_steps": 30}
        model = self.model(BoulangerVecEnv(2, reward="foundation", **settings))
        save_model(model, tmp_path / "m.zip", sample=True)
        results = evaluate(tmp_path / "m.zip", DEALS)
        assert {key: results.settings[key] for key in settings} == settings
        assert results.details["sample"] is True
        assert max(row.steps for row in results.games) <= 30
        plain = evaluate(model, DEALS, sample=True, **settings)
        assert plain.games == results.games
        # Given settings take precedence, and other libraries keep what the model carries.
        assert evaluate(tmp_path / "m.zip", DEALS[:1], max_episode_steps=5).games[0].steps <= 5
        assert evaluate(tmp_path / "m.zip", DEALS[:2], sample=False).details["sample"] is False
        again = MaskablePPO.load(tmp_path / "m.zip", device="cpu")
        assert evaluate(again, DEALS).games == results.games
        again.save(tmp_path / "again.zip")
        assert evaluate(tmp_path / "again.zip", DEALS).games == results.games
        assert bench([str(tmp_path / "m.zip")], "c4-test-100", limit=2)[0].settings == results.settings
        (with_settings,) = bench(
            [str(tmp_path / "m.zip")], "c4-test-100", limit=1, sample=False, max_episode_steps=7, prune=False
        )
        assert (with_settings.settings["max_episode_steps"], with_settings.settings["prune"]) == (7, False)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: BoulangerEnv(observation="cards", prune=True, max_episode_steps=40),
            lambda: gym.make("Boulanger-C4-v0", observation="cards", prune=True, max_episode_steps=40),
            lambda: gym.wrappers.TimeLimit(
                BoulangerEnv(observation="cards", prune=True, max_episode_steps=-1), 40
            ),
            lambda: gym.wrappers.TimeLimit(
                BoulangerEnv(observation="cards", prune=True, max_episode_steps=40), 90
            ),
        ],
        ids=["direct", "gym.make", "TimeLimit", "two limits"],
    )
    def test_settings_are_seen_through_what_stable_baselines_puts_around(self, make: Any) -> None:
        from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

        vector = VecNormalize(VecMonitor(DummyVecEnv([make])), norm_obs=False)
        settings = as_policy(self.model(vector)).settings
        assert (settings["prune"], settings["max_episode_steps"]) == (True, 40)

    def test_a_benchmark_has_a_limit(self) -> None:
        assert (
            "max_episode_steps"
            not in as_policy(self.model(BoulangerEnv(max_episode_steps=-1), "MlpPolicy")).settings
        )
        with pytest.raises(BoulangerError, match="a benchmark needs a limit"):
            evaluate("random", DEALS[:1], max_episode_steps=-1)
        assert evaluate("random", DEALS[:1], max_episode_steps=None) == evaluate("random", DEALS[:1])

    def test_a_failed_save_leaves_the_earlier_model(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model = self.model(BoulangerEnv(observation="cards"))
        save_model(model, tmp_path / "m.zip", sample=False)
        before = (tmp_path / "m.zip").read_bytes()

        def fail(*_: Any) -> None:
            raise OSError("disk full")

        monkeypatch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            save_model(model, tmp_path / "m.zip", sample=True)
        assert [path.name for path in tmp_path.iterdir()] == ["m.zip"]
        assert (tmp_path / "m.zip").read_bytes() == before

    @pytest.mark.parametrize("undo", [False, True])
    def test_what_a_model_cannot_do_without_is_not_changed(self, undo: bool) -> None:
        model = self.model(BoulangerEnv(allow_undo=undo), "MlpPolicy")
        with pytest.raises(BoulangerError, match=f"allow_undo={not undo} is not possible with MaskablePPO"):
            evaluate(model, DEALS[:1], allow_undo=not undo)
        with pytest.raises(BoulangerError, match="observation='cards' is not possible"):
            evaluate(model, DEALS[:1], observation="cards")
        same: dict[str, Any] = {"allow_undo": undo, "observation": "features"}
        assert evaluate(model, DEALS[:1], max_episode_steps=5, **same).games

    @pytest.mark.parametrize("auto_foundation", [False, True])
    @pytest.mark.parametrize("actions", ["places", "cards", "taps"])
    def test_a_model_is_played_under_its_own_keywords(
        self, actions: str, auto_foundation: bool, tmp_path: Path
    ) -> None:
        """The rows, the moves kept and the replays are those of an environment with the model's keywords."""
        keywords: dict[str, Any] = {"actions": actions, "auto_foundation": auto_foundation, "prune": True}
        env = BoulangerEnv(observation="cards", max_episode_steps=40, **keywords)
        model = self.model(env)
        save_model(model, tmp_path / "m.zip", sample=False)
        replays: list[Replay] = []
        results = evaluate(
            tmp_path / "m.zip", DEALS, moves=True, record=replays.append, file=tmp_path / "r.jsonl"
        )
        assert {key: results.settings[key] for key in keywords} == keywords
        # Reading it plays every game again.
        assert Results.load(tmp_path / "r.jsonl") == results
        for row in results.games:
            observation, info = env.reset(options={"code": row.code})
            start = internal.start_of(env)
            over, steps, places, probable = False, 0, [], []
            while not over:
                action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
                places.append(internal.place_of_action(env, int(action)))
                observation, _, terminated, truncated, info = env.step(action)
                over, steps = terminated or truncated, steps + 1
            assert (row.score, row.moves, row.steps) == (info["score"], info["moves"], steps)
            assert row.cards_home == env.game.cards_home
            replay = next(one for one in replays if one.start == start)
            assert list(replay.actions) == places == decode(row.actions).tolist()
            assert replay.end == env.game
            # What it thought is noted by place too: with the masks, the likeliest action is the one it played.
            probable = [annotation.choices[0][0] for annotation in replay.annotations if annotation]
            assert probable == places
        assert any(row.cards_home for row in results.games)

    def test_what_plays_by_place_is_not_asked_for_cards(self) -> None:
        for policy in ("greedy", make("random")):
            with pytest.raises(BoulangerError, match="actions='cards' is not possible with"):
                evaluate(policy, DEALS[:1], actions="cards")
        assert evaluate(first, DEALS[:2], actions="taps", moves=True).settings["actions"] == "taps"
        automatic = evaluate("greedy", DEALS, auto_foundation=True, moves=True)
        assert sum(row.moves - row.steps for row in automatic.games) > 0

    @pytest.mark.parametrize(
        ("wrap", "named"),
        [
            (MaskInObservation, "MaskInObservation"),
            (lambda env: gym.wrappers.NormalizeObservation(env), "NormalizeObservation"),
        ],
    )
    def test_a_model_of_other_wrappers_is_refused(self, wrap: Any, named: str) -> None:
        policy = "MultiInputPolicy" if named == "MaskInObservation" else "MlpPolicy"
        with pytest.raises(BoulangerError, match=f"was trained under {named}"):
            as_policy(self.model(wrap(BoulangerEnv()), policy))

    def test_a_model_of_normalized_observations_is_refused_from_a_file_too(self, tmp_path: Path) -> None:
        from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

        model = self.model(VecNormalize(DummyVecEnv([BoulangerEnv])), "MlpPolicy")
        save_model(model, tmp_path / "m.zip", sample=False)
        with pytest.raises(BoulangerError, match="was trained under VecNormalize"):
            as_policy(tmp_path / "m.zip")
        save_model(model, tmp_path / "m.zip", sample=False, wrappers=[])
        assert as_policy(tmp_path / "m.zip").settings["observation"] == "features"

    def test_two_models_in_memory_do_not_resume_each_others_run(self, tmp_path: Path) -> None:
        models = [self.model(BoulangerEnv(observation="cards")) for _ in range(2)]
        models[1].policy.load_state_dict(
            {name: weights + 0.1 for name, weights in models[1].policy.state_dict().items()}
        )
        evaluate(models[0], DEALS[:1], max_episode_steps=5, file=tmp_path / "r.jsonl")
        with pytest.raises(BoulangerError, match="other settings"):
            evaluate(models[1], DEALS[:1], max_episode_steps=5, file=tmp_path / "r.jsonl")

    def test_what_cannot_be_saved(self, tmp_path: Path) -> None:
        from sb3_contrib import MaskablePPO

        model = self.model(BoulangerEnv(observation="cards"))
        for wrong in (
            {"settings": {"reward": "win"}},
            {"settings": {"prune": "yes"}},
            {"settings": {"max_episode_steps": 2**63}},
            {"settings": [1]},
            {"settings": 5},
            {"sample": 1},
            {"wrappers": [3]},
            {"wrappers": 3},
            {"wrappers": "MaskInObservation"},
        ):
            with pytest.raises(BoulangerError):
                save_model(model, tmp_path / "m.zip", **{"sample": False, **wrong})  # type: ignore[arg-type]
        model.save(tmp_path / "plain.zip")
        alone = MaskablePPO.load(tmp_path / "plain.zip", device="cpu")
        with pytest.raises(BoulangerError, match="has no environment"):
            save_model(alone, tmp_path / "m.zip", sample=False)
        assert not (tmp_path / "m.zip").exists()
        save_model(alone, tmp_path / "m.zip", sample=False, settings={"max_episode_steps": 9})
        assert as_policy(tmp_path / "m.zip").settings["max_episode_steps"] == 9

    def test_every_keyword_of_the_environment_travels_with_a_model(self, tmp_path: Path) -> None:
        """But those that say which games are played, what they pay and how they are shown."""
        own = {"n_cells", "deals", "deal_order", "reward", "array_infos", "render_mode", "render_size"}
        known = {field.name: field.default for field in dataclasses.fields(Settings) if field.init}
        assert {name: known[name] for name in known if name not in own} == SETTINGS
        assert [*SETTINGS] == sorted(SETTINGS)
        other: dict[str, Any] = {
            "prune": True,
            "illegal_action": "terminate",
            "max_episode_steps": 77,
            "observation": "cards",
        }
        for keywords in ({}, {"allow_undo": True}, {"actions": "cards"}, {"auto_foundation": True}):
            chosen = {**other, **keywords}
            save_model(self.model(BoulangerEnv(**chosen)), tmp_path / "m.zip", sample=False)
            assert as_policy(tmp_path / "m.zip").settings == {**SETTINGS, **chosen}
            assert evaluate(tmp_path / "m.zip", DEALS[:1]).settings == {**SETTINGS, **chosen}

    def test_a_model_that_does_not_say_how_it_was_trained(self, tmp_path: Path) -> None:
        from sb3_contrib import MaskablePPO

        self.model(BoulangerEnv(observation="cards", prune=True)).save(tmp_path / "plain.zip")
        for model in (tmp_path / "plain.zip", MaskablePPO.load(tmp_path / "plain.zip", device="cpu")):
            with pytest.warns(UserWarning, match="does not say how it was trained"):
                settings = as_policy(model).settings
            assert settings == {"observation": "cards", "actions": "places", "allow_undo": False}

    def test_a_model_that_diverged_is_refused(self) -> None:
        model = self.model(BoulangerEnv(observation="cards"))
        next(model.policy.parameters()).data[0] = float("nan")
        with pytest.raises(BoulangerError, match="weights that are not finite numbers"):
            as_policy(model)

    def test_a_hostile_file_is_an_error_that_names_it(self, tmp_path: Path) -> None:
        save_model(self.model(BoulangerEnv(observation="cards")), tmp_path / "good.zip", sample=True)
        good = (tmp_path / "good.zip").read_bytes()
        with zipfile.ZipFile(tmp_path / "good.zip") as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        data = json.loads(parts["data"])
        changed = {
            "cut": good[: len(good) // 2],
            "empty": b"",
            "nothing in it": packed({}),
            "a bomb": packed({**parts, "more": b"\0" * 50_000_000}, zipfile.ZIP_DEFLATED),
            "deep": packed({**parts, "data": b"[" * 100_000}),
            "no weights": packed({**parts, "policy.pth": b""}),
            "another class": packed({**parts, "data": json.dumps({**data, "policy_class": 5}).encode()}),
        }
        for way in (
            5,
            {},
            {"settings": {"reward": 1}, "wrappers": [], "sample": True},
            {"sample": "\x1b[2J"},
        ):
            changed[repr(way)] = packed(
                {**parts, "data": json.dumps({**data, "boulanger_env": way}).encode()}
            )
        for name, content in changed.items():
            file = tmp_path / "hostile.zip"
            file.write_bytes(content)
            started = time.perf_counter()
            # On Ray a model is sent by its content; errors still name the file it came from.
            for load_it in (as_policy, lambda path: AgentSpec.parse(path).packed().make()):
                with pytest.raises(BoulangerError) as error:
                    load_it(str(file))
                assert str(error.value).startswith(f"{file} is not a model"), name
            assert time.perf_counter() - started < 20, name


def packed(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip with these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


class TestCommandLine:
    """``boulanger bench``, as it is typed."""

    def run(self, *arguments: str) -> Any:
        testing = pytest.importorskip("typer.testing")
        from boulanger_env.cli import app

        return testing.CliRunner().invoke(
            app, ["bench", "--deals", "c4-test-100", "--limit", "2", *arguments]
        )

    def plain(self, result: Any) -> str:
        """Markdown as it is read."""
        return str(result.stdout).replace("\\_", "_")

    def test_settings_for_all_agents_are_named_under_the_table(self) -> None:
        result = self.run(
            "--agent", "random", "--agent", "greedy", "--prune", "--max-episode-steps", "20", "--markdown"
        )
        assert result.exit_code == 0, result.output
        assert self.plain(result).endswith("95 % intervals; max_episode_steps=20, prune=True\n")
        assert "max_episode_steps" not in self.plain(self.run("--agent", "random", "--markdown"))

    @pytest.mark.usefixtures("one_thread")
    def test_a_models_own_settings_are_named(self, tmp_path: Path) -> None:
        contrib = pytest.importorskip("sb3_contrib")
        env = BoulangerEnv(observation="cards", prune=True, max_episode_steps=9)
        model = contrib.MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, device="cpu")
        save_model(model, tmp_path / "m.zip", sample=True)
        agents = ("--agent", str(tmp_path / "m.zip"), "--agent", "random", "--markdown")
        shown = self.plain(self.run(*agents))
        assert "m.zip: max_episode_steps=9, prune=True, sample=True; random: the default settings" in shown
        likeliest = self.plain(self.run(*agents, "--no-sample"))
        assert "m.zip: max_episode_steps=9, prune=True; random" in likeliest

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--agent", "random", "--record", "x", "--record-games", "wins"), "games to record 'wins'"),
            (("--agent", "gredy"), "did you mean 'greedy'?"),
            (("--agent", ""), "no agent and no file ''"),
            (("--agent", f"{'x' * 100_000}=greedy"), "printable characters"),
            (
                ("--agent", "random", "--sample", "--agent", "test_policies:first"),
                "sample is for trained models",
            ),
        ],
    )
    def test_an_error_is_one_line(self, arguments: tuple[str, ...], message: str) -> None:
        result = self.run(*arguments)
        assert result.exit_code == 1
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert len(result.stderr) < 700

    def test_a_warning_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "odd.py").write_text(
            "from boulanger_env.replay import Annotation\n\n\nclass Odd:\n"
            "    def annotate(self, observation, mask, info):\n        return Annotation((), float('inf'))\n\n"
            "    def __call__(self, observation, mask, info):\n        return int(mask.argmax())\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(Path(boulanger_env.__file__).parent.parent)}
        options = ["--agent", "odd:Odd", "--deals", "c4-test-100", "--limit", "1", "--record", "games"]
        command = ["-m", "boulanger_env", "bench", *options]
        run = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stderr.splitlines() == [
            "Warning: Odd: what it notes is left out of replays that cannot hold it: inf is not a finite number"
        ]
