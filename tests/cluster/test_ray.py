"""Benchmarks and labels on a local Ray of two workers, one of which is killed."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from boulanger_env import BoulangerError
from boulanger_env.benchmark import Results, evaluate, losses
from boulanger_env.cli.bench_agents import bench
from boulanger_env.cli.label_deals import label_codes
from boulanger_env.cluster.pools import OnRay
from boulanger_env.cluster.winnability import as_sample, label
from boulanger_env.deals import load

ray = pytest.importorskip("ray")
pq = pytest.importorskip("pyarrow.parquet")

MARK = "BOULANGER_TEST_KILLED"


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two workers for all tests here; their processes import what this one does."""
    OnRay("local", 2)._connect()
    yield
    ray.shutdown()


def die_once(mark: str) -> None:
    """Kill this process, if it is the first that comes here."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def square_but_die_once(number: int, mark: str) -> int:
    if number == 3:
        die_once(mark)
    return number * number


def square_and_die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def refuse(number: int) -> int:
    raise BoulangerError(f"{number} is refused")


class Mortal:
    """A policy whose first process dies at its 40th move; ``KILLED_IN`` names the folder that remembers it."""

    name = "mortal"
    asked = 0

    def __call__(self, observation: Any, mask: Any, info: Any) -> int:
        Mortal.asked += 1
        folder = Path(__file__).parent / ".." / os.environ.get(MARK, "")
        if Mortal.asked == 40 and MARK in os.environ:
            die_once(str(folder / "killed"))
        return int(mask.argmax())


class TestPool:
    def test_a_worker_that_dies_is_replaced(self, tmp_path: Path) -> None:
        mark = str(tmp_path / "killed")
        jobs = {str(n): (n, mark) for n in range(8)}
        assert dict(OnRay("local", 2).run(square_but_die_once, jobs)) == {str(n): n * n for n in range(8)}
        assert os.path.exists(mark)

    def test_workers_that_always_die(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("boulanger_env.cluster.pools.RETRIES", 1)
        with pytest.raises(BoulangerError, match="worked on a died 2 times"):
            list(OnRay("local", 2).run(square_and_die, {"a": (1,)}))

    def test_an_error_is_the_one_that_was_raised(self) -> None:
        with pytest.raises(BoulangerError, match=r"^7 is refused$"):
            list(OnRay("local", 2).run(refuse, {"a": (7,)}))


class TestAddress:
    @pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "auto"])
    @pytest.mark.parametrize("listens", [True, False])
    def test_one_that_does_not_answer_is_refused_soon(
        self, form: str, listens: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Ray tries it for minutes."""
        with socket.socket() as server, socket.socket() as other, socket.socket() as another:
            server.bind(("127.0.0.1", 0))
            port = server.getsockname()[1]
            if listens:  # but accepts no connection: one waits, and there is no room for more
                server.listen(0)
                for full in (other, another):
                    full.setblocking(False)
                    full.connect_ex(("127.0.0.1", port))
            monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{port}")
            started = time.monotonic()
            with pytest.raises(BoulangerError, match=rf"no Ray cluster at '.*{port}' \(.*\): give host:port"):
                OnRay(form.format(port))._connect()
            assert time.monotonic() < started + 10

    @pytest.mark.parametrize("address", ["nowhere.invalid:6379", "localhost:99999", "nonsense"])
    def test_one_that_is_none(self, address: str) -> None:
        with pytest.raises(BoulangerError, match=f"no Ray cluster at '{address}'"):
            OnRay(address)._connect()


class TestLabel:
    def test_it_is_what_one_process_finds(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        found = label_codes("MS-C4-1", count=100, output=tmp_path / "r", ray="local", workers=2, shard=20)
        assert found == label(as_sample("MS-C4-1", 100))
        assert "deals can be won" in capsys.readouterr().out
        files = sorted((tmp_path / "r").glob("*.parquet"))
        assert [pq.read_table(file).num_rows for file in files] == [20] * 5
        times = {file: file.stat().st_mtime_ns for file in files}
        files[2].unlink()
        assert label_codes("MS-C4-1", count=100, output=tmp_path / "r", ray="local", shard=20) == found
        made_again = [file for file in files if file.stat().st_mtime_ns != times[file]]
        assert made_again == [files[2]]


class TestBench:
    def test_it_is_what_one_process_plays(self, tmp_path: Path) -> None:
        options: dict[str, Any] = {"limit": 120, "seeds": [2, 2**64 - 1], "output": tmp_path}
        results = bench(
            ["random", "heuristic:nodes=3"], "c4-validation-all", ray="local", workers=2, **options
        )
        deals = load("c4-validation-all")[:120]
        assert results == [
            evaluate(policy, deals, seed=[2, 2**64 - 1]) for policy in ("random", "heuristic:nodes=3")
        ]
        assert Results.load(tmp_path / "random.jsonl") == results[0]
        assert len(list((tmp_path / "random.shards").glob("*.parquet"))) == 6
        # All there: nothing is played again, with Ray or without.
        before = (tmp_path / "random.jsonl").read_bytes()
        for ray_or_not in ({"ray": "local"}, {}):
            assert bench(["random"], "c4-validation-all", **options, **ray_or_not) == results[:1]
        assert (tmp_path / "random.jsonl").read_bytes() == before

    def test_a_worker_is_killed_while_it_plays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        here = Path(__file__).parent
        monkeypatch.chdir(here)
        agent = f"{Path(__file__).stem}:Mortal"
        alone = evaluate(Mortal(), load("c4-validation-100"))
        # Workers that start from now on have the variable.
        ray.shutdown()
        monkeypatch.setenv(MARK, os.path.relpath(tmp_path, here.parent))
        (run,) = bench([agent], "c4-validation-100", ray="local", workers=2, output=tmp_path / "r")
        assert (tmp_path / "killed").exists()
        assert run.games == alone.games

    def test_a_model_travels_with_its_file(self, tmp_path: Path) -> None:
        contrib = pytest.importorskip("sb3_contrib")
        from boulanger_env import BoulangerEnv
        from boulanger_env.agents import save_model

        model = contrib.MaskablePPO(
            "MlpPolicy", BoulangerEnv(prune=True), n_steps=8, batch_size=8, seed=0, device="cpu"
        )
        save_model(model, tmp_path / "m.zip", sample=False)
        (run,) = bench(
            [str(tmp_path / "m.zip")], "c4-validation-100", limit=4, ray="local", output=tmp_path / "r"
        )
        assert run.policy == "m.zip"
        assert run.settings["prune"]
        assert [row.code for row in run.games] == list(load("c4-validation-100").codes[:4])
        assert run.header == evaluate(str(tmp_path / "m.zip"), load("c4-validation-100")[:4]).header


def test_losses_are_those_of_one_process(tmp_path: Path) -> None:
    run = evaluate("greedy", load("c4-test")[:25], moves=True)
    found = losses(run, pool=OnRay("local", 2), file=tmp_path / "ray.jsonl")
    assert found == losses(run, workers=1, file=tmp_path / "one.jsonl")
    assert (tmp_path / "ray.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
