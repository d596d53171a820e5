"""A person's game in a window: cards are dragged and tapped, and a strip of buttons lies below the table.

What the mouse and the keys do becomes a line such as a player types in the terminal (``play.Session``), so that
both ways to play have the same moves, words and saved games.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boulanger_env.game import Move
from boulanger_env.game.moves import FIRST_CELL, TO_CELL, TO_FOUNDATION
from boulanger_env.render.layout import DEFAULT_SIZE, LARGEST, SMALLEST, Place, Rect, layout_of
from boulanger_env.render.lettering import fitted, text_width, write
from boulanger_env.render.marks import ACCENT
from boulanger_env.render.panel import write_panel
from boulanger_env.render.rgb import BAR, QUIET, TABLE, TEXT, Held, TablePainter
from boulanger_env.render.sprites import Pixels
from boulanger_env.render.window import fill_display, load_pygame, open_display

from .advice import WELCOME, WINDOW_HELP
from .session import Session, finish

DOUBLE_TAP_MS = 350
_DRAG = 5
"""Pixels that the mouse must move before a tap becomes a drag."""
_STRIP = 44
_SOURCES = "12345678abcd"
_TARGETS = {TO_CELL: "f", TO_FOUNDATION: "h"}


class Button(NamedTuple):
    """A button, its key and its action: a line for the session, or None if the window handles it."""

    name: str
    key: str
    line: str | None


BUTTONS = (
    Button("Undo", "u", "u"),
    Button("Hint", "i", "hint"),
    Button("New game", "n", "n"),
    Button("Code", "c", None),
    Button("Help", "h", None),
)


class _Press(NamedTuple):
    """Where the mouse went down, on cards."""

    place: Place
    x: int
    y: int
    dx: int
    """From the first card's corner to the mouse."""
    dy: int


