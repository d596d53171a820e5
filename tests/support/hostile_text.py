"""Text that should never be obeyed, wherever it is shown."""

from __future__ import annotations

HOSTILE = (
    "_a|b*c\x1b]0;owned\x07\n<script>alert(1)</script> $\\frac$ [red]x[/red] `y` :boom: \u202edcba &amp;"
)
