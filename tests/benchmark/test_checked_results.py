"""Impossible results are rejected when they are read: by the rules, by the labels, by replaying the games."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boulanger_env import BoulangerError, Game, Move
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.deals import load

pytest.importorskip("scipy")

from boulanger_env.benchmark.action_text import decode, encode
from boulanger_env.cli.compare_runs import compare_files
from boulanger_env.deals import DealSet

Lines = list[dict[str, Any]]
Change = Callable[[Lines], object]


def rewritten(path: Path, change: Change) -> Path:
    """A file with its lines changed."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def refused(path: Path, change: Change) -> str:
    """The error for a results file after a change."""
    Results.load(path)
    with pytest.raises(BoulangerError) as error:
        Results.load(rewritten(path, change))
    return str(error.value)


@pytest.fixture
def all_of_c4(tmp_path: Path) -> Path:
    """A run on 1000 deals, 249 of which cannot be won."""
    path = tmp_path / "run.jsonl"
    evaluate("random", "c4-test-all", file=path, max_episode_steps=100)
    return path


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    path = tmp_path / "hard.jsonl"
    evaluate("greedy", "c4-hard", file=path, max_episode_steps=300)
    return path


def win(game: dict[str, Any], moves: int = 90) -> None:
    game.update(outcome="won", cards_home=52, score=520, moves=moves, steps=moves, illegal=0)


class TestByTheLabels:
    def test_not_every_deal_can_be_won(self, all_of_c4: Path) -> None:
        assert "proved that it cannot be won" in refused(
            all_of_c4, lambda lines: [win(game) for game in lines[1:]]
        )

    def test_no_win_is_shorter_than_the_shortest(self, all_of_c4: Path) -> None:
        labels = load("c4-test-all").labels
        assert labels is not None
        place = int(labels.length.argmax())
        shortest = int(labels.length[place])
        rewritten(all_of_c4, lambda lines: win(lines[1 + place], shortest))
        assert Results.load(all_of_c4).games[place].won
        said = refused(all_of_c4, lambda lines: win(lines[1 + place], shortest - 1))
        assert f"its shortest solution has {shortest}" in said

    def test_another_name_hides_nothing(self, all_of_c4: Path) -> None:
        def renamed(lines: Lines) -> None:
            lines[0]["deals"]["name"] = "mine"
            for game in lines[1:]:
                win(game)

        assert "cannot be won" in refused(all_of_c4, renamed)

    @pytest.mark.parametrize("name", ["c4-hard", "C4-Hard"])
    def test_other_deals_under_the_name_of_a_set(self, name: str, tmp_path: Path) -> None:
        easy = tmp_path / "easy.jsonl"
        evaluate("greedy", "c4-easy", file=easy)
        said = refused(easy, lambda lines: lines[0]["deals"].update(name=name))
        assert f"not the deals of the built-in set {name}" in said
        # Also reported before anything is played.
        with pytest.raises(BoulangerError, match=f"not the deals of the built-in set {name}"):
            evaluate("greedy", DealSet(name, load("c4-easy").codes))

    @pytest.mark.parametrize("part", [slice(10), slice(5, 50, 7), slice(20, None, -3), slice(30, 20)])
    def test_slices_have_the_names_of_their_set(self, part: slice, tmp_path: Path) -> None:
        from boulanger_env.deals.known import check_name

        deals = load("c4-test")[part]
        check_name(deals.name, deals.codes)
        check_name(deals[1:9:2].name, deals[1:9:2].codes)
        if len(deals):
            with pytest.raises(BoulangerError, match="of that slice"):
                check_name(deals.name, (*deals.codes, deals.codes[0]))
        with pytest.raises(BoulangerError, match="of that slice"):
            check_name("c4-test[0:9999999999999]", deals.codes)
        with pytest.raises(BoulangerError, match="of that slice"):
            check_name("c4-test[0:10]x", load("c4-test")[:10].codes)


