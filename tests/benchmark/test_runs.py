"""Runs that are stopped and resumed: nothing is lost, nothing is played twice, nothing comes out differently."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.paths import ROOT
from support.process_jobs import slowly

from boulanger_env import BoulangerError
from boulanger_env.agents import AgentSpec
from boulanger_env.benchmark import GameRow, Results, evaluate
from boulanger_env.benchmark.rows import Header, row_line
from boulanger_env.benchmark.runs import RunFile
from boulanger_env.cluster.distributed import evaluate_on
from boulanger_env.cluster.pools import Processes
from boulanger_env.deals import DealSet, load

DEALS = DealSet("some", [f"MS-C4-{i}" for i in range(1, 31)])
ROW = GameRow(0, DEALS[0], 0, "stuck", 3, 35, 12, 12, 0)


class StopError(Exception):
    """What stops a run in these tests."""


def stop_after(games: int) -> Any:
    def progress(done: int, total: int) -> None:
        if done >= games:
            raise StopError

    return progress


@pytest.mark.parametrize("policy", ["random", "greedy"])
@pytest.mark.parametrize("stops", [(1,), (7, 8, 31), (30, 59)])
def test_a_run_that_was_stopped_comes_out_the_same(
    tmp_path: Path, policy: str, stops: tuple[int, ...]
) -> None:
    file = tmp_path / "r.jsonl"
    whole = evaluate(policy, DEALS, seed=[3, 9])
    for games in stops:
        with pytest.raises(StopError):
            evaluate(
                policy, DEALS, seed=[3, 9], file=file, batch_size=games % 5 + 1, progress=stop_after(games)
            )
        assert len(file.read_text().splitlines()) == 1 + games
        with pytest.raises(BoulangerError, match=f"holds {games} of 60 games"):
            Results.load(file)
    reported: list[int] = []
    result = evaluate(policy, DEALS, seed=[3, 9], file=file, progress=lambda done, _: reported.append(done))
    assert result == whole == Results.load(file)
    # The games already there are reported first, then each missing one, once.
    assert reported == list(range(stops[-1], 61))
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_line_cut_at_any_place_is_played_again(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    deals = DEALS[:4]
    whole = evaluate("greedy", deals, file=file)
    data = file.read_bytes()
    first = data.index(b"\n") + 1
    for cut in [*range(first, len(data), 61), len(data) - 1]:
        file.write_bytes(data[:cut])
        reported: list[int] = []
        assert (
            evaluate("greedy", deals, file=file, progress=lambda done, _, t=reported: t.append(done)) == whole
        )
        kept = data[:cut].count(b"\n") - 1
        assert reported == list(range(kept or 1, 5))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"code": "BK1-C4-AAAAAAA"}, "the game at place 2 is BK1-C4-AAAAAAA, not BK1-C4-TST"),
        (
            {"outcome": "won", "cards_home": 52, "score": 520, "moves": 60, "steps": 60, "illegal": 0},
            "its shortest solution has|cannot be won",
        ),
        ({"actions": "AAAA"}, "actions"),
    ],
)
def test_a_run_with_impossible_games_does_not_resume(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file, deals = tmp_path / "r.jsonl", load("c4-test")[:5]
    evaluate("greedy", deals, file=file, moves="actions" in change)
    lines = [json.loads(line) for line in file.read_text().splitlines()][:4]
    lines[3].update(change)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = file.read_bytes()
    with pytest.raises(BoulangerError, match=rf"r\.jsonl is not a file of benchmark results: .*({message})"):
        evaluate(
            "greedy", deals, file=file, moves="actions" in change, progress=lambda *_: pytest.fail("played")
        )
    assert file.read_bytes() == before


def test_a_damaged_line_within_is_not_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    evaluate("greedy", DEALS[:4], file=file)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], lines[2][:30], *lines[3:], ""]))
    with pytest.raises(BoulangerError, match="line 3"):
        evaluate("greedy", DEALS[:4], file=file)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"seed": 1}, r"seeds \[0\] there, \[1\] here"),
        ({"policy": "random"}, "policy {'name': 'greedy'} there, {'name': 'random'} here"),
        ({"deals": DEALS[:6]}, "fingerprint"),
        ({"max_episode_steps": 20}, "max_episode_steps"),
        ({"prune": True}, "prune"),
    ],
)
def test_another_run_is_not_gone_on_with(tmp_path: Path, other: dict[str, Any], message: str) -> None:
    file = tmp_path / "r.jsonl"
    evaluate("greedy", DEALS[:5], file=file)
    before = file.read_bytes()
    with pytest.raises(BoulangerError, match=f"a run with other settings .*{message}"):
        evaluate(**{"policy": "greedy", "deals": DEALS[:5], "file": file, **other})
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", ["my notes", "my notes\n", "{}\n", "\n"])
def test_another_kind_of_file_is_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(content)
    with pytest.raises(BoulangerError, match="is not a file of benchmark results"):
        evaluate("greedy", DEALS[:2], file=file)
    assert file.read_text() == content


def header(**settings: Any) -> Header:
    # A file that lacks a setting is read with its default.
    settings = {**evaluate("random", DEALS[:1]).settings, **settings}
    return Header("mine", {}, (0,), "some", DEALS.fingerprint, len(DEALS), settings, "1")


def test_a_first_line_that_was_cut_off_is_written_again(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    line = header().line().encode()
    # In other words, it is the same run.
    other = json.dumps(dict(reversed(header().as_dict().items()))).encode()
    for start in (b"", line[:1], line[:50], line[:-1], line, other):
        file.write_bytes(start)
        with RunFile(file, header()) as run:
            run.append(ROW)
        assert file.read_bytes() == line + row_line(ROW, run.content.seconds).encode()
    file.write_bytes(header(prune=True).line().encode()[:-1])
    with pytest.raises(BoulangerError, match="other settings"):
        RunFile(file, header())


def test_numbers_that_json_has_not(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    file.write_text(header(max_episode_steps=500).line().replace("500", "NaN"))
    with pytest.raises(BoulangerError, match=r"NaN|nan"):
        RunFile(file, header(max_episode_steps=500))
    file.unlink()
    with pytest.raises(BoulangerError, match=r"settings \{.*'max_episode_steps': nan, .* cannot be saved"):
        RunFile(file, header(max_episode_steps=float("nan")))
    assert not file.exists()


def test_two_processes_do_not_write_to_one_run(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with RunFile(tmp_path / "r.jsonl", header()) as run:
        run.append(ROW)
        with pytest.raises(BoulangerError, match=r"another process is working on the run in .*r\.jsonl"):
            RunFile(tmp_path / "r.jsonl", header())
    with RunFile(tmp_path / "r.jsonl", header()) as run:
        assert run.missing(0) == list(range(1, 30))


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL])
def test_a_file_that_cannot_be_locked_is_played_all_the_same(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", refuse)
    with (
        pytest.warns(RuntimeWarning, match=rf"r\.jsonl cannot be locked here \({os.strerror(number)}\)"),
        RunFile(tmp_path / "r.jsonl", header()) as run,
    ):
        run.append(ROW)
    assert (tmp_path / "r.jsonl").read_text().count("\n") == 2


def test_a_full_disk_is_named_and_loses_one_game(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    file = tmp_path / "r.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1200, hard))
    try:
        with pytest.raises(OSError, match=re.escape(str(file))) as caught:
            evaluate("random", DEALS, file=file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert file.stat().st_size == 1200
    assert evaluate("random", DEALS, file=file).games == evaluate("random", DEALS).games


def test_pieces_of_a_run_are_checked_when_they_are_read_back(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "greedy.jsonl"
    run = partial(evaluate_on, Processes(1), AgentSpec.parse("greedy"), DEALS[:6], file, shard=3)
    whole = run()
    assert whole == evaluate("greedy", DEALS[:6])
    piece = tmp_path / "greedy.shards" / "0-00000003.parquet"
    table = pq.read_table(piece)
    for column, value, message in (
        ("code", "MS-C4-9", "code in row 1 is 'MS-C4-9', not 'MS-C4-5'"),
        ("place", 0, "place in row 1 is 0, not 4"),
        ("seed", 7, "seed in row 1 is 7, not 0"),
        ("outcome", "lost", "outcome 'lost'"),
        ("cards_home", 52, "52 cards home"),
    ):
        rows = table.to_pylist()
        rows[1][column] = value
        pq.write_table(type(table).from_pylist(rows, table.schema), piece)
        file.unlink(missing_ok=True)
        with pytest.raises(
            BoulangerError, match=rf"0-00000003\.parquet is not a shard of this run: .*{message}"
        ):
            run()
    piece.unlink()
    assert run() == whole


TWO = """
import sys
from boulanger_env.benchmark import evaluate
from boulanger_env.deals import DealSet
deals = DealSet("some", [f"MS-C4-{i}" for i in range(1, 31)])
reported = []
def first(observation, mask, info):
    if not reported:
        print("plays", flush=True)
        sys.stdin.readline()
        reported.append(True)
    return int(mask.argmax())
