"""Benchmarks: every deal played once, results that depend on nothing else, file round trips, the command."""

from __future__ import annotations

import importlib
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import boulanger_env
from boulanger_env import BoulangerEnv, BoulangerError
from boulanger_env.agents import HeuristicAgent, as_policy, make
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.benchmark.statistics import mean, share
from boulanger_env.cli.bench_agents import bench
from boulanger_env.deals import DealSet, load
from boulanger_env.report import markdown, rich_table

DEALS = DealSet("mixed", [*(f"MS-C4-{i}" for i in range(1, 20)), "MS-C2-5", "MS-C1-5", "BK1-C4-AAAAA24"])


def first_legal(observation: Any, mask: Any, info: Any) -> int:
    """A policy of one game at a time, on the default observation."""
    assert observation.shape == (2076,)
    assert mask.shape == (780,)
    assert isinstance(int(info["moves"]), int)
    return int(mask.argmax())


class TestPlay:
    def test_rows_say_how_single_games_go(self) -> None:
        results = evaluate("greedy", DEALS, max_episode_steps=60, prune=True)
        agent = make("greedy")
        for row, code in zip(results.games, DEALS, strict=True):
            env = BoulangerEnv(max_episode_steps=60, prune=True)
            observation, info = env.reset(options={"code": code})
            over = False
            while not over:
                observation, _, terminated, truncated, info = env.step(
                    agent(observation, info["action_mask"], info)
                )
                over = terminated or truncated
            assert row[1:-1] == (
                info["code"],
                0,
                "truncated" if truncated else info["outcome"],
                env.game.cards_home,
                info["score"],
                info["moves"],
                info["moves"],
                0,
            )
            assert row.won is info["is_success"]

    @pytest.mark.parametrize("policy", ["random", "greedy", HeuristicAgent(30)])
    def test_the_batch_size_changes_nothing(self, policy: Any) -> None:
        runs = [evaluate(policy, DEALS, seed=4, batch_size=size, max_episode_steps=80) for size in (1, 5, 64)]
        assert runs[0] == runs[1] == runs[2]

    def test_the_seed_is_all_the_chance(self) -> None:
        first, again, other = (evaluate("random", DEALS, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first.games != other.games
        # A game's random numbers depend on its place: a longer set begins with the same games.
        assert evaluate("random", DEALS[:5], seed=1).games == first.games[:5]

    def test_several_seeds_are_several_rounds(self) -> None:
        together = evaluate("random", DEALS, seed=[7, 2])
        alone = [evaluate("random", DEALS, seed=seed) for seed in (7, 2)]
        assert together.games == alone[0].games + alone[1].games
        assert together.seeds == (7, 2)
        assert together.n_deals == len(DEALS)
        assert ([run.column("score")[:, 0] for run in alone] == together.column("score").T).all()

    def test_any_callable_plays(self) -> None:
        results = evaluate(first_legal, DEALS[:5], max_episode_steps=30)
        assert results.policy == "first_legal"
        assert results == evaluate(first_legal, DEALS[:5], max_episode_steps=30, batch_size=3)
        assert evaluate(first_legal, DEALS[:2], name="mine", max_episode_steps=3).policy == "mine"

    def test_a_policy_in_a_module(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "my_own_policies.py").write_text(
            "def lowest(observation, mask, info):\n    return int(mask.argmax())\n\n\n"
            "class Batched:\n    batched = True\n\n"
            "    def __call__(self, observation, mask, info):\n        return mask.argmax(1)\n"
        )
        monkeypatch.chdir(tmp_path)
        results = evaluate("my_own_policies:lowest", DEALS[:4], max_episode_steps=30)
        assert results.policy == "lowest"
        assert results.details["object"] == "my_own_policies:lowest"
        assert results.games == evaluate(first_legal, DEALS[:4], max_episode_steps=30).games
        assert evaluate("my_own_policies:Batched", DEALS[:4], max_episode_steps=30).games == results.games

    def test_an_agent_with_options(self) -> None:
        results = evaluate("heuristic:nodes=30", DEALS[:6])
        assert (results.policy, results.details) == ("heuristic-30", {"nodes": 30})
        assert results.games == evaluate(HeuristicAgent(30), DEALS[:6]).games

    def test_illegal_actions_are_the_environments_affair(self) -> None:
        def never_legal(observation: Any, mask: Any, info: Any) -> int:
            return int(mask.argmin())

        rows = evaluate(never_legal, DEALS[:2], illegal_action="terminate").games
        assert [row.outcome for row in rows] == ["illegal", "illegal"]
        rows = evaluate(never_legal, DEALS[:2], max_episode_steps=7).games
        assert [(row.outcome, row.moves, row.steps, row.illegal) for row in rows] == [
            ("truncated", 0, 7, 7)
        ] * 2
        assert evaluate(never_legal, DEALS[:2], max_episode_steps=7).summary.illegal == 7

    def test_illegal_actions_are_counted_game_by_game(self) -> None:
        def sometimes(observation: Any, mask: Any, info: Any) -> int:
            return int(
                mask.argmin() if info["moves"] % 3 == 1 and not info["illegal_action"] else mask.argmax()
            )

        results = evaluate(sometimes, DEALS[:8], max_episode_steps=40)
        for row in results.games:
            assert row.steps == row.moves + row.illegal
            # One after the moves 1, 4, 7 ..., but for a game's last.
            assert 0 <= (row.moves + 1) // 3 + 1 - row.illegal <= 1
            assert row.illegal > 0

    def test_a_batched_policy_may_want_undo(self) -> None:
        class UndoLover:
            batched, allow_undo, observation = True, True, "cards"

            def __call__(self, observation: Any, mask: Any, info: Any) -> Any:
                assert mask.shape[1] == 781
                return np.where(mask[:, 780] == 1, 780, mask.argmax(1))

        results = evaluate(UndoLover(), DEALS, max_episode_steps=11)
        assert results.policy == "UndoLover"
        assert results.settings["allow_undo"] is True
        assert {row.moves for row in results.games} == {1}
        assert {row.steps for row in results.games} == {11}

    def test_progress_counts_the_games(self) -> None:
        reported: list[tuple[int, int]] = []
        evaluate("random", DEALS, batch_size=4, progress=lambda done, total: reported.append((done, total)))
        assert reported == [(i + 1, len(DEALS)) for i in range(len(DEALS))]

    def test_what_a_run_was_is_recorded(self) -> None:
        results = evaluate("random", load("c2-validation-100")[:3], seed=9, max_episode_steps=np.int64(40))
        assert (results.policy, results.seeds, results.deals) == ("random", (9,), "c2-validation-100[0:3]")
        assert results.fingerprint == load("c2-validation-100")[:3].fingerprint
        assert results.version == boulanger_env.__version__
        assert results.settings == {
            "actions": "places",
            "allow_undo": False,
            "auto_foundation": False,
            "no_repeats": False,
            "illegal_action": "penalize",
            "max_episode_steps": 40,
            "observation": "cards",
            "prune": False,
        }


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"policy": "clever"}, "no agent and no file 'clever'"),
            ({"policy": 3}, "is not a policy"),
            ({"deals": []}, "empty"),
            ({"deals": "nowhere"}, "no deal set"),
            ({"seed": -1}, "whole number"),
            ({"seed": 1.5}, "whole number"),
            ({"seed": []}, "at least one"),
            ({"seed": [1, 2, 1]}, "each only once"),
            ({"policy": "heuristic:nodes"}, "'nodes' is not an option"),
            ({"policy": "heuristic:depth=3"}, "no option 'depth': its options are nodes"),
            ({"policy": "greedy:nodes=3"}, "no option 'nodes': it has none"),
            ({"policy": "heuristic:nodes=0"}, "whole number"),
            ({"policy": "solver:quality=best"}, "quality 'best' is unknown"),
            ({"policy": "nowhere_at_all:policy"}, "there is no module 'nowhere_at_all'"),
            ({"policy": "boulanger_env:policy"}, "module boulanger_env has no 'policy'"),
            ({"batch_size": 0}, "batch_size=0"),
            ({"batch_size": True}, "batch_size=True"),
            ({"reward": "win"}, "setting 'reward' is unknown"),
            ({"prun": True}, "setting 'prun' is unknown"),
            ({"max_episode_steps": 0}, "max_episode_steps=0"),
        ],
    )
    def test_it_is_refused_before_anything_is_played(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(BoulangerError, match=message):
            evaluate(**{"policy": "random", "deals": DEALS[:1], **arguments})

    @pytest.mark.parametrize("action", [1.5, "7", None, [1, 2], True])
    def test_a_policy_that_gives_no_action(self, action: Any) -> None:
        with pytest.raises(BoulangerError, match="an action is one integer"):
            evaluate(lambda observation, mask, info: action, DEALS[:1])

    def test_a_policy_that_gives_too_few_actions(self) -> None:
        class One:
            batched = True

            def __call__(self, observation: Any, mask: Any, info: Any) -> Any:
                return np.zeros(1, np.int64)

        with pytest.raises(BoulangerError, match="actions of 3 games"):
            evaluate(One(), DEALS[:3])

    def test_without_scipy_one_line_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "scipy.stats", None)
        with pytest.raises(BoulangerError, match=r'scipy: pip install "boulanger-env\[bench\]"'):
            evaluate("random", DEALS[:1])


