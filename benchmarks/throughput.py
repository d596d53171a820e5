"""Steps per second of our environments and, in the same run, of those that people know.

    python benchmarks/throughput.py                    # the whole table, about five minutes
    python benchmarks/throughput.py --quick            # a smaller one, in seconds, to see that it runs
    python benchmarks/throughput.py --json results.json --only BoulangerVectorEnv

All play uniformly random legal actions. They are measured in turn, many times over, so that a slow moment of
the machine affects all of them; a rate is the median over rounds, a ratio the median of the rounds' ratios.
``step`` is the time in the environment's step (with masks, rewards, the next deals), ``sample`` that of
choosing actions, ``end to end`` both. Steps that an environment ignores or rejects do not count.

Peers (``pip install "boulanger-env[peers]"``) that are not installed are left out, with a message.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from contestants import Contestant, Entry, entries

KINDS = ("step", "sample", "end to end")
PACKAGES = ("numpy", "numba", "gymnasium", "stable-baselines3", "envpool", "open-spiel")


class Round(NamedTuple):
    """One measurement: steps counted, episodes ended, nanoseconds spent in both calls."""

    steps: int
    episodes: int
    step_ns: int
    sample_ns: int

    def rate(self, kind: str) -> float:
        """Steps per second."""
        ns = {"step": self.step_ns, "sample": self.sample_ns, "end to end": self.step_ns + self.sample_ns}[
            kind
        ]
        return 1e9 * self.steps / ns


def measure(contestant: Contestant, seconds: float) -> Round:
    """Play for a while."""
    steps = episodes = step_ns = sample_ns = 0
    budget = seconds * 1e9
    while step_ns + sample_ns < budget:
        start = perf_counter_ns()
        contestant.sample()
        chosen = perf_counter_ns()
        contestant.step()
        end = perf_counter_ns()
        step_ns += end - chosen
        sample_ns += chosen - start
        played, ended = contestant.account()
        steps += played
        episodes += ended
    return Round(steps, episodes, step_ns, sample_ns)


def build(chosen: Iterable[Entry]) -> dict[Entry, Contestant]:
    """Make the contestants; those that cannot be made are left out, with a message."""
    made: dict[Entry, Contestant] = {}
    for entry in chosen:
        try:
            made[entry] = entry.make()
        except ImportError as error:
            print(f"left out: {entry.name}: {error}", file=sys.stderr)
    return made


def run(made: dict[Entry, Contestant], seconds: float, rounds: int) -> dict[Entry, list[Round]]:
    """Measure all in turn. The first round, in which kernels compile and games get out of step, does not count."""
    results: dict[Entry, list[Round]] = {entry: [] for entry in made}
    for number in range(rounds + 1):
        for entry, contestant in made.items():
            result = measure(contestant, seconds)
            if number:
                results[entry].append(result)
        if sys.stderr.isatty():
            print(f"round {number} of {rounds}", end="\r", file=sys.stderr)
    return results


# -- what is shown ----------------------------------------------------------------------------------------------


def shown(rate: float) -> str:
    """A rate with three digits: 4.21 M, 83.1 k."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {letter}"
    return f"{rate:.3g}"


def mean_length(rounds: list[Round]) -> float | None:
    """Mean steps per episode."""
    episodes = sum(r.episodes for r in rounds)
    return sum(r.steps for r in rounds) / episodes if episodes else None