class TableWindow:
    """The window's content, without the window itself: events go in, pictures come out.

    Args:
        session: the game.
        size: width and height of the table; the strip of buttons comes below it.
        now: the time in milliseconds.

    Attributes:
        size: width and height of the whole window.
        typed: the game code being typed, or None.
        held: the cards being dragged, or None.
        helps: whether the help is shown; the next key or tap hides it.
    """

    def __init__(
        self, session: Session, size: tuple[int, int] = DEFAULT_SIZE, now: Callable[[], int] | None = None
    ) -> None:
        self._pygame = load_pygame()
        self._session = session
        self._now = now or self._pygame.time.get_ticks
        self.typed: str | None = None
        self.held: Held | None = None
        self.helps = False
        self._press: _Press | None = None
        self._painter: TablePainter | None = None
        self._tapped: tuple[int, int, bool] | None = None
        self.resize((size[0], size[1] + _STRIP))
        if not session.note:
            session.note = WELCOME

    def resize(self, size: tuple[int, int]) -> None:
        """Adapt to another size of the whole window, within the limits for a table."""
        table = (size[0], size[1] - _STRIP)
        width, height = (
            min(max(n, low), high) for n, low, high in zip(table, SMALLEST, LARGEST, strict=True)
        )
        self._layout = layout_of((width, height))
        self.size = (width, height + _STRIP)
        self._letters = min(max(width // 50, 9), 16)
        self._drop()

    # -- events -----------------------------------------------------------------------------------------------

    def handle(self, event: Any) -> None:
        """Handle a pygame event."""
        pygame = self._pygame
        if event.type == pygame.QUIT:
            self._session.done = True
        elif self.helps and event.type in (pygame.KEYDOWN, pygame.MOUSEBUTTONDOWN):
            self.helps = False
        elif event.type == pygame.KEYDOWN:
            self._key(event)
        elif event.type == pygame.VIDEORESIZE:
            self.resize(event.size)
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            self._down(*event.pos)
        elif event.type == pygame.MOUSEMOTION:
            self._move(*event.pos)
        elif event.type == pygame.MOUSEBUTTONUP and event.button == 1:
            self._up(*event.pos)

    def _key(self, event: Any) -> None:
        pygame = self._pygame
        if self.typed is not None:
            self._type(event)
        elif event.key == pygame.K_ESCAPE or event.unicode == "q":
            self._session.done = True
        else:
            undo = event.key == pygame.K_z and event.mod & pygame.KMOD_CTRL
            key = "u" if undo else event.unicode.lower()
            for button in BUTTONS:
                if button.key == key:
                    self._push(button)

    def _type(self, event: Any) -> None:
        """Handle a key while a code is being typed."""
        pygame, typed = self._pygame, self.typed or ""
        if event.key == pygame.K_ESCAPE:
            self.typed = None
        elif event.key in (pygame.K_RETURN, pygame.K_KP_ENTER):
            self.typed = None
            if typed.strip():
                self._session.enter(f"n {typed}")
        elif event.key == pygame.K_BACKSPACE:
            self.typed = typed[:-1]
        elif event.unicode.isprintable() and event.unicode.isascii():
            self.typed = (typed + event.unicode.upper())[:24]

    def _push(self, button: Button) -> None:
        self._drop()
        self._tapped = None
        if button.line is not None:
            self._session.enter(button.line)
        elif button.key == "c":
            self.typed = ""
        else:
            self.helps = True

    def _down(self, x: int, y: int) -> None:
        for button, rect in zip(BUTTONS, self._buttons(), strict=True):
            if rect.holds(x, y):
                self.typed = None
                self._push(button)
                return
        layout, game = self._layout, self._session.game
        place = layout.place_at(game, x, y)
        if place is None or place.source is None or not place.size:
            return
        self.typed = None
        if place.source >= FIRST_CELL:
            corner = layout.cells[place.source - FIRST_CELL][:2]
        else:
            count = len(game.columns[place.source])
            corner = layout.columns[place.source].x, layout.card_top(count, count - place.size)
        self._press = _Press(place, x, y, x - corner[0], y - corner[1])

    def _move(self, x: int, y: int) -> None:
        press = self._press
        if press is None or press.place.source is None:
            return
        if self.held is not None or max(abs(x - press.x), abs(y - press.y)) > _DRAG:
            self.held = Held(press.place.source, press.place.size, x - press.dx, y - press.dy)

    def _up(self, x: int, y: int) -> None:
        press, held = self._press, self.held
        self._drop()
        if press is None or press.place.source is None:
            return
        if held is None:
            self._tap(press.place.source)
            return
        self._tapped = None
        layout = self._layout
        # The middle of the first card's visible part counts; if that is over nothing, the mouse itself.
        middle = held.x + layout.card_width / 2, held.y + layout.card_height / 4
        target = layout.place_at(self._session.game, *middle) or layout.place_at(self._session.game, x, y)
        if target is not None:
            self._put(held, target.destination)

    def _put(self, held: Held, destination: int) -> None:
        """Play the move of cards that were dragged to a destination."""
        source, size = held.source, held.size
        if destination == (TO_CELL if source >= FIRST_CELL else source):
            return
        name = _TARGETS.get(destination) or _SOURCES[destination]
        if size > 1 and destination in _TARGETS:
            self._session.note = "Only one card at a time goes to a cell or home."
        elif size == 1 and source >= FIRST_CELL:
            self._session.enter(f"{_SOURCES[source]}{name}")
        else:
            written = f"v{size:x}" if destination < TO_CELL else ""
            self._session.enter(f"{_SOURCES[source]}{name}{written}")

    def _tap(self, source: int) -> None:
        """A tap sends a card home; a double tap finds it a place, unless the first tap has moved it."""
        before, now = self._tapped, self._now()
        if before is not None and before[0] == source and now - before[1] <= DOUBLE_TAP_MS:
            self._tapped = None
            if not before[2]:
                self._session.enter(_SOURCES[source])
            return
        goes = self._session.game.is_legal(Move(source, TO_FOUNDATION))
        if goes:
            self._session.enter(f"t{_SOURCES[source]}")
        self._tapped = (source, now, goes)

    def _drop(self) -> None:
        self._press = self.held = None

    # -- pictures ---------------------------------------------------------------------------------------------

    def picture(self) -> Pixels:
        """The whole window: uint8 ``(height, width, 3)``."""
        width, height = self.size
        # Not at every size that the window passes through while it is being resized.
        if self._painter is None or self._painter.layout is not self._layout:
            self._painter = TablePainter((width, height - _STRIP))
        strip = np.empty((_STRIP, width, 3), np.uint8)
        strip[:] = BAR
        letters = self._letters
        for button, rect in zip(BUTTONS, self._buttons(), strict=True):
            top, left = rect.y - (height - _STRIP), rect.x
            strip[top : top + rect.height, left : left + rect.width] = TABLE
            x = left + (rect.width - text_width(button.name, letters)) // 2
            write(strip, button.name, x, top + round(rect.height * 0.5 + letters * 0.34), letters, TEXT)
        last = self._buttons()[-1]
        session = self._session
        if self.typed is not None:
            words, colour = f"Code of the game: {self.typed}_", ACCENT
        elif session.unsaved:
            words, colour = f"The game cannot be saved: {session.unsaved}", ACCENT
        else:
            words, colour = (
                " ".join([session.warning, session.lesson, *session.note.split("\n")]).strip(),
                QUIET,
            )
        left = last.x + last.width + 16
        write(
            strip,
            fitted(words, width - left - 12, letters),
            left,
            round(_STRIP * 0.5 + letters * 0.34),
            letters,
            colour,
        )
        table = self._painter.paint(session.game, self.held)
        if self.helps:
            write_panel(table, WINDOW_HELP)
        return np.concatenate([table, strip])

    def _buttons(self) -> list[Rect]:
        top, left, rects, letters = self.size[1] - _STRIP + 7, 10, [], self._letters
        for button in BUTTONS:
            rects.append(
                Rect(left, top, text_width(button.name, letters) + round(1.5 * letters), _STRIP - 14)
            )
            left += rects[-1].width + letters // 2
        return rects


def play(session: Session, size: tuple[int, int] = DEFAULT_SIZE) -> None:
    """Play in a window until the player closes it.

    Args:
        session: the game.
        size: width and height of the table.

    Raises:
        ModuleNotFoundError: pygame-ce or Pillow is not installed.
        BoulangerError: there is no display to open a window on.
        SavedGameError: the game could not be saved at the end.
    """
    pygame = load_pygame()
    table = TableWindow(session, size)
    open_display(pygame, table.size, "Jeu du Boulanger", resizable=True)
    pygame.key.set_repeat(400, 40)
    try:
        while not session.done:
            # The sizes differ if the window was made too small or too large for a table.
            if pygame.display.get_surface().get_size() != table.size:
                pygame.display.set_mode(table.size, pygame.RESIZABLE)
            fill_display(pygame, pygame.display.get_surface(), table.picture())
            for event in [pygame.event.wait(), *pygame.event.get()]:
                table.handle(event)
    except KeyboardInterrupt:
        print()
    finally:
        pygame.display.quit()
    finish(session)
