"""Files: whole or not at all, through links, into pipes and devices; and what readers of a folder skip."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from boulanger_env import Game, files
from boulanger_env.benchmark import evaluate
from boulanger_env.cli.bench_agents import bench
from boulanger_env.cli.replay_output import replay as replay_files
from boulanger_env.files import files_in, is_empty, remove_partial, write_text, write_with
from boulanger_env.game import BoulangerError
from boulanger_env.play import session as play
from boulanger_env.replay import ReplayError, replay_of
from boulanger_env.replay.recording import next_number, replays_in

unix = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of a Unix")


def everything_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


# -- where a file goes ------------------------------------------------------------------------------------------


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in ("one\n", "zwei ♠\r\n", ""):
        write_text(path, text)
        assert path.read_bytes() == text.encode()
        assert everything_in(tmp_path) == {"a.txt"}


@unix
def test_permissions_are_kept_and_new_files_have_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    old = tmp_path / "old"
    old.touch(mode=0o640)
    old.chmod(0o640)
    for path, mode in ((old, 0o640), (tmp_path / "new", stat.S_IMODE((tmp_path / "usual").stat().st_mode))):
        write_text(path, "text")
        assert stat.S_IMODE(path.stat().st_mode) == mode


@unix
@pytest.mark.parametrize("there", [True, False], ids=["there", "dangling"])
@pytest.mark.parametrize("links", [1, 2, 3])
def test_links_stay_and_their_target_is_written(tmp_path: Path, links: int, there: bool) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target"
    if there:
        target.write_text("old")
        target.chmod(0o600)
    chain = [tmp_path / f"link{i}" for i in range(links)]
    for link, to in zip(chain, [*chain[1:], Path("far", "target")], strict=True):
        link.symlink_to(to)
    write_text(chain[0], "new")
    assert target.read_text() == "new"
    assert all(link.is_symlink() for link in chain)
    assert everything_in(tmp_path) == {"far", "far/target", *(link.name for link in chain)}
    if there:
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


@unix
def test_a_folder_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(Path("a", "b"))
    write_text(tmp_path / "link" / ".." / "c", "text")  # of the link's target, as for every program
    assert (tmp_path / "a" / "c").read_text() == "text"


@unix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, tmp_path / "link"):
        read: list[bytes] = []
        reader = threading.Thread(target=lambda read=read: read.append(pipe.read_bytes()), daemon=True)
        reader.start()
        write_text(path, "text")
        reader.join(30)
        assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert everything_in(tmp_path) == {"pipe", "link"}


@unix
def test_a_device_stays_one(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("no devices can be made here")
    write_text(device, "text")
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert everything_in(tmp_path) == {"null"}


@unix
@pytest.mark.parametrize("mode", ["w", "a"])
def test_open_files_are_gone_on_with(tmp_path: Path, mode: str) -> None:
    out = tmp_path / "out"
    out.write_text("old\n")
    program = (
        "from boulanger_env.files import write_text; print('one', flush=True); "
        "write_text('/dev/stdout', 'two\\n'); print('three')"
    )
    with open(out, mode) as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert out.read_text() == "old\n" * (mode == "a") + "one\ntwo\nthree\n"


def test_a_long_legal_name(tmp_path: Path) -> None:
    name = "n" * 250 + ".json"
    write_text(tmp_path / name, "text")
    assert everything_in(tmp_path) == {name}


# -- what goes wrong --------------------------------------------------------------------------------------------


def no_folder(folder: Path) -> Path:
    return folder / "nowhere" / "a.txt"


def too_long(folder: Path) -> Path:
    return folder / ("n" * 256)


def a_folder(folder: Path) -> Path:
    (folder / "there").mkdir()
    return folder / "there"


def a_link_to_a_folder(folder: Path) -> Path:
    (folder / "link").symlink_to(a_folder(folder))
    return folder / "link"


def a_loop(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


def a_link_to_nowhere(folder: Path) -> Path:
    (folder / "lost").symlink_to(Path("nowhere", "a.txt"))
    return folder / "lost"


@unix
@pytest.mark.parametrize(
    "make", [no_folder, too_long, a_folder, a_link_to_a_folder, a_loop, a_link_to_nowhere]
)
def test_errors_name_the_file_asked_for(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    before = everything_in(tmp_path)
    with pytest.raises(OSError, match="Errno") as caught:
        write_text(path, "text")
    assert str(caught.value).endswith(f": {str(path)!r}")
    assert everything_in(tmp_path) == before


def test_a_folder_in_the_way_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="a folder is in the way"):
        write_text(tmp_path, "text")


@pytest.mark.parametrize("error", [OSError, RuntimeError])
def test_errors_of_writers_name_the_file_asked_for(tmp_path: Path, error: type[Exception]) -> None:
    path = tmp_path / "a.mp4"
    path.write_text("old")

    def write(partial: Path) -> None:
        partial.write_text("half")
        raise error(f"cannot write {partial} any further")

    with pytest.raises(error) as caught:
        write_with(path, write)
    assert str(caught.value) == f"cannot write {path} any further"
    assert path.read_text() == "old"
    assert everything_in(tmp_path) == {"a.mp4"}


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    def write(partial: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"^\[Errno 28\] No space left on device: '.*/a'$"):
        write_with(tmp_path / "a", write)


def test_a_move_that_fails_names_the_file_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(source: Path, target: str) -> None:
        raise OSError(errno.EBUSY, "Device or resource busy", str(source), None, target)

    monkeypatch.setattr(files.writing.os, "replace", busy)
    with pytest.raises(OSError, match=r"resource busy: '.*/a'$"):
        write_text(tmp_path / "a", "text")


@unix
def test_a_file_system_without_permissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    write_text(tmp_path / "file", "old")
    monkeypatch.setattr(files.writing.os, "chmod", refused)
    monkeypatch.setattr(files.writing.os, "chown", refused)
    write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"


def test_a_file_that_is_protected_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    # What the system says to users other than root.
    monkeypatch.setattr(files.writing.os, "access", lambda path, mode: bool(os.stat(path).st_mode & 0o222))
    with pytest.raises(PermissionError) as caught:
        write_text(path, "new")
    assert caught.value.filename == str(path)
    assert path.read_text() == "old"


# -- what readers skip -------------------------------------------------------------------------------------


def killed_while_writing(path: Path) -> None:
    """Leave what a process leaves that is killed while writing a file."""
    program = (
        "import os, signal, sys\n"
        "from boulanger_env.files import write_with\n"
        "def write(partial):\n"
        "    partial.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_with(sys.argv[1], write)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, path])
    assert ended.returncode < 0


@unix
def test_what_kills_leave_is_removed_by_the_holder_of_the_folder(tmp_path: Path) -> None:
    killed_while_writing(tmp_path / "model.zip")
    assert len(everything_in(tmp_path)) == 1
    assert is_empty(tmp_path)
    (tmp_path / ".mine").touch()
    assert not is_empty(tmp_path)
    remove_partial(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".mine"]


@unix
def test_a_kill_leaves_nothing_that_a_reader_takes_for_a_game(tmp_path: Path) -> None:
    replay = replay_of(Game.from_code("MS-C4-1"), [733])
    replay.save(tmp_path / "000001-MS-C4-1.json")
    killed_while_writing(tmp_path / "000002-MS-C4-1.json")
    assert len(everything_in(tmp_path)) == 2
    assert replays_in(tmp_path) == [(tmp_path / "000001-MS-C4-1.json", replay)]
    assert next_number(tmp_path) == 1
    assert [path.name for path in tmp_path.glob("*.json")] == ["000001-MS-C4-1.json"]


@unix
def test_what_would_be_waited_for_is_passed_over(tmp_path: Path) -> None:
    """A pipe in a folder has no writer, and a device may have no end."""
    os.mkfifo(tmp_path / "a.json")
    (tmp_path / "b.json").symlink_to("/dev/zero")
    replay_of(Game.from_code("MS-C4-1"), []).save(tmp_path / "c.json")
    assert [path.name for path, _ in replays_in(tmp_path)] == ["c.json"]
    (tmp_path / "d.json").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match=r"d\.json"):
        replays_in(tmp_path)


@unix
@pytest.mark.parametrize("place", ["/dev/null", "/dev/full", "pipe", "folder"])
def test_a_run_resumes_only_from_a_file(tmp_path: Path, place: str) -> None:
    path = tmp_path / "random.jsonl"
    if place == "pipe":
        os.mkfifo(path)
    elif place == "folder":
        path.mkdir()
    else:
        path.symlink_to(place)
    with pytest.raises(BoulangerError, match=r"random\.jsonl is not a file"):
        evaluate("random", ["MS-C4-1"], file=path)


@unix
def test_names_of_files_are_shown_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "\x1b]0;title\x07"
    bench(["random"], "c4-test", limit=1, output=folder)
    game = folder / "game.json"
    replay_of(Game.from_code("MS-C4-1"), []).save(game)
    replay_files([game], html=folder / "game.html")
    monkeypatch.setenv("BOULANGER_STATE", str(game))
    session = play.open_session("MS-C4-617")
    assert session.unsaved
    print(play._screen(session, False, True, False))
    session.enter("6f")
    session.enter("n MS-C4-618")
    print(play._screen(session, False, True, False))
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert shown.count("\\x1b]0;title\\x07") >= 5


def test_hidden_files_and_folders_are_passed_over(tmp_path: Path) -> None:
    for name in (
        "b.json",
        "a.json",
        ".a.json",
        "._b.json",
        "c.txt",
        ".hidden/d.json",
        "deep/e.json",
        "f.json/g",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert [path.name for path in files_in(tmp_path, "*.json")] == ["a.json", "b.json"]
    found = [str(path.relative_to(tmp_path)) for path in files_in(tmp_path, "**/*.json")]
    assert found == ["a.json", "b.json", str(Path("deep", "e.json"))]


REPLAY = replay_of(Game.from_code("MS-C4-1"), [733])


@pytest.mark.parametrize(
    "other",
    [
        '{"version": "0.1.0", "settings": {}}',
        '{"format": "boulanger-env training 1"}',
        "[1, 2]",
        "null",
        "\ufeff3",
    ],
)
def test_other_json_in_a_folder_is_passed_over(tmp_path: Path, other: str) -> None:
    (tmp_path / "results.json").write_text(other, encoding="utf-8")
    with pytest.raises(BoulangerError, match="there is no replay"):
        replays_in(tmp_path)
    REPLAY.save(tmp_path / "replay.json")
    assert replays_in(tmp_path) == [(tmp_path / "replay.json", REPLAY)]
    with pytest.raises(ReplayError, match=r"results\.json"):
        replays_in(tmp_path / "results.json")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"outcome"', '"out'),
        ("{", ""),
        ('"boulanger-env replay 1"', '"boulanger-env replay 2"'),
        ('"format": "boulanger-env replay 1",', ""),
        ('"boulanger-env replay 1"', "1"),
        ("[733]", "[733, 733, 1]"),
    ],
)
def test_a_damaged_replay_in_a_folder_is_an_error(tmp_path: Path, old: str, new: str) -> None:
    REPLAY.save(tmp_path / "a.json")
    text = REPLAY.to_json()
    assert old in text
    (tmp_path / "b.json").write_text(text.replace(old, new))
    with pytest.raises(ReplayError, match=r"b\.json"):
        replays_in(tmp_path)
