"""Figures as the benchmarks report them: a name, a value, its unit and the goal, if there is one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

Row = tuple[str, float, str, str]


def report(rows: Sequence[Row], file: Path | None) -> None:
    """Print the figures, and write them to a JSON file if one is given."""
    width = max(len(name) for name, *_ in rows)
    unit_width = max(len(unit) for _, _, unit, _ in rows)
    for name, value, unit, goal in rows:
        said = f"(goal {goal})" if goal else ""
        print(f"{name:<{width}}  {value:>8.4g} {unit:<{unit_width}} {said}".rstrip())
    if file:
        figures = [dict(zip(("name", "value", "unit", "goal"), row, strict=True)) for row in rows]
        file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