class TestByTheRules:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"score": -5}, "the score is -5"),
            ({"score": 10**400}, "a number of 401 digits"),
            ({"score": 0}, "the score is 0"),
            ({"score": 3}, "the score is 3"),
            ({"score": 2000}, "this score and outcome take at least"),
            ({"score": 10**15}, "this score and outcome take at least"),
            ({"moves": 0, "steps": 0}, "take at least"),
            ({"moves": 3}, "take at least|steps cannot be|but 3 moves"),
            ({"steps": 301, "moves": 301}, "the limit is 300"),
            ({"steps": -1, "moves": -1}, "negative"),
            ({"illegal": -2}, "negative"),
            ({"illegal": 4}, "illegal ones"),
            ({"outcome": "truncated"}, "truncated after"),
            ({"outcome": "illegal"}, "does not end the game"),
            ({"outcome": "won"}, "won with"),
            ({"outcome": ""}, "not one of won"),
            ({"cards_home": 52, "score": 520}, "52 cards home, stuck"),
            ({"cards_home": 41, "score": 410}, "41 cards home, stuck"),
            ({"code": "bk1-c4-aaaaaaa"}, "not how a game's code is written"),
            ({"actions": "AA"}, "it must have place"),
        ],
    )
    def test_no_game_can_end_like_that(self, hard: Path, change: dict[str, Any], said: str) -> None:
        import re

        place = next(i for i, row in enumerate(Results.load(hard).games) if row.outcome == "stuck")
        assert re.search(said, refused(hard, lambda lines: lines[1 + place].update(change)))

    def test_the_line_is_named(self, hard: Path) -> None:
        assert "hard.jsonl is not a file of benchmark results: line 8: " in refused(
            hard, lambda lines: lines[7].update(score=-5)
        )

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"max_episode_steps": 12}, "the limit is 12"),
            ({"max_episode_steps": "many"}, "max_episode_steps='many'"),
            ({"max_episode_steps": True}, "max_episode_steps=True"),
            ({"illegal_action": "ignore"}, "illegal_action='ignore'"),
            ({"cells": 5}, "setting 'cells' is unknown"),
        ],
    )
    def test_settings_are_settings(self, hard: Path, settings: dict[str, Any], said: str) -> None:
        assert said in refused(hard, lambda lines: lines[0]["settings"].update(settings))

    def test_a_doubled_key(self, hard: Path) -> None:
        hard.write_text(hard.read_text().replace('"illegal": 0', '"illegal": 3, "illegal": 0', 1))
        with pytest.raises(BoulangerError, match="line 2: key 'illegal' comes twice"):
            Results.load(hard)

    @pytest.mark.parametrize("illegal_action", ["penalize", "terminate"])
    @pytest.mark.parametrize("allow_undo", [False, True])
    def test_what_is_played_can_be(self, illegal_action: str, allow_undo: bool, tmp_path: Path) -> None:
        """The games of any policy pass: this one plays anything, undo and illegal actions included."""
        chance = random.Random(3)

        def anything(observation: Any, mask: Any, info: Any) -> int:
            return chance.choice([i for i, legal in enumerate(mask) if legal or chance.random() < 0.003])

        for deals in ("c4-test-all", "c2-test-all", "c1-test-all"):
            path = tmp_path / f"{deals}.jsonl"
            run = evaluate(
                anything,
                load(deals)[:25],
                name="anything",
                moves=True,
                file=path,
                max_episode_steps=60,
                illegal_action=illegal_action,
                allow_undo=allow_undo,
            )
            assert Results.load(path) == run
            expected = "illegal" if illegal_action == "terminate" else "truncated" if allow_undo else "stuck"
            assert expected in {row.outcome for row in run.games}


class TestPlayedAgain:
    @pytest.fixture
    def kept(self, tmp_path: Path) -> Path:
        path = tmp_path / "kept.jsonl"
        evaluate("greedy", "c4-test-100", file=path, moves=True, max_episode_steps=120)
        return path

    def test_the_text_of_actions(self) -> None:
        actions = [*range(781)]
        assert decode(encode(actions)).tolist() == actions
        for text, said in (
            ("A", "two symbols"),
            ("aa", "two symbols"),
            ("é1", "two symbols"),
            ("77", "action 1023"),
        ):
            with pytest.raises(BoulangerError, match=said):
                decode(text)

    def test_a_row_keeps_what_was_played(self, kept: Path) -> None:

        run = Results.load(kept)
        assert run.moves
        for row in run.games[:20]:
            game = Game.from_code(row.code)
            for action in decode(row.actions).tolist():
                game.push(Move.from_id(action))
            assert (game.cards_home, game.score, game.moves) == (row.cards_home, row.score, row.moves)
        assert evaluate("greedy", "c4-test-100", max_episode_steps=120) != run

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda g: g.update(actions=g["actions"][:-2]), "steps, but"),
            (lambda g: g.update(actions=g["actions"][:-2] + "77"), "action 1023"),
            (lambda g: g.update(actions=g["actions"][:-2] + encode([780])), "an undo"),
            (
                lambda g: g.update(actions=g["actions"][2:] + g["actions"][:2]),
                "played again by its actions, has",
            ),
            (lambda g: g.update(actions=5), "of type str"),
            (lambda g: g.update(score=g["score"] + 5), "played again by its actions, has score"),
            (lambda g: g.pop("actions"), "it must have place"),
        ],
    )
    def test_a_game_that_went_otherwise(self, kept: Path, change: Change, said: str) -> None:
        place = next(
            i for i, row in enumerate(Results.load(kept).games) if row.outcome == "stuck" and row.moves > 20
        )
        assert said in refused(kept, lambda lines: change(lines[1 + place]))  # type: ignore[arg-type]

    def test_a_made_up_win(self, kept: Path) -> None:
        place = next(i for i, row in enumerate(Results.load(kept).games) if row.outcome == "stuck")
        said = refused(kept, lambda lines: win(lines[1 + place]))
        assert "90 steps, but" in said

        def as_long(lines: Lines) -> None:
            win(lines[1 + place])
            lines[1 + place]["actions"] = "W4" * 90

        kept.unlink()
        evaluate("greedy", "c4-test-100", file=kept, moves=True, max_episode_steps=120)
        assert "outcome 'stuck', not 'won'" in refused(kept, as_long) or "illegal" in refused

    def test_a_run_keeps_them_in_all_rows_or_in_none(self, kept: Path) -> None:
        with pytest.raises(BoulangerError, match="moves True there, False here"):
            evaluate("greedy", "c4-test-100", file=kept, max_episode_steps=120)
        lines = kept.read_text().splitlines(keepends=True)
        kept.write_text("".join(lines[:40]))
        again = evaluate("greedy", "c4-test-100", file=kept, moves=True, max_episode_steps=120)
        # The head has a setting of that name.
        assert kept.read_text().split("\n", 1)[1].count('"actions"') == 100
        assert Results.load(kept) == again


