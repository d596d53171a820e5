"""Statistics against other definitions of them, comparisons and grades of hand-made runs, the content of a report."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.hostile_text import HOSTILE

from boulanger_env import BoulangerError
from boulanger_env.benchmark import GameRow, Results, by_difficulty, compare, evaluate
from boulanger_env.benchmark.statistics import Estimate, bootstrap, holm, iqm_of, mcnemar, mean_of, share
from boulanger_env.cli.compare_runs import compare_files
from boulanger_env.cli.output import print_tables
from boulanger_env.deals import DealSet, load
from boulanger_env.deals.labels import Labels
from boulanger_env.report import write_report
from boulanger_env.report.tables import (
    PAIRED,
    as_rich,
    caption,
    comparison_table,
    markdown,
    results_table,
    rich_table,
)

CODES = [f"MS-C4-{50000 + i}" for i in range(1, 41)]  # of no built-in set
N = len(CODES)


def made(
    name: str,
    won: Any,
    *,
    seeds: int = 1,
    codes: list[str] = CODES,
    labels: Labels | None = None,
    moves: int = 90,
) -> Results:
    """A run with given outcomes, ``(seeds, deals)``."""
    won = np.broadcast_to(np.asarray(won, bool), (seeds, len(codes)))
    games = tuple(
        GameRow(
            place,
            code,
            seed,
            "won" if won[seed, place] else "stuck",
            52 if won[seed, place] else place % 9,
            520 if won[seed, place] else 10 * (place % 9),
            moves,
            moves,
            0,
        )
        for seed in range(seeds)
        for place, code in enumerate(codes)
    )
    deals = DealSet("made", codes)
    return Results(name, tuple(range(seeds)), "made", deals.fingerprint, "1", games, labels=labels)


class TestStatistics:
    def test_mcnemar_is_a_count_of_coin_tosses(self) -> None:
        for better, worse in itertools.product(range(6), repeat=2):
            n = better + worse
            tosses = [sum(toss) for toss in itertools.product((0, 1), repeat=n)]
            as_uneven = sum(abs(2 * heads - n) >= abs(better - worse) for heads in tosses)
            assert mcnemar(better, worse) == pytest.approx(as_uneven / len(tosses))

    def test_holm_by_its_own_words(self) -> None:
        # From the smallest on, reject while p <= alpha / (number left): the corrected p is the smallest such alpha.
        p = [0.04, 0.001, 0.2, 0.011, 0.02]
        for i, corrected in enumerate(holm(p)):
            for alpha, rejected in ((corrected + 1e-9, True), (corrected - 1e-9, False)):
                smaller = sorted(p)[: sorted(p).index(p[i]) + 1]
                assert all(q <= alpha / (len(p) - rank) for rank, q in enumerate(smaller)) is rejected
        assert holm([0.7, 0.9]) == [1.0, 1.0]
        assert holm([]) == []

    @pytest.mark.parametrize("n", [1, 3, 4, 7, 100, 101])
    def test_the_iqm_leaves_out_a_quarter_at_each_end(self, n: int) -> None:
        values = np.random.default_rng(n).random(n)
        cut = int(0.25 * n)
        assert float(iqm_of(values)) == pytest.approx(np.sort(values)[cut : n - cut].mean())

    def test_the_bootstrap_of_a_mean_is_near_the_t_interval(self) -> None:
        values = np.random.default_rng(0).normal(10, 3, 400)
        found = bootstrap(values, mean_of)
        low, high = stats.t.interval(0.95, 399, loc=values.mean(), scale=stats.sem(values))
        assert found.value == pytest.approx(values.mean())
        assert found[1:] == pytest.approx((low, high), abs=0.05)
        assert bootstrap(values, mean_of) == found
        assert bootstrap([7], mean_of) == (7, None, None)
        assert bootstrap([0, 0, 0], mean_of) == (0, 0, 0)

    def test_a_deal_played_twice_counts_once(self) -> None:
        values = np.random.default_rng(1).random(50)
        twice = bootstrap(np.stack([values, values], axis=1), mean_of)
        assert twice == pytest.approx(bootstrap(values, mean_of))
        won = np.arange(N) % 3 == 0
        one, two = made("a", won).summary, made("a", won, seeds=2).summary
        assert two.games == 2 * one.games
        for name in ("win_rate", "cards_home", "cards_home_iqm", "moves"):
            assert getattr(two, name) == pytest.approx(getattr(one, name)), name


class TestLabels:
    LABELS = Labels(
        np.arange(N) % 4 != 0,
        np.where(np.arange(N) % 4 != 0, 60 + (N - np.arange(N)) // 4, 0).astype(np.int16),
        (1000 - 10 * np.arange(N)).astype(np.int32),
    )

    def test_what_can_be_won_is_what_counts(self) -> None:
        won = (np.arange(N) % 4 != 0) & (np.arange(N) < 20)
        labels = self.LABELS._replace(length=np.where(self.LABELS.solvable, 80, 0).astype(np.int16))
        summary = made("a", won, labels=labels).summary
        assert summary.solvable_won == share(15, 30)
        assert summary.win_rate == share(15, 40)
        assert summary.regret == pytest.approx((10, 10, 10))

    def test_a_length_that_is_not_known_gives_no_regret(self) -> None:
        unknown = self.LABELS._replace(length=np.zeros(N, np.int16))
        assert made("a", [True] * N, labels=unknown).summary.regret is None
        some = np.where(np.arange(N) == 5, 83, 0).astype(np.int16)
        assert made("a", [True] * N, labels=self.LABELS._replace(length=some)).summary.regret == (
            7,
            None,
            None,
        )

    def test_the_grades_go_from_short_solutions_to_long_ones(self) -> None:
        won = np.arange(N) >= 20  # those with the shorter solutions
        grades = by_difficulty(made("a", won, labels=self.LABELS), grades=3)
        assert [grade.deals for grade in grades] == [10, 10, 10]
        lengths = sorted((60 + (N - i) // 4, 1000 - 10 * i) for i in range(N) if i % 4)
        assert [grade.length for grade in grades] == [
            (lengths[10 * k][0], lengths[10 * k + 9][0]) for k in range(3)
        ]
        assert [grade.win_rate.value for grade in grades] == [1, 0.5, 0]
        assert by_difficulty(made("a", won)) == []
        assert by_difficulty(made("a", won[:3], codes=CODES[:3], labels=self.LABELS.part(slice(0, 3)))) == []
        unknown = self.LABELS._replace(length=np.zeros(N, np.int16))
        assert by_difficulty(made("a", won, labels=unknown)) == []


class TestCompare:
    def test_two_runs(self) -> None:
        a, b = made("a", np.arange(N) < 30), made("b", (np.arange(N) >= 26) & (np.arange(N) < 36))
        (pair,) = compare([a, b])
        assert (pair.first, pair.second, pair.better, pair.worse) == ("a", "b", 26, 6)
        assert pair.win_rate.value == pytest.approx((30 - 10) / N)
        assert pair.win_rate.low is not None
        assert pair.win_rate.low < 0.5 < (pair.win_rate.high or 0)
        assert (
            pair.p_value == pair.p_holm == pytest.approx(2 * sum(math.comb(32, k) for k in range(7)) / 2**32)
        )
        home = [x.cards_home - y.cards_home for x, y in zip(a.games, b.games, strict=True)]
        assert pair.cards_home.value == pytest.approx(np.mean(home))

    def test_pairing_finds_what_intervals_side_by_side_do_not(self) -> None:
        b = np.arange(N) % 2 == 0
        a = b | (np.arange(N) < 12)
        first, second = made("a", a), made("b", b)
        (pair,) = compare([first, second])
        assert pair.p_value < 0.05
        assert pair.win_rate.low is not None
        assert pair.win_rate.low > 0
        assert (first.summary.win_rate.low or 0) < (second.summary.win_rate.high or 0)

    def test_three_runs_are_corrected_together(self) -> None:
        runs = [made(str(k), np.arange(N) < k) for k in (10, 17, 30)]
        pairs = compare(runs)
        assert [(pair.first, pair.second) for pair in pairs] == [("10", "17"), ("10", "30"), ("17", "30")]
        assert [pair.p_holm for pair in pairs] == holm([pair.p_value for pair in pairs])
        assert pairs[0].p_value == 2 * 0.5**7

    def test_equal_runs(self) -> None:
        (pair,) = compare([made("a", [True] * N), made("b", [True] * N)])
        assert (pair.better, pair.worse, pair.win_rate, pair.p_value) == (0, 0, (0, 0, 0), 1)

    def test_with_several_seeds_a_deal_counts_once(self) -> None:
        a = np.zeros((3, N), bool)
        a[:2, :5] = True  # two of three times
        b = np.zeros((3, N), bool)
        b[0, :8] = True
        (pair,) = compare([made("a", a, seeds=3), made("b", b, seeds=3)])
        assert (pair.better, pair.worse) == (5, 3)
        assert pair.win_rate.value == pytest.approx((10 - 8) / 3 / N)

    def test_what_cannot_be_compared(self) -> None:
        a = made("a", [True] * N)
        with pytest.raises(BoulangerError, match="different deals do not belong together: a played made"):
            compare([a, made("b", [True] * 3, codes=CODES[:3])])
        with pytest.raises(BoulangerError, match="different deals"):
            compare([a, made("b", [True] * N, codes=CODES[::-1])])
        with pytest.raises(BoulangerError, match=r"different numbers of seeds \(a 1, b 2\)"):
            compare([a, made("b", [True] * N, seeds=2)])
        with pytest.raises(BoulangerError, match="at least two runs, not 1"):
            compare([a])


class Links(HTMLParser):
    """What a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.sources += [value or "" for key, value in attrs if key in ("src", "href")]


