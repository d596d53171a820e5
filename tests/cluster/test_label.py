"""Labels of many deals: the verdicts, samples that can be split anywhere, shards from which a stopped run resumes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from boulanger_env import BoulangerError
from boulanger_env.benchmark.statistics import share
from boulanger_env.cluster import winnability as labels
from boulanger_env.cluster.pools import Processes
from boulanger_env.cluster.winnability import as_sample, label
from boulanger_env.deals import DealSet, load
from boulanger_env.game import Game
from boulanger_env.solver import SOLVED, solve

# Of the Microsoft deals 1 to 40, those that no solver wins with 4 cells.
LOST = {10, 14, 22, 23, 26, 28, 37}


class TestSample:
    def test_random_deals_are_the_same_in_any_pieces(self) -> None:
        sample = as_sample("bk1-c2", 50, seed=6)
        codes = sample.codes(range(50))
        assert codes == [code for i in range(0, 50, 7) for code in sample.codes(range(i, min(50, i + 7)))]
        assert len(set(codes)) == 50
        assert all(code.startswith("BK1-C2-") for code in codes)
        assert as_sample("BK1-C2", 50, seed=7).codes(range(50)) != codes
        assert as_sample("BK1-C2", 9, seed=6).codes(range(9)) == codes[:9]

    def test_random_deals_leave_out_what_is_kept_for_evaluation(self) -> None:
        codes = as_sample("BK1-C4", 70_000).codes(range(70_000))
        assert not [code for code in codes if code[7:10] in ("TST", "VAL")]
        # Uniform: each first symbol of 32 about as often.
        counts = [sum(code[7] == symbol for code in codes) for symbol in "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"]
        assert sum(counts) == 70_000
        assert all(abs(count - 70_000 / 32) < 6 * (70_000 / 32) ** 0.5 for count in counts)

    def test_random_microsoft_deals(self) -> None:
        numbers = [int(code[6:]) for code in as_sample("MS-C1", 400).codes(range(400))]
        assert all(1 <= number < 2**33 for number in numbers)
        assert 0.4 < sum(number >= 2**32 for number in numbers) / 400 < 0.6

    def test_deals_that_follow_each_other_and_sets(self, tmp_path: Path) -> None:
        assert as_sample("BK1-C4-AAAAAA7", 2).codes(range(2)) == ["BK1-C4-AAAAAA7", "BK1-C4-AAAAABA"]
        assert as_sample("c4-test-100").codes(range(98, 100)) == list(load("c4-test-100").codes[98:])
        load("c4-test-100")[:5].save(tmp_path / "mine.txt")
        assert as_sample(str(tmp_path / "mine.txt")).count == 5
        assert as_sample("c4-test-100", 20).count == 20

    @pytest.mark.parametrize(
        ("source", "count", "message"),
        [
            ("BK1-C4", None, "say how many"),
            ("BK1-C4", 0, "at least 1"),
            ("BK1-C3", 5, "BK1-C3"),
            ("BK1-C4-7777777", 2, "deal number"),
            ("nowhere", 5, "no deal set"),
        ],
    )
    def test_bad_input(self, source: str, count: int | None, message: str) -> None:
        with pytest.raises(BoulangerError, match=message):
            as_sample(source, count)

    @pytest.mark.parametrize("seed", [-1, 2**64, 1.5])
    def test_bad_seeds(self, seed: Any) -> None:
        with pytest.raises(BoulangerError, match=r"seed=.* must be a whole number"):
            as_sample("BK1-C4", 3, seed)


class TestLabel:
    def test_the_share_is_that_of_the_verdicts(self) -> None:
        reported: list[tuple[int, int]] = []
        found = label(as_sample("MS-C4-1", 40), shard=16, progress=lambda *done: reported.append(done))
        assert found[:3] == (40, 40 - len(LOST), 0)
        assert found.share == share(33, 40)
        assert reported == [(16, 40), (32, 40), (40, 40)]

    def test_what_is_unknown_makes_the_interval_wider(self) -> None:
        exact = label(as_sample("MS-C4-1", 40))
        found = label(as_sample("MS-C4-1", 40), node_limit=60)
        assert 0 < found.unknown < 40
        assert found.solvable < exact.solvable
        assert found.share.value == found.solvable / (40 - found.unknown)
        assert found.share.low == share(found.solvable, 40).low
        assert found.share.high == share(found.solvable + found.unknown, 40).high
        assert (found.share.low or 0) < exact.share.value < (found.share.high or 0)

    def test_several_processes(self) -> None:
        assert label(as_sample("MS-C4-1", 40), pool=Processes(2), shard=10) == label(as_sample("MS-C4-1", 40))

    def test_no_workers(self) -> None:
        with pytest.raises(BoulangerError, match="workers is 0"):
            Processes(0)


class TestShards:
    @pytest.fixture(autouse=True)
    def _needs_arrow(self) -> None:
        pytest.importorskip("pyarrow")

    def rows(self, folder: Path) -> list[dict[str, Any]]:
        import pyarrow.parquet as pq

        files = sorted(folder.glob("[0-9]*.parquet"))
        return [row for file in files for row in pq.read_table(file).to_pylist()]

    def test_the_rows_are_the_verdicts(self, tmp_path: Path) -> None:
        found = label(as_sample("MS-C4-1", 40), folder=tmp_path / "new", shard=15)
        rows = self.rows(tmp_path / "new")
        assert [row["code"] for row in rows] == [f"MS-C4-{i}" for i in range(1, 41)]
        assert {int(row["code"][6:]) for row in rows if not row["solvable"]} == LOST
        for row in rows[:12]:
            solution = solve(Game.from_code(row["code"]))
            assert (row["solvable"], row["nodes"]) == (solution.status is SOLVED, solution.nodes)
        assert sum(row["nodes"] for row in rows) == found.nodes

    def test_a_verdict_that_is_missing_is_null(self, tmp_path: Path) -> None:
        label(as_sample("MS-C4-14", 1), folder=tmp_path, node_limit=5)
        assert [row["solvable"] for row in self.rows(tmp_path)] == [None]
        import pyarrow.parquet as pq

        assert [str(kind) for kind in pq.read_schema(next(tmp_path.glob("*.parquet"))).types] == [
            "string",
            "bool",
            "int64",
        ]

    def test_a_stopped_run_resumes(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = label(as_sample("MS-C4-1", 40), shard=10)
        worked: list[int] = []
        verdicts = labels.verdicts

        def until_it_stops(sample: Any, places: range, limit: int | None) -> Any:
            if len(worked) == 2:
                raise KeyboardInterrupt
            worked.append(places.start)
            return verdicts(sample, places, limit)

        monkeypatch.setattr(labels, "verdicts", until_it_stops)
        with pytest.raises(KeyboardInterrupt):
            label(as_sample("MS-C4-1", 40), folder=tmp_path, shard=10)
        assert len(self.rows(tmp_path)) == 20
        # What a kill in the middle of writing leaves is not a shard.
        (tmp_path / ".0a1b2c3d.000000000020.parquet").write_bytes(b"PAR1")

        def the_rest(sample: Any, places: range, limit: int | None) -> Any:
            worked.append(places.start)
            return verdicts(sample, places, limit)

        monkeypatch.setattr(labels, "verdicts", the_rest)
        assert label(as_sample("MS-C4-1", 40), folder=tmp_path, shard=10) == whole
        assert worked == [0, 10, 20, 30]

    def test_another_run_is_not_gone_on_with(self, tmp_path: Path) -> None:
        label(as_sample("MS-C4-1", 4), folder=tmp_path)
        for sample, options in (
            (as_sample("MS-C4-1", 5), {}),
            (as_sample("MS-C4-2", 4), {}),
            (as_sample("MS-C4-1", 4), {"node_limit": 9}),
            (as_sample("MS-C4-1", 4), {"shard": 2}),
        ):
            with pytest.raises(BoulangerError, match="a run with other settings"):
                label(sample, folder=tmp_path, **options)

    def test_what_a_kill_left_is_removed(self, tmp_path: Path) -> None:
        left = tmp_path / f".{'a0' * 8}.tmp"
        for _ in range(2):  # in a folder that is empty but for it, then in one of this run
            left.write_bytes(b"PAR1")
            label(as_sample("MS-C4-1", 4), folder=tmp_path)
            assert not left.exists()

    def test_other_folders(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(BoulangerError, match="holds no run"):
            label(as_sample("MS-C4-1", 4), folder=tmp_path)
        (tmp_path / "file").touch()
        with pytest.raises(BoulangerError, match="holds no run"):
            label(as_sample("MS-C4-1", 4), folder=tmp_path / "file")

    def test_a_set_that_was_rewritten_is_another_run(self, tmp_path: Path) -> None:
        mine = tmp_path / "mine.txt"
        mine.write_text("".join(f"MS-C4-{n}\n" for n in range(1, 61)))
        label(as_sample(str(mine)), folder=tmp_path / "run", shard=20)
        (tmp_path / "run" / "000000000040.parquet").unlink()
        # The same deals under another path are the same run.
        (tmp_path / "moved").mkdir()
        mine = mine.rename(tmp_path / "moved" / "mine.txt")
        assert label(as_sample(str(mine)), folder=tmp_path / "run", shard=20).deals == 60
        mine.write_text("".join(f"MS-C2-{n}\n" for n in range(1, 61)))
        with pytest.raises(
            BoulangerError, match=r"other settings \(deals .*'fingerprint': .* there, .* here\)"
        ):
            label(as_sample(str(mine)), folder=tmp_path / "run", shard=20)

    def test_another_version_is_another_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        label(as_sample("ms-c4-1", 4), folder=tmp_path)
        label(as_sample("MS-C4-1", 4), folder=tmp_path)
        monkeypatch.setattr("boulanger_env.__version__", "9.9")
        with pytest.raises(BoulangerError, match=r"\(version '.*' there, '9.9' here\)"):
            label(as_sample("MS-C4-1", 4), folder=tmp_path)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"rows": 3}, "it has 3 rows, not 4"),
            (
                {"code": ["MS-C4-1", "MS-C4-2", "MS-C4-9", "MS-C4-4"]},
                "code in row 2 is 'MS-C4-9', not 'MS-C4-3'",
            ),
            ({"nodes": [1.0, 2.0, 3.0, 4.0]}, r"its columns are .*nodes \(double"),
            ({"nodes": [1, 2, None, 4]}, r"nodes \(int64, may be missing\)"),
            ({"extra": [1, 2, 3, 4]}, r"extra \(int64"),
            ({"nodes": None}, "its columns are"),
            ({"cut": 200}, "Parquet"),
            ({"cut": 0}, "Parquet"),
        ],
    )
    def test_a_shard_of_something_else_is_refused(
        self, changes: dict[str, Any], message: str, tmp_path: Path
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        label(as_sample("MS-C4-1", 8), folder=tmp_path, shard=4)
        shard = tmp_path / "000000000000.parquet"
        table = pq.read_table(shard)[: changes.pop("rows", 4)]
        cut = changes.pop("cut", None)
        columns = {name: table.column(name) for name in table.column_names}
        columns |= {name: pa.array(values) if values else None for name, values in changes.items()}
        columns = {name: values for name, values in columns.items() if values is not None}
        if changes or cut is None:
            schema = table.schema if not changes or "code" in changes else None
            pq.write_table(pa.table(columns, schema), shard)
        else:
            shard.write_bytes(shard.read_bytes()[:cut])
        before = shard.read_bytes()
        with pytest.raises(BoulangerError, match=rf"000000000000\.parquet is not a shard.*{message}"):
            label(as_sample("MS-C4-1", 8), folder=tmp_path, shard=4)
        assert shard.read_bytes() == before

    def test_shards_that_changed_places_are_refused(self, tmp_path: Path) -> None:
        label(as_sample("MS-C4-1", 8), folder=tmp_path, shard=4)
        (tmp_path / "000000000000.parquet").replace(tmp_path / "000000000004.parquet")
        with pytest.raises(BoulangerError, match=r"000000000004\.parquet .*'MS-C4-1', not 'MS-C4-5'"):
            label(as_sample("MS-C4-1", 8), folder=tmp_path, shard=4)

    def test_what_the_folder_holds_is_written_down_first(self, tmp_path: Path) -> None:
        label(as_sample("MS-C4-1", 4), folder=tmp_path / "whole")
        manifest = (tmp_path / "whole" / "run.json").read_bytes()
        content = json.loads(manifest)
        assert content["deals"]["count"] == 4
        assert (
            content["deals"]["fingerprint"] == DealSet("x", [f"MS-C4-{n}" for n in range(1, 5)]).fingerprint
        )
        for cut in (0, 1, 30, len(manifest) - 1):
            folder = tmp_path / str(cut)
            folder.mkdir()
            (folder / "run.json").write_bytes(manifest[:cut])
            label(as_sample("MS-C4-1", 4), folder=folder)
            assert (folder / "run.json").read_bytes() == manifest
        # The order of its keys does not matter.
        (folder / "run.json").write_text(json.dumps(dict(reversed(content.items()))))
        label(as_sample("MS-C4-1", 4), folder=folder)
        for other in ("", "[]", "{", '{"version": NaN}', "\x00"):
            (folder / "run.json").write_text(other)
            with pytest.raises(BoulangerError, match=r"does not say what run|other settings"):
                label(as_sample("MS-C4-1", 4), folder=folder)

    def test_two_do_not_work_on_one_folder(self, tmp_path: Path) -> None:
        pytest.importorskip("fcntl")

        def progress(done: int, total: int) -> None:
            with pytest.raises(BoulangerError, match="another process is working on the run"):
                label(as_sample("MS-C4-1", 4), folder=tmp_path)

        label(as_sample("MS-C4-1", 4), folder=tmp_path, progress=progress)
        label(as_sample("MS-C4-1", 4), folder=tmp_path)


def test_the_command() -> None:
    testing = pytest.importorskip("typer.testing")
    from boulanger_env.cli import app

    words = ["label", "--codes", "MS-C4-1", "--count", "40", "--workers", "1"]
    result = testing.CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    low, high = (100 * (bound or 0) for bound in share(33, 40)[1:])
    assert result.stdout.startswith(f"33 of 40 deals can be won: 82.500 % [{low:.3f}, {high:.3f}]; ")
