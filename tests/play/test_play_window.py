"""A game in the window: what the mouse and the keys do, without a screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("PIL")
pytest.importorskip("pygame")

import pygame

from boulanger_env import Game
from boulanger_env.play import advice, saves
from boulanger_env.play.desktop import BUTTONS, DOUBLE_TAP_MS, TableWindow
from boulanger_env.play.session import Session, open_session
from boulanger_env.render import render_rgb
from boulanger_env.render.layout import layout_of
from boulanger_env.solver import winning_moves

SIZE = (960, 640)
LAYOUT = layout_of(SIZE)


class Player:
    """A window with a mouse and a clock in a test's hand."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.time = 1000
        self.window = TableWindow(session, SIZE, lambda: self.time)

    @property
    def game(self) -> Game:
        return self.session.game

    def mouse(self, kind: int, at: tuple[int, int], button: int = 1) -> None:
        keywords = {"buttons": (1, 0, 0), "rel": (0, 0)} if kind == pygame.MOUSEMOTION else {"button": button}
        self.window.handle(pygame.event.Event(kind, pos=at, **keywords))

    def click(self, at: tuple[int, int], after: int = 1000) -> None:
        self.time += after
        self.mouse(pygame.MOUSEBUTTONDOWN, at)
        self.mouse(pygame.MOUSEBUTTONUP, at)

    def double(self, at: tuple[int, int]) -> None:
        self.click(at)
        self.click(at, after=DOUBLE_TAP_MS // 2)

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        self.mouse(pygame.MOUSEBUTTONDOWN, start)
        self.mouse(pygame.MOUSEMOTION, ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2))
        self.mouse(pygame.MOUSEMOTION, end)
        assert self.window.held is not None
        self.mouse(pygame.MOUSEBUTTONUP, end)
        assert self.window.held is None

    def key(self, key: int, text: str = "", mod: int = 0) -> None:
        self.window.handle(pygame.event.Event(pygame.KEYDOWN, key=key, unicode=text, mod=mod))

    def type(self, text: str) -> None:
        for letter in text:
            self.key(pygame.key.key_code(letter.lower()) if letter.isalnum() else pygame.K_MINUS, letter)

    def button(self, name: str) -> None:
        number = [button.name for button in BUTTONS].index(name)
        rect = self.window._buttons()[number]
        self.click((rect.x + 5, rect.y + 5))

    def column(self, i: int, size: int = 1) -> tuple[int, int]:
        """A point on the card of a column that ``size`` cards begin with."""
        count = len(self.game.columns[i])
        top = LAYOUT.card_top(count, max(count - size, 0))
        return LAYOUT.columns[i].x + 20, top + 10


def cell(i: int) -> tuple[int, int]:
    return LAYOUT.cells[i].x + 20, LAYOUT.cells[i].y + 30


