"""Play the leaderboard and write its tables: python scripts/make_leaderboard.py

The games go to leaderboard/SET/AGENT.jsonl, with their moves: every game is replayed by the rules before a
table shows it. The solver then finds out where each agent threw wins away on the first set, which goes to
leaderboard/SET/losses/AGENT.jsonl. A run that was stopped resumes where it was, and what is complete is not done again.
``--tables`` plays nothing and writes the tables of leaderboard/README.md and README.md from these files.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from boulanger_env.agents import AgentSpec
from boulanger_env.agents.naming import file_stem
from boulanger_env.benchmark import Losses, Results, evaluate, losses
from boulanger_env.benchmark.comparison import run_names
from boulanger_env.benchmark.lost_wins import losses_table, with_bounds
from boulanger_env.deals import load
from boulanger_env.files import files_in, write_text
from boulanger_env.report.tables import markdown_rows, markdown_table, results_table

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "leaderboard"

SETS = ("c4-test", "c2-test", "c1-test")
CONTESTANTS = {
    "random": "`random`, any legal move",
    "greedy": "`greedy`, a fixed order of moves",
    "heuristic:nodes=1": "`heuristic:nodes=1`, a search over 1 position per move",
    "heuristic:nodes=30": "`heuristic:nodes=30`, a search over 30 positions per move",
    "heuristic": "`heuristic`, a search over 300 positions per move",
    "heuristic:nodes=3000": "`heuristic:nodes=3000`, a search over 3000 positions per move",
    "solver:quality=shortest": "`solver`, the complete solver: what is possible",
}
"""What plays, as ``AgentSpec`` reads it, and how the README's table describes it. To add an agent, add an entry."""

DIAGNOSED = ("c4-test",)
"""The sets on which the agents' decisions are checked: about a minute of one core for each agent."""

_BETWEEN = r"(<!-- leaderboard: {} -->\n).*?(<!-- end -->)"


def play() -> None:
    """Play what is missing."""
    for name in SETS:
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for agent in CONTESTANTS:
            file = FOLDER / name / f"{agent.replace(':', '-').replace('=', '-')}.jsonl"
            run = evaluate(agent, name, file=file, moves=True)
            print(
                f"{name} {run.policy}: {run.summary.wins} of {run.summary.games} won in {run.seconds:.0f} s"
            )
            if name in DIAGNOSED:
                print(f"  {diagnosed(name, run).lost} lost by a move")


def checked(file: Path) -> Results:
    """A run, with every game replayed from its moves."""
    run = Results.load(file)
    if not run.moves or run.deals != file.parent.name:
        raise SystemExit(
            f"{file}: a run here has {file.parent.name} as its deals and keeps its moves (bench --moves)"
        )
    return run


def diagnosed(name: str, run: Results) -> Losses:
    """Where a run on a set threw wins away; what is not in its file yet is found out."""
    folder = FOLDER / name / "losses"
    folder.mkdir(exist_ok=True)
    return losses(run, file=folder / f"{file_stem(run.policy)}.jsonl")


def results(name: str) -> list[Results]:
    """The runs on a set, from the weakest to the strongest."""
    runs = [checked(file) for file in files_in(FOLDER / name, "*.jsonl")]
    return sorted(
        runs, key=lambda run: (run.summary.win_rate.value, run.summary.cards_home.value, run.policy)
    )


def described() -> dict[str, str]:
    """The descriptions of the policies in the README's table."""
    return {AgentSpec.parse(text).make().name: about for text, about in CONTESTANTS.items()}


def front_table() -> str:
    """The README's table: the share of the first set's deals that each agent won, and how often it threw a win away."""
    about = described()
    rows = [["agent", f"won, `{SETS[0]}`", "threw a win away, per choice"]]
    for run in results(SETS[0]):
        value, low, high = (100 * (number or 0) for number in run.summary.win_rate)
        won = f"{value:.1f} % [{low:.1f}, {high:.1f}]"
        lost = with_bounds(diagnosed(SETS[0], run).rate)
        rows.append([about.get(run.policy, f"`{run.policy}`"), won, lost])
    return markdown_rows(rows)


def full_tables() -> str:
    """The tables of leaderboard/README.md."""
    parts = []
    for name in SETS:
        deals = load(name)
        parts.append(f"## {name}\n\n{len(deals)} deals, fingerprint `{deals.fingerprint}`.\n")
        runs = results(name)
        parts.append(markdown_table(results_table(runs)))
        if name in DIAGNOSED:
            found = [diagnosed(name, run) for run in runs]
            parts.append("Where they threw wins away:\n")
            parts.append(markdown_table(losses_table(run_names(runs), found)))
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """The files with tables in them, as they should be."""
    tables = {ROOT / "README.md": ("front", front_table()), FOLDER / "README.md": ("full", full_tables())}
    made = {}
    for path, (which, table) in tables.items():
        text, count = re.subn(
            _BETWEEN.format(which),
            lambda match, table=table: f"{match[1]}\n{table}\n{match[2]}",
            path.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        if count != 1:
            raise SystemExit(f"{path} needs one <!-- leaderboard: {which} --> with an <!-- end --> after it")
        made[path] = text
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true", help="play nothing")
    if not parser.parse_args().tables:
        play()
    for path, text in pages().items():
        write_text(path, text)


if __name__ == "__main__":
    main()