def row(entry: Entry, rounds: list[Round]) -> dict[str, Any]:
    """One line of the table, as data."""
    return {
        "name": entry.name,
        "games": entry.games,
        "threads": entry.threads,
        "observation": entry.observation,
        **{kind: median(r.rate(kind) for r in rounds) for kind in KINDS},
        "episode length": mean_length(rounds),
        "rounds": [r._asdict() for r in rounds],
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The table as Markdown."""
    head = [
        "environment",
        "games",
        "threads",
        "observation",
        *(f"{kind}, steps/s" for kind in KINDS),
        "episode length",
    ]
    lines = [head]
    for line in rows:
        length = line["episode length"]
        lines.append(
            [
                line["name"],
                str(line["games"]),
                str(line["threads"]),
                line["observation"] or "-",
                *(shown(line[kind]) for kind in KINDS),
                "-" if length is None else f"{length:.1f}",
            ]
        )
    return markdown(lines)


def markdown(lines: list[list[str]]) -> str:
    """Lines of cells in aligned columns, the headings first."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    return "\n".join([texts[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *texts[1:]])


BATCH = ("BoulangerVectorEnv", 1024, 1, "cards")
# What is compared with what, and the ratio of steps per second to aim for.
RATIOS: tuple[tuple[tuple[Any, ...], tuple[Any, ...], float | None], ...] = (
    (("BoulangerVectorEnv, actions=cards", 1024, 1, "cards"), BATCH, 1),
    (("BoulangerVectorEnv, actions=taps", 1024, 1, "cards"), BATCH, None),
    (("BoulangerVectorEnv, auto_foundation", 1024, 1, "cards"), BATCH, 1 / 1.5),
    (("BoulangerVectorEnv, no_repeats", 1024, 1, "cards"), BATCH, None),
    (
        ("BoulangerVectorEnv, no_repeats, 10 steps", 1024, 1, "cards"),
        ("BoulangerVectorEnv, 10 steps", 1024, 1, "cards"),
        1 / 1.5,
    ),
    (BATCH, ("Gymnasium CartPole, native batch", 1024, 1, ""), 0.8),
    (BATCH, ("EnvPool FrozenLake-v1", 1024, 1, ""), 8),
    (BATCH, ("OpenSpiel solitaire", 1, 1, ""), 250),
    (BATCH, ("Gymnasium Taxi with mask", 1, 1, ""), None),
    (BATCH, ("BoulangerEnv", 1, 1, "cards"), None),
    (BATCH, ("SyncVectorEnv", 16, 1, "cards"), None),
    (BATCH, ("AsyncVectorEnv", 16, 16, "cards"), None),
    (("BoulangerVectorEnv", 1024, 2, "cards"), BATCH, 1.7),
    (("BoulangerVectorEnv", 4096, 2, "cards"), ("BoulangerVectorEnv", 4096, 1, "cards"), 1.7),
    (("BoulangerVectorEnv", 1024, 2, "features"), ("BoulangerVectorEnv", 1024, 1, "features"), 1.7),
    (("BoulangerVectorEnv", 1024, 1, "features"), BATCH, 0.5),
    (("BoulangerVectorEnv", 256, 1, "features"), ("BoulangerVectorEnv", 256, 1, "cards"), 0.5),
    (("SB3 BoulangerVecEnv", 64, 1, "cards"), ("SB3 DummyVecEnv", 64, 1, "cards"), 20),
    (("SB3 BoulangerVecEnv", 64, 1, "features"), ("SB3 DummyVecEnv", 64, 1, "features"), 20),
)


def ratios(results: dict[Entry, list[Round]]) -> list[dict[str, Any]]:
    """The ratios of what was measured, as data."""
    found = {entry[:4]: rounds for entry, rounds in results.items()}
    lines = []
    for ours, theirs, aim in RATIOS:
        if ours in found and theirs in found:
            pairs = list(zip(found[ours], found[theirs], strict=True))
            of = {kind: median(mine.rate(kind) / other.rate(kind) for mine, other in pairs) for kind in KINDS}
            lines.append({"of": ours, "to": theirs, "aim": aim, **of})
    return lines


def ratio_table(lines: list[dict[str, Any]]) -> str:
    """The ratios as Markdown."""
    cells = [["of", "to", *KINDS, "aim (step)"]]
    for line in lines:
        aim = "-" if line["aim"] is None else f">= {line['aim']:g}"
        cells.append([title(line["of"]), title(line["to"]), *(f"{line[kind]:.3g}" for kind in KINDS), aim])
    return markdown(cells)


def title(key: tuple[Any, ...]) -> str:
    """A short name of a row."""
    name, games, threads, observation = key
    parts = [f"{games} games" if games > 1 else "", f"{threads} threads" if threads > 1 else "", observation]
    return ", ".join([name, *(part for part in parts if part)])


def machine() -> dict[str, Any]:
    """The hardware and the versions."""
    cpu = platform.processor()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), cpu)
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": load,
        "python": platform.python_version(),
        **versions,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rows, short rounds")
    parser.add_argument("--seconds", type=float, help="length of a round (0.5; with --quick 0.02)")
    parser.add_argument("--rounds", type=int, help="rounds that count (7; with --quick 2)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose name contains this text")
    parser.add_argument("--no-peers", action="store_true", help="only our own environments")
    parser.add_argument(
        "--json", metavar="FILE", help="write all measurements as JSON, - for standard output"
    )
    options = parser.parse_args()
    seconds = options.seconds or (0.02 if options.quick else 0.5)
    rounds = options.rounds or (2 if options.quick else 7)
    # Warnings from other packages would appear inside the table.
    warnings.simplefilter("ignore")

    about = machine()
    start = perf_counter()
    made = build(
        entry for entry in entries(options.quick, not options.no_peers) if options.only in entry.name
    )
    results = run(made, seconds, rounds)
    for contestant in made.values():
        contestant.close()
    rows = [row(entry, measured) for entry, measured in results.items()]
    compared = ratios(results)
    about["load at the end"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if options.json:
        text = json.dumps({"machine": about, "seconds": seconds, "rows": rows, "ratios": compared}, indent=1)
        if options.json == "-":
            print(text)
            return
        with open(options.json, "w") as file:
            file.write(text + "\n")
    print(", ".join(f"{name} {value}" for name, value in about.items() if value is not None))
    print(f"{rounds} rounds of {seconds:g} s each, {perf_counter() - start:.0f} s in all\n")
    print(table(rows))
    if compared:
        print("\n" + ratio_table(compared))


if __name__ == "__main__":
    main()