class TestNames:
    """Runs of the same name are distinguished, and names from files are shown as text."""

    def test_what_differs_is_said(self) -> None:
        a = made("a", np.arange(N) < 30)
        b = replace(a, seeds=(1,), games=tuple(row._replace(seed=1) for row in a.games[::-1]))
        b = replace(b, games=tuple(sorted(b.games)))
        short = replace(b, settings={"max_episode_steps": 200})
        (pair,) = compare([a, b])
        assert (pair.first, pair.second) == ("a (seed=0)", "a (seed=1)")
        assert [row[0] for row in results_table([a, short])][1:] == [
            "a (seed=0)",
            "a (max_episode_steps=200, seed=1)",
        ]
        assert "max_episode_steps=200" in caption([a, short])
        with pytest.raises(BoulangerError, match="two of the runs are of a with the same seeds"):
            compare([a, made("a", [True] * N)])
        with pytest.raises(BoulangerError, match="two of the runs are of a with the same seeds"):
            markdown([a, a])

    def test_names_are_text(self, capsys: pytest.CaptureFixture[str]) -> None:
        runs = [made(HOSTILE, [True] * N), made("[red]x[/red] :boom:", [False] * N)]
        print_tables(
            [rich_table(runs), as_rich(comparison_table(compare(runs)), HOSTILE, text_columns=2)], False
        )
        out = capsys.readouterr().out
        assert all(line.isprintable() for line in out.splitlines())
        assert "[red]x[/red] :boom:" in out
        text = markdown(runs)
        assert len(text.splitlines()) == 4
        assert "<" not in text
        assert all(line.isprintable() for line in text.splitlines())

    def test_a_long_name_takes_no_time(self) -> None:
        runs = [made("a" * 100_000, [True] * N), made("b", [False] * N)]
        assert max(map(len, markdown(runs).splitlines())) < 400
        assert len(compare(runs)[0].first) == 60