def home(suit: int = 0) -> tuple[int, int]:
    return LAYOUT.homes[suit].x + 20, LAYOUT.homes[suit].y + 30


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No screen, and an empty folder for saved games."""
    monkeypatch.setenv("BOULANGER_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    yield tmp_path / "state"
    pygame.display.quit()


@pytest.fixture
def player() -> Player:
    return Player(open_session("MS-C4-1"))


def after(moves: str, code: str = "MS-C4-1") -> Game:
    game = Game.from_code(code)
    for move in moves.split():
        game.push(game.parse_move(move))
    return game


# -- taps -------------------------------------------------------------------------------------------------------


def test_a_tap_goes_home_or_nowhere(player: Player) -> None:
    player.click(player.column(5))
    assert player.game.moves == 0
    player.session.enter("6a 6b")
    player.click(player.column(5))
    assert player.game == after("6a 6b 6h")


def test_a_double_tap_finds_a_place(player: Player) -> None:
    player.double(player.column(5))
    assert player.game == after("6a")
    player.double(cell(0))
    assert player.game == after("6a")
    assert "no card there that can move" in player.session.note


def test_the_second_tap_does_not_move_the_next_card(player: Player) -> None:
    player.session.enter("6a 6b")
    player.double(player.column(5))
    assert player.game == after("6a 6b 6h")
    player.click(player.column(5))
    assert player.game == after("6a 6b 6h 6h")


def test_two_slow_taps_and_taps_on_two_places_are_not_a_double_tap(player: Player) -> None:
    player.click(player.column(5))
    player.click(player.column(5), after=DOUBLE_TAP_MS + 1)
    player.click(player.column(0), after=10)
    assert player.game.moves == 0
    player.click(player.column(0), after=10)
    assert player.game.moves == 1


def test_other_buttons_of_the_mouse_and_the_bare_table_do_nothing(player: Player) -> None:
    for _ in range(2):
        for at in (player.column(5), (1, 1), home(), cell(2), (LAYOUT.columns[3].x + 5, SIZE[1] - 2)):
            player.mouse(pygame.MOUSEBUTTONDOWN, at, button=3)
            player.mouse(pygame.MOUSEBUTTONUP, at, button=3)
        player.double((1, 1))
        player.double(home())
        player.double(cell(2))
        player.double((LAYOUT.columns[3].x + 5, SIZE[1] - 2))
    assert player.game.moves == 0


# -- drags ------------------------------------------------------------------------------------------------------


def test_drags(player: Player) -> None:
    player.drag(player.column(5), cell(2))  # cells are filled from the left, wherever the card is dropped
    assert player.game == after("6a")
    player.drag(player.column(5), cell(1))
    player.drag(player.column(5), home(0))
    assert player.game == after("6a 6b 6h")
    player.session.enter("6h")
    player.drag(player.column(6), player.column(1))
    assert player.game == after("6a 6b 6h 6h 72")
    player.drag(cell(1), home(3))
    assert player.game == after("6a 6b 6h 6h 72 bh")


def test_a_group_is_dragged_whole_or_in_part() -> None:
    hearts, diamonds, clubs = (list(range(13 * suit + 13, 13 * suit, -1)) for suit in (1, 2, 3))
    columns = [hearts, diamonds, clubs, [10], [9, 8, 7, 6], [], [13, 12, 11, 5, 4], [3, 2, 1]]
    player = Player(Session(Game.from_columns(columns)))
    player.drag(player.column(4, 4), player.column(3))
    assert player.game.columns[3] == (10, 9, 8, 7, 6)
    assert player.game.moves == 1
    player.drag(player.column(3, 2), (LAYOUT.columns[4].x + 20, LAYOUT.columns[4].y + 20))
    assert player.game.columns[3:5] == ((10, 9, 8), (7, 6))
    for target in (cell(2), home()):
        player.session.note = ""
        player.drag(player.column(3, 2), target)
        assert "one card at a time" in player.session.note
    assert player.game.moves == 2


def test_what_the_rules_forbid_goes_back_with_their_words(player: Player) -> None:
    player.drag(player.column(0, 3), player.column(1))
    assert "are not a run" in player.session.note
    player.drag(player.column(0), player.column(1))
    assert "can take it" in player.session.note
    assert player.game == after("")


def test_drops_on_nothing_and_at_home(player: Player) -> None:
    player.session.enter("6a")
    note = player.session.note
    for start in (player.column(5), cell(0)):
        for end in ((2, SIZE[1] + 20), (start[0] + 12, start[1] + 3), cell(3) if start == cell(0) else start):
            if end != start:
                player.drag(start, end)
    assert player.session.note == note
    assert player.game == after("6a")


def test_cards_follow_the_mouse(player: Player) -> None:
    start = player.column(5)
    player.mouse(pygame.MOUSEBUTTONDOWN, start)
    assert np.array_equal(player.window.picture()[: SIZE[1]], render_rgb(player.game, SIZE))
    player.mouse(pygame.MOUSEMOTION, (start[0] + 2, start[1]))
    assert player.window.held is None
    player.mouse(pygame.MOUSEMOTION, (start[0] - 300, start[1] + 90))
    held = player.window.held
    assert held is not None
    count = len(player.game.columns[5])
    assert (held.x + 300, held.y - 90) == (LAYOUT.columns[5].x, LAYOUT.card_top(count, count - 1))
    picture = player.window.picture()
    rect = LAYOUT.columns[5]
    inside = slice(20, 100), slice(20, 70)
    card = render_rgb(player.game, SIZE)[LAYOUT.card_top(count, count - 1) :, rect.x :][inside]
    assert np.array_equal(picture[held.y :, held.x :][inside], card)
    player.mouse(pygame.MOUSEBUTTONUP, (1, SIZE[1] - 1))
    assert np.array_equal(player.window.picture()[: SIZE[1]], render_rgb(player.game, SIZE))


# -- buttons and keys -------------------------------------------------------------------------------------------


def test_undo(player: Player) -> None:
    player.session.enter("6a 6b 1c 1d")
    player.button("Undo")
    player.key(pygame.K_u, "u")
    player.key(pygame.K_z, "\x1a", pygame.KMOD_LCTRL)
    assert player.game == after("6a")
    player.key(pygame.K_z, "z")
    assert player.game == after("6a")
    player.button("Undo")
    player.button("Undo")
    assert "nothing to undo" in player.session.note


def test_a_new_game_and_back_to_the_old_one(player: Player) -> None:
    player.session.enter("6a")
    player.button("New game")
    assert player.game.code != "MS-C4-1"
    assert player.game.n_cells == 4
    player.button("Code")
    player.type("ms-c4-9")
    player.key(pygame.K_BACKSPACE)
    player.type("1")
    assert player.window.typed == "MS-C4-1"
    player.key(pygame.K_RETURN, "\r")
    assert player.window.typed is None
    assert player.game == after("6a")
    other = player.game.code
    player.key(pygame.K_n, "n")
    assert player.game.code != other


def test_codes_are_typed_where_letters_are_keys_too(player: Player) -> None:
    player.key(pygame.K_c, "c")
    player.type("unqch")
    assert player.window.typed == "UNQCH"
    assert not player.session.done
    player.key(pygame.K_ESCAPE)
    assert player.window.typed is None
    assert player.game == after("")
    player.key(pygame.K_c, "c")
    player.type("MS-C4-0")
    player.key(pygame.K_KP_ENTER, "\r")
    assert "ms-c4-0" in player.session.note
    player.key(pygame.K_c, "c")
    player.key(pygame.K_RETURN, "\r")
    player.type("u" * 100)
    assert player.game.code == "MS-C4-1"
    player.button("Code")
    player.type("x" * 100)
    assert len(player.window.typed or "") <= 24


@pytest.mark.parametrize("hide", ["key", "tap", "h"])
def test_help_lies_over_the_table_until_the_next_key_or_tap(player: Player, hide: str) -> None:
    bare = player.window.picture()
    player.button("Help")
    assert player.window.helps
    shown = player.window.picture()
    changed = np.flatnonzero((shown != bare).any(axis=(1, 2)))
    assert changed[0] > 40
    assert changed[-1] < SIZE[1]
    if hide == "tap":
        player.double(player.column(5))  # the first tap hides it, one alone goes home or nowhere
    else:
        player.key(pygame.K_ESCAPE if hide == "key" else pygame.K_h, "h" * (hide == "h"))
    assert not player.window.helps
    assert not player.session.done
    assert player.game.moves == 0
    assert np.array_equal(player.window.picture(), bare)
    player.key(pygame.K_h, "h")
    assert player.window.helps


@pytest.mark.parametrize("size", [(240, 160), (480, 320), (960, 640), (1920, 1080)])
def test_help_finds_room(size: tuple[int, int]) -> None:
    window = TableWindow(open_session("MS-C4-1"), size, lambda: 0)
    bare = window.picture()
    window.helps = True
    picture = window.picture()
    assert picture.shape == bare.shape
    changed = (picture != bare).any(axis=(0, 2))
    # A margin at the right: no line is cut, but in the smallest window.
    assert size[0] < 480 or not changed[-4:].any()


def test_hints_and_what_can_no_longer_be_won(player: Player) -> None:
    advice._loading().join()
    player.button("Hint")
    assert player.session.note.startswith("Hint: ")
    player.session.note = ""
    player.key(pygame.K_i, "i")
    assert player.session.note.startswith("Hint: ")
    player.session.note = ""
    plain = player.window.picture()[SIZE[1] :].copy()
    lost = next(move for move, wins in winning_moves(player.game).items() if wins is False)
    player.session.enter(player.game.notation(lost))
    assert player.session.warning
    assert not np.array_equal(player.window.picture()[SIZE[1] :], plain)
    while player.game.outcome is None:
        player.session.enter(player.game.notation(player.game.legal_moves()[0]))
    assert player.session.lesson.startswith("Lost by move 1, ")
    shown = player.window.picture()[SIZE[1] :].copy()
    player.session._advisor.where_lost = lambda *_: ""  # type: ignore[method-assign]
    assert not np.array_equal(player.window.picture()[SIZE[1] :], shown)


@pytest.mark.parametrize(
    "event",
    [
        {"type": pygame.QUIT},
        {"type": pygame.KEYDOWN, "key": pygame.K_q, "unicode": "q", "mod": 0},
        {"type": pygame.KEYDOWN, "key": pygame.K_ESCAPE, "unicode": "\x1b", "mod": 0},
    ],
)
def test_leaving(player: Player, event: dict[str, Any]) -> None:
    player.window.handle(pygame.event.Event(event.pop("type"), **event))
    assert player.session.done


def test_notes_are_shown_and_cut_to_the_window(player: Player) -> None:
    strips = []
    for note in ("", "short", "long " * 100, "two\nlines"):
        player.session.note = note
        picture = player.window.picture()
        assert picture.shape == (SIZE[1] + 44, SIZE[0], 3)
        strips.append(picture[SIZE[1] :].tobytes())
    assert len(set(strips)) == 4
    player.session.unsaved = OSError(28, "No space left on device")
    assert player.window.picture()[SIZE[1] :].tobytes() not in strips


def test_another_size(player: Player) -> None:
    player.window.handle(pygame.event.Event(pygame.VIDEORESIZE, size=(480, 364)))
    assert player.window.size == (480, 364)
    assert np.array_equal(player.window.picture()[:320], render_rgb(player.game, (480, 320)))
    slot = layout_of((480, 320)).columns[5]
    count = len(player.game.columns[5])
    at = slot.x + 4, layout_of((480, 320)).card_top(count, count - 1) + 4
    player.double(at)
    assert player.game == after("6a")
    player.window.handle(pygame.event.Event(pygame.VIDEORESIZE, size=(10, 10)))
    assert player.window.size == (240, 204)
    assert player.window.picture().shape == (204, 240, 3)


# -- the whole --------------------------------------------------------------------------------------------------


def post_drag(start: tuple[int, int], end: tuple[int, int]) -> None:
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONDOWN, button=1, pos=start))
    pygame.event.post(pygame.event.Event(pygame.MOUSEMOTION, pos=end, rel=(0, 0), buttons=(1, 0, 0)))
    pygame.event.post(pygame.event.Event(pygame.MOUSEBUTTONUP, button=1, pos=end))


def test_a_game_in_the_window_is_kept(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from boulanger_env import cli

    point = Player(open_session("MS-C4-1")).column(5)
    waited = pygame.event.wait

    def events() -> Any:
        monkeypatch.setattr(pygame.event, "wait", waited)
        post_drag(point, cell(0))
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        return waited()

    monkeypatch.setattr(pygame.event, "wait", events)
    result = CliRunner().invoke(cli.app, ["play", "MS-C4-1", "--window"])
    assert result.exit_code == 0, result.output
    assert "The game is kept" in result.stdout
    assert pygame.display.get_surface() is None
    start, moves = saves.load(state / "MS-C4-1.json")
    assert start.code == "MS-C4-1"
    assert moves == [733]


@pytest.mark.parametrize("option", ["--ascii", "--color", "--no-color"])
def test_options_of_the_terminal_are_refused(option: str) -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from boulanger_env import cli

    result = CliRunner().invoke(cli.app, ["play", "--window", option])
    assert result.exit_code == 1
    assert "for the terminal" in result.stderr


@pytest.mark.parametrize(("module", "library"), [("pygame", "pygame"), ("PIL", "PIL")])
def test_a_missing_extra_is_named(module: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from boulanger_env import cli

    monkeypatch.setitem(sys.modules, module, None)
    for name in [name for name in sys.modules if name.startswith("boulanger_env.render.")]:
        if name.endswith(("pillow", "lettering", "rgb", "sprites", "cards", "shapes", "courts", "window")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "boulanger_env.play.desktop")
    monkeypatch.delattr("boulanger_env.play.desktop")
    result = CliRunner().invoke(cli.app, ["play", "--window"])
    assert result.exit_code == 1
    assert result.stderr == f'Error: this needs {library}: pip install "boulanger-env[render]"\n'
