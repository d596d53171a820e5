"""Jobs and a policy for other processes, which import this file and nothing that a test run needs."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from boulanger_env import BoulangerError


def late_square(number: int) -> int:
    time.sleep(0.05 * (number % 3))
    return number * number


def turned_round(content: bytes) -> bytes:
    return content[::-1]


def talk_and_ask(number: int) -> str:
    print("a line for whoever reads it", number)
    os.write(1, b"and bytes\n")
    return sys.stdin.read()


class OddError(Exception):
    """An error that pickle cannot restore."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def refuse(number: int) -> int:
    if number == 3:
        raise BoulangerError("3 is refused")
    if number == 4:
        raise OddError(4, 5)
    return number


def die_once(number: int, mark: str) -> int:
    if number == 2:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return number
        os._exit(1)
    return number


def sleep(seconds: float, mark: str = "") -> None:
    if mark:
        Path(mark, str(os.getpid())).touch()
    time.sleep(seconds)


def slowly(observation: Any, mask: Any, info: Any) -> int:
    time.sleep(0.002)
    return int(mask.argmax())