class TestStatistics:
    @pytest.mark.parametrize(("wins", "n"), [(0, 10), (3, 10), (10, 10), (137, 1000), (1, 1)])
    def test_the_wilson_interval_is_wilsons(self, wins: int, n: int) -> None:
        z, p = stats.norm.ppf(0.975), wins / n
        center = (p + z * z / (2 * n)) / (1 + z * z / n)
        margin = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        value, low, high = share(wins, n)
        assert value == p
        assert low == pytest.approx(max(0, center - margin), abs=1e-12)
        assert high == pytest.approx(min(1, center + margin), abs=1e-12)

    def test_the_mean_has_students_interval(self) -> None:
        values = [3, 1, 4, 1, 5, 9, 2, 6]
        low, high = stats.t.interval(0.95, 7, loc=np.mean(values), scale=stats.sem(values))
        assert mean(values) == pytest.approx((np.mean(values), low, high))
        assert mean([2, 2, 2]) == (2, 2, 2)
        assert mean([5]) == (5, None, None)

    def test_the_summary_is_that_of_the_rows(self) -> None:
        results = evaluate("greedy", load("c4-validation-100")[:60])
        summary = results.summary
        assert summary.games == 60
        assert summary.wins == sum(row.outcome == "won" for row in results.games)
        assert summary.win_rate.value == summary.wins / 60
        for name in ("cards_home", "score"):
            assert getattr(summary, name).value == pytest.approx(
                np.mean([getattr(r, name) for r in results.games])
            )
        home = sorted(row.cards_home for row in results.games)
        assert summary.cards_home_median.value == (home[29] + home[30]) / 2
        assert summary.cards_home_iqm.value == pytest.approx(sum(home[15:45]) / 30)
        assert summary.moves is not None
        assert summary.moves.value == np.mean([row.moves for row in results.games if row.won])
        labels = load("c4-validation-100")[:60].labels
        assert labels is not None
        assert summary.solvable_won == share(summary.wins, int(labels.solvable.sum()))
        assert summary.regret is not None
        assert summary.regret.value == np.mean(
            [row.moves - labels.length[row.place] for row in results.games if row.won]
        )
        # The same deals without a name that is known.
        unknown = evaluate("greedy", DealSet("mine", results.codes))
        assert unknown.games == results.games
        assert (unknown.summary.solvable_won, unknown.summary.regret) == (None, None)

    def test_a_file_gets_the_labels_of_the_set_that_it_names(self, tmp_path: Path) -> None:
        results = evaluate("greedy", load("c4-validation-100")[20:30])
        results.save(tmp_path / "r.jsonl")
        loaded = Results.load(tmp_path / "r.jsonl")
        assert loaded.summary == results.summary
        assert loaded.labels is not None
        assert (loaded.labels.length == load("c4-validation-100").labels.length[20:30]).all()  # type: ignore[union-attr]


