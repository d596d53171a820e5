"""A browser for the tests of the player."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import browser


@pytest.fixture(scope="module")
def page() -> Iterator[browser.Page]:
    program = browser.find()
    if program is None:
        pytest.skip("no Chromium on this machine")
    with browser.Page(program) as found:
        yield found