def test_intervals_stay_where_a_mean_can_be() -> None:
    few = made("a", [True, False, True], codes=CODES[:3]).summary
    assert few.cards_home.low == 0
    assert few.cards_home.high == 52
    assert few.score.low == 0
    assert 0 < few.cards_home.value < 52
    narrow = results_table([made("a", [True, False, True], codes=CODES[:3])], narrow=True)
    assert "[0.0, 52.0]" in " ".join(narrow[1])


class TestReport:
    @pytest.fixture(autouse=True)
    def _needs_matplotlib(self) -> None:
        pytest.importorskip("matplotlib")

    def runs(self) -> list[Results]:
        labels = TestLabels.LABELS
        return [
            made("weak", (np.arange(N) < 12) & labels.solvable, labels=labels),
            made("<strong> & sure|", labels.solvable, labels=labels, moves=120),
        ]

    def test_the_page_needs_nothing_else(self, tmp_path: Path) -> None:
        markdown, html = write_report(self.runs(), tmp_path / "new")
        page = html.read_text()
        links = Links()
        links.feed(page)
        assert len(links.sources) == 3
        assert all(source.startswith("data:image/svg+xml;base64,") for source in links.sources)
        assert not {"script", "link", "strong"} & links.tags
        assert "http" not in re.sub(r'src="[^"]*"', "", page)
        assert "&lt;strong&gt; &amp; sure|" in page
        text = markdown.read_text()
        assert set(re.findall(r"\]\(([^)]*)\)", text)) == {
            "cards-home.svg",
            "difficulty.svg",
            "differences.svg",
        }
        for name in ("cards-home", "difficulty", "differences"):
            ET.parse(tmp_path / "new" / f"{name}.svg")

    def test_what_it_says(self, tmp_path: Path) -> None:
        text = write_report(self.runs(), tmp_path)[0].read_text()
        assert "30 of the 40 deals can be won" in text
        assert "| weak | 40 | 22.5 % [" in text
        assert "| 30.0 % [" in text  # of those that can be won
        regret = np.mean([120 - length for length in TestLabels.LABELS.length if length])
        assert f"| {regret:.1f} [" in text
        assert "Lost by weak, 21: `MS-C4-50040`, `MS-C4-50039`, `MS-C4-50038`, `MS-C4-50036`" in text
        assert r"&lt;strong&gt; &amp; sure\|" in text

    def test_the_same_runs_make_the_same_report(self, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            write_report(self.runs(), tmp_path / folder)
        for file in (tmp_path / "a").iterdir():
            assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name

    def test_hostile_names(self, tmp_path: Path) -> None:
        """Names that used to break it: markup of matplotlib, HTML, Markdown and rich, and terminal control codes."""
        names = ["_mine", r"$\frac$", HOSTILE, "# a\n* b", "`x` [a](javascript:alert(1))"]
        runs = [made(name, np.arange(N) < 5 * i, labels=TestLabels.LABELS) for i, name in enumerate(names)]
        markdown, html = write_report(runs, tmp_path)
        links = Links()
        links.feed(html.read_text())
        assert not {"script", "i"} & links.tags
        assert all(source.startswith("data:image/svg+xml") for source in links.sources)
        text = markdown.read_text()
        assert "<" not in text
        assert "](javascript" not in text
        assert all(line.isprintable() for line in (text + html.read_text()).splitlines())
        # Each name is in the legend, even the one with an underscore.
        svg = (tmp_path / "cards-home.svg").read_text()
        assert svg.count("<!-- ") - len(re.findall("<!-- [0-9]", svg)) >= len(names)
        assert "<!-- _mine -->" in svg

    def test_lost_games_are_linked(self, tmp_path: Path) -> None:
        deals = load("c4-test-100")[:8]
        kept = evaluate("greedy", deals, moves=True)
        plain = evaluate("random", deals, record=tmp_path / "lost", record_games="losses")
        recorded = {"random": tmp_path / "lost"}
        markdown, html = write_report([kept, plain], tmp_path / "report", recorded)
        for name in ("greedy", "random"):
            page = tmp_path / "report" / f"lost-{name}.html"
            lost = [row.code for row in (kept if name == "greedy" else plain).games if not row.won]
            assert lost
            assert all(code in page.read_text() for code in lost)
            assert f"wins {100 - 12.5 * len(lost):.1f} % of c4-test-100[0:8]" in page.read_text()
            assert f"([watch them]({page.name}))" in markdown.read_text()
            assert f'<a href="{page.name}">' in html.read_text()
        assert "watch" not in write_report([plain], tmp_path / "other")[0].read_text()

    def test_lost_games_keep_what_was_thought(self, tmp_path: Path) -> None:
        run = evaluate("heuristic:nodes=1", load("c4-hard")[:2], moves=True, record=tmp_path / "lost")
        write_report([run], tmp_path / "report", {run.policy: tmp_path / "lost"})
        (page,) = (tmp_path / "report").glob("lost-*.html")
        assert '"value"' in page.read_text()

    def test_one_run_without_labels(self, tmp_path: Path) -> None:
        text = write_report([made("alone", [False] * N)], tmp_path)[0].read_text()
        assert "not recorded" in text
        assert "Paired" not in text
        assert "difficulty.svg" not in text

    def test_the_command(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        files = []
        for run in (made("a", np.arange(N) < 30), made("b", np.arange(N) < 20)):
            files.append(tmp_path / f"{run.policy}.jsonl")
            run.save(files[-1])
        compare_files(files, as_markdown=True)
        out = capsys.readouterr().out
        assert "first minus second, percentage points" in out
        assert "| a | b | 10 | 0 | 25.0 [" in out
        assert "| 0.002 |" in out
        compare_files(files, output=tmp_path / "report")
        assert (tmp_path / "report" / "report.html").is_file()
        assert "McNemar" in capsys.readouterr().out

    def test_tables_are_as_wide_as_they_are_in_a_file_and_fit_a_terminal(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runs = [
            made(name, np.arange(N) < wins) for name, wins in (("greedy", 30), ("heuristic", 20), ("c", 20))
        ]
        runs = [replace(run, settings={"max_episode_steps": 200, "prune": True}) for run in runs]
        monkeypatch.setenv("COLUMNS", "80")
        print_tables(
            [rich_table(runs), as_rich(comparison_table(compare(runs), narrow=True), PAIRED, text_columns=2)]
        )
        out = capsys.readouterr().out
        # Nothing is wrapped: each row and each caption is one line.
        assert "  " + caption(runs) + "\n" in re.sub(" +\n", "\n", out)
        assert "  " + PAIRED + "\n" in re.sub(" +\n", "\n", out)
        assert len(re.findall(r"\[-?[0-9.]+, -?[0-9.]+\].*\[-?[0-9.]+, -?[0-9.]+\]", out)) == 3
        print_tables(
            [as_rich(comparison_table(compare(runs[:2]), narrow=True), PAIRED, text_columns=2)], True
        )
        out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        assert max(map(len, out.splitlines())) <= 80
        assert re.search("greedy +heuristic", out)
        assert "10 : 0" in out

    def test_no_difference_has_no_sign(self) -> None:
        pair = compare([made("a", [True] * N), made("b", [True] * N)])[0]
        small = pair._replace(cards_home=Estimate(-0.04, -0.2, 0.1))
        assert comparison_table([small])[1][5] == "0.0 [-0.2, 0.1]"