class TestFiles:
    def test_results_come_back_equal(self, tmp_path: Path) -> None:
        for results in (evaluate("random", DEALS, seed=2**63), evaluate("greedy", DEALS[:1])):
            results.save(tmp_path / "results.jsonl")
            assert Results.load(tmp_path / "results.jsonl") == results
            assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]

    def test_the_file_is_json_lines(self, tmp_path: Path) -> None:
        results = evaluate("greedy", DEALS, seed=[4, 5])
        results.save(tmp_path / "r.jsonl")
        head, *games = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
        assert head["policy"] == {"name": "greedy"}
        assert head["seeds"] == [4, 5]
        assert head["deals"] == {"name": "mixed", "fingerprint": DEALS.fingerprint, "count": len(DEALS)}
        assert len(games) == 2 * len(DEALS)
        seconds = [game.pop("seconds") for game in games]
        assert sum(seconds) == pytest.approx(results.seconds, abs=1e-3)
        assert [{**game, "actions": ""} for game in games] == [row._asdict() for row in results.games]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda head, games: head.update(format="other"), "does not say that its format"),
            (lambda head, games: games.reverse(), ""),
            (lambda head, games: games[0].update(code="MS-C4-77"), "not those of the deal set"),
            (lambda head, games: games[0].pop("outcome"), "it must have place, code"),
            (lambda head, games: games[0].update(score=True), "of type int"),
            (lambda head, games: games[0].update(score="10"), "of type int"),
            (lambda head, games: games[0].update(code="MS-C3-1"), "cell count"),
            (lambda head, games: games[0].update(outcome="won"), "no game can end like that"),
            (lambda head, games: games[0].update(illegal=10**6), "no game can end like that"),
            (lambda head, games: games[0].update(seconds=-1), "not a number of seconds"),
            (lambda head, games: games[0].update(seed=5), "a game of another run"),
            (lambda head, games: games[0].update(place=3), "a game of another run"),
            (lambda head, games: games[0].update(place=1), "was played before"),
            (lambda head, games: head.pop("policy"), "'policy' is missing"),
            (lambda head, games: head.update(seeds=5), "of type list"),
            (lambda head, games: head.update(seeds=[]), "are not a run"),
            (lambda head, games: head.update(settings=[]), "of type dict"),
        ],
    )
    def test_a_damaged_file_is_refused(self, tmp_path: Path, change: Any, message: str) -> None:
        path = tmp_path / "r.jsonl"
        results = evaluate("greedy", DEALS[:3])
        results.save(path)
        head, *games = map(json.loads, path.read_text().splitlines())
        change(head, games)
        path.write_text("".join(json.dumps(line) + "\n" for line in (head, *games)))
        if not message:
            assert Results.load(path) == results
            return
        with pytest.raises(BoulangerError, match=f"r.jsonl is not a file of benchmark results: .*{message}"):
            Results.load(path)

    @pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, "\0"])
    def test_what_is_not_a_results_file_is_rejected(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "r.jsonl").write_text(text)
        with pytest.raises(BoulangerError, match=r"r\.jsonl is not a file of benchmark results"):
            Results.load(tmp_path / "r.jsonl")

    def test_a_failed_save_leaves_the_earlier_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "r.jsonl"
        results = evaluate("greedy", DEALS[:2])
        results.save(path)

        def fail(*_: Any) -> None:
            raise OSError("disk full")

        monkeypatch.setattr("os.fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            evaluate("random", DEALS).save(path)
        assert [p.name for p in tmp_path.iterdir()] == ["r.jsonl"]
        assert Results.load(path) == results


class TestReport:
    def test_the_markdown_table(self) -> None:
        runs = [evaluate(name, DEALS) for name in ("random", "greedy")]
        lines = markdown(runs).splitlines()
        assert lines[0] == "| policy | games | won | cards home | median | IQM | score | moves | illegal |"
        assert len(lines) == 4
        low, high = share(runs[1].summary.wins, len(DEALS))[1:]
        assert low is not None
        assert high is not None
        assert f"[{low * 100:.1f}, {high * 100:.1f}]" in lines[3]

    def test_a_single_game_has_no_interval_of_means(self) -> None:
        assert markdown([evaluate("greedy", DEALS[:1])]).splitlines()[2].count("[") == 1

    def test_the_table_for_the_terminal(self) -> None:
        from rich.console import Console

        console = Console(width=140, no_color=True)
        with console.capture() as capture:
            console.print(rich_table([evaluate("random", DEALS, name="[bold]mine")]))
        assert "[bold]mine" in capture.get()
        assert DEALS.fingerprint in capture.get()

    def test_the_table_for_the_terminal_fits_80_columns(self) -> None:
        from rich.console import Console

        console = Console(width=80, no_color=True)
        with console.capture() as capture:
            console.print(rich_table([evaluate("heuristic", DEALS)]))
        assert "heuristic" in capture.get()
        assert "…" not in capture.get()

    def test_results_on_other_deals_are_not_compared(self) -> None:
        with pytest.raises(BoulangerError, match="different deals"):
            markdown([evaluate("random", DEALS), evaluate("random", DEALS[:3])])
        with pytest.raises(BoulangerError, match="no results"):
            markdown([])


class TestCommand:
    def test_several_agents(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = tmp_path / "runs"
        results = bench(["random", "mine=greedy"], "c4-validation-100", limit=12, seeds=[3], output=folder)
        out = capsys.readouterr().out
        assert "random" in out
        assert "mine" in out
        assert "c4-validation-100[0:12]" in out
        assert [Results.load(folder / f"{name}.jsonl") for name in ("random", "mine")] == results
        assert results[0] == evaluate("random", load("c4-validation-100")[:12], seed=3)
        assert (folder / "report.html").is_file()
        # Again: nothing is played, and the same is reported.
        before = (folder / "mine.jsonl").read_bytes()
        assert (
            bench(["random", "mine=greedy"], "c4-validation-100", limit=12, seeds=[3], output=folder)
            == results
        )
        assert (folder / "mine.jsonl").read_bytes() == before

    def test_one_agent_and_a_file_of_deals(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        DEALS.save(tmp_path / "deals.txt")
        results = bench(["greedy"], tmp_path / "deals.txt", as_markdown=True)
        assert capsys.readouterr().out.startswith(markdown(results))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"agents": []}, "give at least one"),
            ({"agents": ["random", "random"]}, "names that differ"),
            ({"agents": ["nobody"]}, "no agent and no file"),
            ({"limit": 0}, "limit 0"),
            ({"workers": 2}, "for a run on Ray"),
            ({"ray": "local"}, "needs an output folder"),
            ({"ray": "local", "threads": 2}, "threads=2 is for a run without Ray"),
        ],
    )
    def test_bad_input(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(BoulangerError, match=message):
            bench(**{"agents": ["random"], "deals": "c4-validation-100", **arguments})

    def test_a_folder_of_another_run(self, tmp_path: Path) -> None:
        bench(["greedy"], "c4-validation-100", limit=3, output=tmp_path)
        with pytest.raises(
            BoulangerError, match=r"greedy.jsonl is a run with other settings \(seeds \[0\] there, \[1\]"
        ):
            bench(["greedy"], "c4-validation-100", limit=3, seeds=[1], output=tmp_path)


class TestModels:
    """Models of Stable-Baselines3, saved and loaded."""

    @pytest.fixture(autouse=True)
    def _needs_contrib(self) -> None:
        pytest.importorskip("sb3_contrib")

    def model(self, env: Any, policy: str) -> Any:
        contrib = importlib.import_module("sb3_contrib")
        return contrib.MaskablePPO(policy, env, n_steps=8, batch_size=8, seed=0, device="cpu")

    @pytest.mark.filterwarnings("ignore:model m.zip does not say")
    @pytest.mark.parametrize(("kind", "policy"), [("features", "MlpPolicy"), ("cards", "MultiInputPolicy")])
    def test_a_zip_plays_as_its_model(self, tmp_path: Path, kind: str, policy: str) -> None:
        model = self.model(BoulangerEnv(observation=kind, allow_undo=kind == "cards"), policy)
        model.save(tmp_path / "m.zip")
        results = evaluate(tmp_path / "m.zip", DEALS[:6], max_episode_steps=25)
        assert results.policy == "m.zip"
        assert len(results.details["model"]) == 16
        assert results.settings["observation"] == kind
        assert results.settings["allow_undo"] is (kind == "cards")
        assert evaluate(str(tmp_path / "m.zip"), DEALS[:6], max_episode_steps=25) == results
        in_memory = evaluate(model, DEALS[:6], max_episode_steps=25)
        assert in_memory.policy == "MaskablePPO"
        assert in_memory.games == results.games
        results.save(tmp_path / "r.jsonl")
        assert Results.load(tmp_path / "r.jsonl") == results

    def test_a_model_of_card_actions(self) -> None:
        env = BoulangerEnv(observation="cards", actions="cards")
        model = self.model(env, "MultiInputPolicy")
        results = evaluate(model, DEALS[:5], max_episode_steps=30)
        for row in results.games:
            observation, info = env.reset(options={"code": row.code})
            over, steps = False, 0
            while not over and steps < 30:
                action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
                observation, _, over, _, info = env.step(action)
                steps += 1
                assert not info["illegal_action"]
            assert (row.score, row.moves) == (info["score"], info["moves"])

    @pytest.mark.filterwarnings("ignore:model m.zip does not say")
    @pytest.mark.parametrize("algorithm", ["PPO", "A2C", "TRPO", "DQN", "QRDQN"])
    def test_models_without_masks(self, tmp_path: Path, algorithm: str) -> None:
        for module in ("stable_baselines3", "sb3_contrib"):
            kind = getattr(importlib.import_module(module), algorithm, None)
            if kind is not None:
                break
        assert kind is not None
        small = {"buffer_size": 10} if "DQN" in algorithm else {"n_steps": 8}
        if algorithm in ("PPO", "TRPO"):
            small["batch_size"] = 8
        model = kind("MlpPolicy", BoulangerEnv(), seed=1, device="cpu", **small)
        model.save(tmp_path / "m.zip")
        loaded = as_policy(tmp_path / "m.zip").act._model
        assert type(loaded) is kind
        results = evaluate(tmp_path / "m.zip", DEALS[:3], max_episode_steps=9)
        assert results.games == evaluate(model, DEALS[:3], max_episode_steps=9).games
        # An untrained one hardly ever finds a legal action among 780.
        assert results.summary.illegal > 0
        with pytest.raises(BoulangerError, match="sample is for MaskablePPO"):
            as_policy(tmp_path / "m.zip", sample=True)

    def test_a_recurrent_model_is_refused(self, tmp_path: Path) -> None:
        contrib = importlib.import_module("sb3_contrib")
        small = {"lstm_hidden_size": 4, "net_arch": [4]}
        model = contrib.RecurrentPPO(
            "MlpLstmPolicy", BoulangerEnv(), n_steps=8, policy_kwargs=small, device="cpu"
        )
        model.save(tmp_path / "m.zip")
        with pytest.raises(
            BoulangerError, match="what can be played are models of MaskablePPO, QRDQN, DQN, TRPO"
        ):
            as_policy(tmp_path / "m.zip")

    def test_what_is_not_a_model_of_this_environment(self, tmp_path: Path) -> None:
        import gymnasium as gym

        (tmp_path / "m.zip").write_bytes(b"not a zip")
        with pytest.raises(
            BoulangerError, match=r"m\.zip is not a model that Stable-Baselines3 or sb3-contrib saved"
        ):
            as_policy(tmp_path / "m.zip")
        with pytest.raises(BoulangerError, match="must have 780 actions"):
            as_policy(self.model(gym.make("CartPole-v1"), "MlpPolicy"))


class TestCommandLine:
    """``boulanger bench``, as it is typed."""

    def run(self, *arguments: str) -> Any:
        testing = pytest.importorskip("typer.testing")
        from boulanger_env.cli import app

        return testing.CliRunner().invoke(app, ["bench", *arguments])

    def test_it_prints_the_table_and_saves(self, tmp_path: Path) -> None:
        file = tmp_path / "random.jsonl"
        deals = ("--deals", "c1-test-100", "--limit", "5", "--seed", "2")
        result = self.run("--agent", "random", *deals, "--output", str(tmp_path), "--markdown")
        assert result.exit_code == 0, result.output
        assert result.stdout.startswith(markdown([Results.load(file)]))
        assert Results.load(file) == evaluate("random", load("c1-test-100")[:5], seed=2)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--agent", "nobody"), "no agent and no file 'nobody'"),
            (("--agent", "random", "--deals", "nowhere"), "no deal set and no file 'nowhere'"),
            (("--agent", "random", "--agent", "random"), "names that differ"),
            (("--agent", "random", "--seed", str(2**64)), "whole number"),
        ],
    )
    def test_an_error_is_one_line(self, arguments: tuple[str, ...], message: str) -> None:
        result = self.run(*arguments)
        assert result.exit_code == 1
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1

    def test_ctrl_c_is_one_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("boulanger_env.cli.bench_agents.evaluate", interrupt)
        result = self.run("--agent", "random")
        assert (result.exit_code, result.stderr) == (1, "Error: stopped\n")

    def test_output_that_cannot_show_a_sign_gets_another(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        class Ascii:
            encoding = "ascii"

            def __getattr__(self, name: str) -> Any:
                return getattr(stdout, name)

        stdout = sys.stdout
        monkeypatch.setattr(sys, "stdout", Ascii())
        bench(["random"], "c4-test-100", limit=5)
        assert capsys.readouterr().out.isascii()
