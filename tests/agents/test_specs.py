"""Specs: how agents are named, which name takes precedence, what is sent along, and what is loaded when."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from boulanger_env import BoulangerError
from boulanger_env.agents import AGENTS, AgentSpec, as_policy, make
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.cli.bench_agents import bench
from boulanger_env.cluster.distributed import evaluate_on
from boulanger_env.cluster.pools import Processes
from boulanger_env.deals import DealSet

DEALS = DealSet("few", [f"MS-C4-{i}" for i in range(1, 7)])


@pytest.mark.parametrize(
    ("text", "kind", "target", "options", "name"),
    [
        ("greedy", "agent", "greedy", {}, None),
        ("mine=greedy", "agent", "greedy", {}, "mine"),
        ("heuristic:nodes=30", "agent", "heuristic", {"nodes": 30}, None),
        ("quick one=heuristic:nodes=30", "agent", "heuristic", {"nodes": 30}, "quick one"),
        ("solver:quality=any,nodes=None", "agent", "solver", {"quality": "any", "nodes": None}, None),
        ("heuristic: nodes = 3 ,", "agent", "heuristic", {"nodes": 3}, None),
        ("heuristic:nodes=[1]", "agent", "heuristic", {"nodes": "[1]"}, None),
        ("model.zip", "file", "model.zip", {}, None),
        ("long=runs/long/model.zip", "file", "runs/long/model.zip", {}, "long"),
        ("./lr=0.1.zip", "file", "./lr=0.1.zip", {}, None),
        ("0.1=./lr=0.1.zip", "file", "./lr=0.1.zip", {}, "0.1"),
        ("./greedy", "file", "./greedy", {}, None),
        ("./heuristic:nodes=3", "file", "./heuristic:nodes=3", {}, None),
        ("greedy.zip", "file", "greedy.zip", {}, None),
        (Path("greedy"), "file", "greedy", {}, None),
        ("C:\\runs\\model.zip", "file", "C:\\runs\\model.zip", {}, None),
        ("my_module:policy", "object", "my_module:policy", {}, None),
        ("mine=a.b.c:policy", "object", "a.b.c:policy", {}, "mine"),
    ],
)
def test_parsing(text: Any, kind: str, target: str, options: dict[str, Any], name: str | None) -> None:
    spec = AgentSpec.parse(text)
    assert (spec.kind, spec.target, dict(spec.options), spec.name) == (kind, target, options, name)
    assert (spec.sample, spec.content) == (None, None)
    # It can be pickled, and used as a key.
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert {spec: 1}[AgentSpec.parse(text)] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no agent and no file ''"),
        ("mine=", "no agent and no file ''"),
        ("gredy", r"did you mean 'greedy'\?"),
        ("mine=gredy", r"did you mean 'greedy'\?"),
        ("Greedy", r"did you mean 'greedy'\?"),
        ("greedy:", None),
        ("heuristic:nodes", "'nodes' is not an option"),
        ("heuristic:=3", "'=3' is not an option"),
        ("heuristic:nodes=3,nodes=4", "'nodes' is given twice"),
        (" =greedy", "printable characters"),
        ("a\nb=greedy", "printable characters"),
        (f"{'x' * 101}=greedy", "printable characters"),
    ],
)
def test_what_cannot_be_parsed(text: str, message: str | None) -> None:
    if message is None:
        assert AgentSpec.parse(text) == AgentSpec.parse("greedy")
        return
    with pytest.raises(BoulangerError, match=message):
        AgentSpec.parse(text)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("greedy:nodes=3", "has no option 'nodes'"),
        ("heuristic:nodes=0.5", "nodes"),
        ("no/such/model.zip", "no agent and no file 'no/such/model.zip'"),
        ("no_such_module_at_all:policy", "no module 'no_such_module_at_all'"),
    ],
)
def test_what_cannot_be_made(spec: str, message: str) -> None:
    parsed = AgentSpec.parse(spec)
    with pytest.raises(BoulangerError, match=message):
        parsed.make()


def test_every_agent_is_a_spec() -> None:
    for name in AGENTS:
        policy = AgentSpec.parse(name).make()
        assert (policy.name, dict(policy.details)) == (name, {})
        assert type(policy.act) is type(make(name))
    assert AgentSpec.parse("mine=random").make().name == "mine"


def test_a_spec_is_a_policy_everywhere() -> None:
    spec = AgentSpec.parse("mine=heuristic:nodes=3")
    runs = [evaluate(spec, DEALS), evaluate("mine=heuristic:nodes=3", DEALS)]
    assert runs[0] == runs[1]
    assert (runs[0].policy, runs[0].details) == ("mine", {"nodes": 3})
    assert runs[0].games == evaluate(make("heuristic", nodes=3), DEALS).games
    assert evaluate(spec, DEALS[:1], name="other").policy == "other"


def test_a_package_agent_wins_over_a_file_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("greedy", "heuristic:nodes=3"):
        (tmp_path / name).write_bytes(b"not a model")
    runs = bench(["greedy", "heuristic:nodes=3"], "c4-test-100", limit=2)
    assert [run.policy for run in runs] == ["greedy", "heuristic-3"]
    assert AgentSpec.parse("greedy").packed().content is None
    assert evaluate("greedy", DEALS[:2]).games == evaluate(make("greedy"), DEALS[:2]).games


@pytest.mark.parametrize("path", ["./greedy", Path("greedy"), "./heuristic:nodes=3"])
def test_a_file_is_named_by_a_path(path: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    Path(path).write_bytes(b"not a model")
    with pytest.raises(BoulangerError, match="is not a model"):
        as_policy(path)


@pytest.mark.parametrize("name", ["gredy", "lr=0.1.zip"])
def test_a_bare_name_leads_to_the_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"not a model")
    with pytest.raises(BoulangerError, match=rf"for the file of that name write \./{name}"):
        AgentSpec.parse(name).make()


def test_sampling_is_for_models() -> None:
    with pytest.raises(BoulangerError, match="sample is for trained models"):
        as_policy("greedy", sample=True)
    # The command's option applies to the models among its agents.
    assert bench(["greedy"], "c4-test-100", limit=1, sample=True)[0].policy == "greedy"


def test_nothing_is_loaded_before_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "loud.py").write_text("raise RuntimeError('loaded')\n")
    spec = AgentSpec.parse("loud:policy")
    assert "loud" not in sys.modules
    with pytest.raises(BoulangerError, match="RuntimeError: loaded"):
        spec.make()


def test_a_text_in_a_module_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "endless", raising=False)
    (tmp_path / "endless.py").write_text("policy = 'endless:policy'\n")
    with pytest.raises(BoulangerError, match="'endless:policy' is not a policy"):
        as_policy("endless:policy")


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    contrib = pytest.importorskip("sb3_contrib")
    from boulanger_env import BoulangerEnv
    from boulanger_env.agents import save_model

    model = contrib.MaskablePPO(
        "MultiInputPolicy", BoulangerEnv(observation="cards"), n_steps=8, batch_size=8, device="cpu"
    )
    save_model(model, tmp_path / "m.zip", sample=False)
    return tmp_path / "m.zip"


@pytest.mark.usefixtures("one_thread")
class TestTravel:
    def test_the_content_travels_for_a_pool_that_does_not_share_files(self, model_file: Path) -> None:
        spec = AgentSpec.parse(model_file)
        packed = spec.packed()
        assert packed.content == model_file.read_bytes()
        assert packed.packed() is packed
        assert repr(packed) == repr(spec)
        details = spec.make().details
        os.remove(model_file)
        assert packed.make().details == details
        for there in (spec.make, spec.packed):
            with pytest.raises(BoulangerError, match=r"no agent and no file .*m\.zip"):
                there()

    def sent(self, model_file: Path, shares_files: bool) -> set[bool]:
        """Whether the jobs of a run brought the model's content along."""
        seen = set()

        class Seen(Processes):
            def run(self, work: Any, jobs: Any) -> Any:
                seen.update(job[0].content is not None for job in jobs.values())
                return super().run(work, jobs)

        pool = Seen(1)
        pool.shares_files = shares_files  # type: ignore[misc]
        run = evaluate_on(
            pool, AgentSpec.parse(model_file), DEALS[:4], model_file.with_name("run.jsonl"), shard=2
        )
        assert run == Results.load(model_file.with_name("run.jsonl"))
        return seen

    def test_processes_read_the_file_themselves(self, model_file: Path) -> None:
        pytest.importorskip("pyarrow")
        assert self.sent(model_file, True) == {False}

    def test_other_machines_are_sent_it(self, model_file: Path) -> None:
        pytest.importorskip("pyarrow")
        assert self.sent(model_file, False) == {True}

    def test_a_file_that_changes_during_a_run_stops_it(self, model_file: Path) -> None:
        pytest.importorskip("pyarrow")
        from sb3_contrib import MaskablePPO

        from boulanger_env.agents import save_model

        class Late(Processes):
            def run(self, work: Any, jobs: Any) -> Any:
                model = MaskablePPO.load(model_file, device="cpu")
                next(model.policy.parameters()).data[:] = 0
                save_model(model, model_file, sample=False, settings={"observation": "cards"})
                return super().run(work, jobs)

        with pytest.raises(BoulangerError, match=r"m\.zip is not what this run began with"):
            evaluate_on(Late(1), AgentSpec.parse(model_file), DEALS[:2], model_file.with_name("run.jsonl"))
