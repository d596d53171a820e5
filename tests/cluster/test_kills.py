"""``label``, ``bench --record``, ``solve_many`` and ``train``, stopped at random moments and started again: no process
is left, no file is damaged, nothing is lost and nothing doubled. ``--slow`` stops each of them 50 times."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.interrupted_commands import SIGNALS, stopped_until_done

from boulanger_env.agents.model_files import load_model
from boulanger_env.benchmark import Results, evaluate, losses
from boulanger_env.deals import DealSet, load
from boulanger_env.replay import Replay
from boulanger_env.solver import solve_many

pytestmark = pytest.mark.skipif(
    not SIGNALS or not Path("/proc/self").is_dir(), reason="processes are counted in /proc"
)

BOULANGER = [sys.executable, "-m", "boulanger_env"]


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    return 50 if request.config.getoption("--slow") else 3


def emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def report(name: str, took: list[float]) -> None:
    print(f"{name}: {len(took)} stops, each over in {max(took):.2f} s at most")


def test_label(tmp_path: Path, kills: int) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    deals, shard, folder = 600, 25, tmp_path / "run"
    command = [*BOULANGER, "label", "--codes", "MS-C4-1", "--count", str(deals), "--shard", str(shard)]
    nodes = [solution.nodes for solution in solve_many((f"MS-C4-{n}" for n in range(1, deals + 1)), 1)]
    written: dict[Path, int] = {}

    def check() -> None:
        for path, before in written.items():
            assert path.stat().st_mtime_ns == before, "a shard was made twice"
        for path in folder.glob("*.parquet"):
            first = int(path.stem)
            table = pq.read_table(path)
            assert table["code"].to_pylist() == [f"MS-C4-{n + 1}" for n in range(first, first + shard)]
            assert table["nodes"].to_pylist() == nodes[first : first + shard]
            written[path] = path.stat().st_mtime_ns

    def new() -> None:
        assert len(written) in (0, deals // shard)
        written.clear()
        emptied(folder)

    command += ["--workers", "2", "--output", str(folder)]
    report("label", stopped_until_done(command, kills, 1, check, new))
    assert len(written) == deals // shard


def test_bench_with_record(tmp_path: Path, kills: int) -> None:
    pytest.importorskip("scipy")
    set_file, folder, games = tmp_path / "some.txt", tmp_path / "run", tmp_path / "games"
    deals = DealSet("some", [f"MS-C4-{n}" for n in range(1, 301)])
    deals.save(set_file)
    alone = evaluate("greedy", deals)
    rows = {row.code: row for row in alone.games}
    kept: set[str] = set()

    def check() -> None:
        file = folder / "greedy.jsonl"
        lines = file.read_bytes().split(b"\n")[1:-1] if file.exists() else []
        codes = [json.loads(line)["code"] for line in lines]
        assert len(codes) == len(set(codes)), "a game was played twice"
        assert kept <= set(codes), "a game was lost"
        kept.update(codes)
        found = {}
        for path in games.rglob("*.json") if games.exists() else ():
            replay = Replay.load(path)
            assert replay.start.code not in found, "a game was recorded twice"
            found[replay.start.code] = replay
            assert replay.outcome == rows[replay.start.code].outcome
        assert {code for code in codes if not rows[code].won} <= set(found), "a game was not recorded"

    def new() -> None:
        if kept:
            assert Results.load(folder / "greedy.jsonl") == alone
        kept.clear()
        emptied(folder)
        emptied(games)

    command = [*BOULANGER, "bench", "--agent", "greedy", "--deals", str(set_file), "--output", str(folder)]
    command += ["--record", str(games)]
    report("bench --record", stopped_until_done(command, kills, 2, check, new))
    assert Results.load(folder / "greedy.jsonl") == alone


def test_diagnose(tmp_path: Path, kills: int) -> None:
    pytest.importorskip("scipy")
    run = evaluate("greedy", load("c4-test")[:300], moves=True)
    run.save(tmp_path / "greedy.jsonl")
    expected = losses(run, workers=1, file=tmp_path / "expected.jsonl")
    lines = (tmp_path / "expected.jsonl").read_bytes().splitlines()
    file = tmp_path / "found" / "greedy.jsonl"
    kept: set[bytes] = set()

    def check() -> None:
        found = file.read_bytes().split(b"\n")[1:-1] if file.exists() else []
        assert len(found) == len(set(found)), "a game was diagnosed twice"
        assert kept <= set(found) <= set(lines[1:]), "a game was lost, or is another"
        kept.update(found)

    def new() -> None:
        if kept:
            assert file.read_bytes().splitlines() == lines
        kept.clear()
        emptied(file.parent)

    command = [*BOULANGER, "diagnose", str(tmp_path / "greedy.jsonl"), "--workers", "2"]
    report("diagnose", stopped_until_done([*command, "--output", str(file.parent)], kills, 4, check, new))
    assert file.read_bytes().splitlines() == lines
    assert losses(run, file=file) == expected


SCRIPT = """
import sys
from pathlib import Path
from boulanger_env.solver import solve_many
file = Path(sys.argv[1])
done = file.read_bytes().count(b"\\n") if file.exists() else 0
with open(file, "ab", buffering=0) as out:
    for solution in solve_many((f"MS-C4-{n}" for n in range(done + 1, 601)), workers=2):
        out.write(b"%d\\n" % solution.nodes)
"""


def test_solve_many(tmp_path: Path, kills: int) -> None:
    file = tmp_path / "nodes.txt"
    nodes = [str(solution.nodes) for solution in solve_many((f"MS-C4-{n}" for n in range(1, 601)), 1)]

    def check() -> None:
        lines = file.read_text().splitlines() if file.exists() else []
        assert lines == nodes[: len(lines)]

    command = [sys.executable, "-c", SCRIPT, str(file)]
    took = stopped_until_done(command, kills, 3, check, lambda: file.unlink(missing_ok=True))
    report("solve_many", took)
    assert file.read_text().split() == nodes


@pytest.mark.slow
def test_train(tmp_path: Path, kills: int) -> None:
    pytest.importorskip("sb3_contrib")
    test_deals, folder = tmp_path / "some.txt", tmp_path / "run"
    DealSet("some", [f"MS-C4-{n}" for n in range(1, 11)]).save(test_deals)
    left: Counter[str] = Counter()

    def check() -> None:
        """Every file is whole, and the last one exists only if all others do."""
        names = (
            {path.relative_to(folder).as_posix() for path in folder.rglob("[!.]*")}
            if folder.exists()
            else set()
        )
        left.update(names)
        if "model.zip" in names:
            load_model(folder / "model.zip")
        for path in folder.glob("benchmark/*.jsonl"):
            assert Results.load(path).n_deals == 10
        if "replay.json" in names:
            Replay.load(folder / "replay.json")
        if "results.json" in names:
            json.loads((folder / "results.json").read_text())
            assert names >= {"model.zip", "replay.html", "results.md", "learning_curve.png"}
            assert len(list(folder.glob("benchmark/*.jsonl"))) == 3
        emptied(folder)

    command = [
        *BOULANGER,
        "train",
        "--timesteps",
        "4096",
        "--test-deals",
        str(test_deals),
        "--output",
        str(folder),
    ]
    report("train", stopped_until_done(command, kills, 4, check, lambda: emptied(folder)))
    print(dict(left))
    assert left["results.json"] < left["model.zip"]