def test_hash_goes_with_equality() -> None:
    deals = load("c4-test-100")[:3]
    a, b = evaluate("greedy", deals), evaluate("greedy", deals)
    assert a == b
    assert len({a, b, evaluate("random", deals)}) == 2


def test_compare_shows_nothing_of_a_file_that_cannot_be(
    hard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.jsonl"
    evaluate("random", "c4-hard", file=other, max_episode_steps=300)
    rewritten(other, lambda lines: [win(game, 60) for game in lines[1:]])
    with pytest.raises(BoulangerError, match=r"other\.jsonl is not a file of benchmark results"):
        compare_files([hard, other])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("seed", range(3))
def test_hostile_files(seed: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """However a file is changed, it is read, or rejected at once with an error of the package."""
    chance = random.Random(seed)
    path = tmp_path / "base.jsonl"
    evaluate("greedy", "c4-test-100", file=path, moves=True, seed=[0, 1])
    base = path.read_bytes()
    numbers = [True, -1, 0, 1.5, 1e308, 2**63, 2**64]
    ugly: list[Any] = [None, *numbers, "", "won", "\x1b[2J", "\ud800", [], {}, [[]], "é" * 999]

    def leaf(value: Any) -> Any:
        return chance.choice([*ugly, [value], {"a": value}, str(value)])

    def spoil_value(lines: list[bytes]) -> None:
        i = 0 if chance.random() < 0.4 else chance.randrange(len(lines))
        content = json.loads(lines[i])
        inside = chance.choice([content, *(v for v in content.values() if isinstance(v, dict) and v)])
        key = chance.choice([*inside, "new"])
        if chance.random() < 0.2:
            inside.pop(key, None)
        else:
            inside[key] = leaf(inside.get(key))
        lines[i] = json.dumps(content).encode()

    def spoil_lines(lines: list[bytes]) -> None:
        i, j = chance.randrange(len(lines)), chance.randrange(len(lines))
        kind = chance.randrange(4)
        if kind == 0:
            lines[i], lines[j] = lines[j], lines[i]
        elif kind == 1:
            lines[i] = lines[j]
        elif kind == 2:
            del lines[i]
        else:
            lines.insert(i, b"")

    def spoil_bytes(data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(chance.choice([1, 1, 3, 30])):
            changed[chance.randrange(min(len(changed), 3000))] = chance.randrange(256)
        return bytes(changed[: chance.choice([len(changed), chance.randrange(len(changed))])])

    said: list[str] = []
    for _ in range(1000 if request.config.getoption("--slow") else 40):
        lines = base.split(b"\n")[:-1]
        for _ in range(chance.choice([1, 1, 2, 5])):
            if lines:
                chance.choice([spoil_value, spoil_value, spoil_lines])(lines)
        data = b"\n".join([*lines, b""])
        if chance.random() < 0.3:
            data = spoil_bytes(data)
        path.write_bytes(data)
        try:
            Results.load(path)
        except BoulangerError as error:
            said.append(str(error))
    assert said
    assert all(text.isprintable() for text in said)


@pytest.mark.parametrize(
    "change",
    [{"outcome": "lost"}, {"outcome": "won"}, {"cards_home": 53}, {"cards_home": -1}, {"cards_home": 52}],
)
def test_results_that_no_game_gives_are_refused(change: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    evaluate("random", ["MS-C4-1", "MS-C4-2"]).save(path)
    assert not Results.load(path).games[0].won
    head, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, json.dumps({**json.loads(first), **change}), *rest, ""]))
    with pytest.raises(BoulangerError, match="no game can end like that"):
        Results.load(path)