evaluate(lambda *_: 0, deals[:1], max_episode_steps=1)
print("ready", flush=True)
sys.stdin.readline()
try:
    evaluate(first, deals, name="first", file=sys.argv[1], max_episode_steps=5)
except ValueError as error:
    print(error, flush=True)
"""


def test_of_two_that_start_at_once_one_plays(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("fcntl")
    for turn in range(20 if request.config.getoption("--slow") else 3):
        file = tmp_path / f"{turn}.jsonl"
        both = [
            subprocess.Popen(
                [sys.executable, "-c", TWO, file],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        try:
            pipes: list[Any] = [(process.stdin, process.stdout) for process in both]
            assert [out.readline() for _, out in pipes] == ["ready\n"] * 2
            for into, _ in pipes:
                into.write("go\n")
                into.flush()
            said = sorted(out.readline() for _, out in pipes)
            assert said[0].startswith("another process is working"), said
            assert said[1] == "plays\n"
            for process in both:
                process.communicate("on\n", timeout=60)
        finally:
            for process in both:
                process.kill()
                process.communicate()
        assert len(Results.load(file).games) == 30


def test_a_killed_process_loses_only_the_games_under_way(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from boulanger_env.benchmark import evaluate\n"
        "from boulanger_env.deals import DealSet\n"
        "from support.process_jobs import slowly\n"
        "deals = DealSet('some', [f'MS-C4-{i}' for i in range(1, 31)])\n"
        f"evaluate(slowly, deals, name='slow', file={str(file)!r}, max_episode_steps=30)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    try:
        while process.poll() is None and (not file.exists() or file.read_bytes().count(b"\n") < 6):
            time.sleep(0.01)
        os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    finally:
        process.kill()
        process.wait()
    kept = [line for line in file.read_bytes().split(b"\n")[1:-1] if line]
    assert 5 <= len(kept) < 30

    reported: list[int] = []
    result = evaluate(
        slowly,
        DEALS,
        name="slow",
        file=file,
        max_episode_steps=30,
        progress=lambda done, _: reported.append(done),
    )
    assert reported == list(range(len(kept), 31))
    assert result == evaluate(slowly, DEALS, name="slow", max_episode_steps=30)
