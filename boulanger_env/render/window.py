"""A window on the screen that shows pictures (pygame-ce)."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from boulanger_env.game import BoulangerError

from .sprites import Pixels


def load_pygame() -> Any:
    """The module ``pygame``, without its greeting.

    Raises:
        ModuleNotFoundError: pygame-ce is not installed; the message names the extra that provides it.
    """
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'a window needs pygame-ce: pip install "boulanger-env[render]"', name="pygame"
        ) from None
    return pygame


_UNSEEN = ("dummy", "offscreen")
"""SDL's invisible drivers; it falls back to one if there is no display."""


def open_display(pygame: Any, size: tuple[int, int], title: str, *, resizable: bool = False) -> Any:
    """Open the process's only window; return its surface.

    Raises:
        BoulangerError: there is no display to open a window on.
    """
    try:
        pygame.display.init()
        driver = pygame.display.get_driver()
        if driver in _UNSEEN and driver not in os.environ.get("SDL_VIDEODRIVER", ""):
            raise pygame.error("there is no display")
        screen = pygame.display.set_mode(size, pygame.RESIZABLE if resizable else 0)
    except pygame.error as error:
        pygame.display.quit()
        raise BoulangerError(
            f"no window can be opened ({error}): without a display, pictures can be had with render_mode='rgb_array', "
            "and boulanger play needs none without --window"
        ) from None
    pygame.display.set_caption(title)
    return screen


def fill_display(pygame: Any, screen: Any, picture: Pixels) -> None:
    """Show a picture, scaled to the window."""
    height, width = picture.shape[:2]
    screen.blit(pygame.image.frombuffer(picture.tobytes(), (width, height), "RGB"), (0, 0))
    pygame.display.flip()


class Window:
    """Shows pictures of one size at a steady rate, until the user closes it.

    A process has only one window: a second ``Window`` takes it over from the first.

    Args:
        size: width and height in pixels.
        fps: maximum pictures per second; :meth:`show` waits as needed.
        title: the window's title.

    Raises:
        ModuleNotFoundError: pygame-ce is not installed.

    Attributes:
        closed: whether it was closed, by the user or by :meth:`close`; it never reopens.
    """

    _owner: ClassVar[Window | None] = None

    def __init__(self, size: tuple[int, int], fps: float, title: str = "boulanger_env") -> None:
        self._pygame = load_pygame()
        self._arguments = (size, fps, title)
        self._screen: Any = None
        self._clock: Any = None
        self.closed = False

    def __reduce__(self) -> tuple[type[Window], tuple[tuple[int, int], float, str]]:
        """A copy opens its own window when it first shows something."""
        return type(self), self._arguments

    def show(self, picture: Pixels) -> None:
        """Show a picture when it is due; do nothing if the window has been closed.

        Raises:
            BoulangerError: there is no display to open a window on.
        """
        if self.closed:
            return
        pygame, (size, fps, title) = self._pygame, self._arguments
        if Window._owner is not self:
            self._open(size, title)
        if any(event.type == pygame.QUIT for event in pygame.event.get()):
            self.close()
            return
        fill_display(pygame, self._screen, picture)
        self._clock.tick(fps)

    def _open(self, size: tuple[int, int], title: str) -> None:
        if Window._owner is not None:
            Window._owner.close()
        self._screen = open_display(self._pygame, size, title)
        self._clock = self._pygame.time.Clock()
        Window._owner = self

    def close(self) -> None:
        """Close the window for good."""
        if Window._owner is self:
            self._pygame.display.quit()
            Window._owner = None
        self._screen, self.closed = None, True
