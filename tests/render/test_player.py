"""The page with the player: its content and, in a browser, what it shows and does."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from oracle import MOVES as TRIPLES
from oracle import UNDO, Oracle
from support import browser
from support.random_games import peer_games
from support.sample_replays import lost, won

from boulanger_env import BoulangerError, Game, Move
from boulanger_env.cli import replay_output as command
from boulanger_env.render import render_html
from boulanger_env.render.html import player
from boulanger_env.render.marks import MARKS, MOVED, Mark
from boulanger_env.replay import Annotation, Replay, replay_of
from boulanger_env.solver import Solution, Status, solve

NASTY = (
    "</script><script>alert(1)</script><!--<script> ]]> & \u2028 \u2029 \ud800 \"'"
    " <img src=x onerror=alert(1)> $data"
)


def data(page: str) -> list[dict[str, Any]]:
    """The episodes in a page."""
    found: list[dict[str, Any]] = json.loads(page.split('id="data">')[1].split("</script>")[0])
    return found


def boards(replay: Replay, start: str) -> list[Oracle]:
    """The board at every step, by the tests' own rules."""
    game = Oracle.from_code(start)
    found = [game.copy()]
    for action in replay.actions:
        game.act(action)
        found.append(game.copy())
    return found


def framed(shown: str) -> str:
    match = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^<>]*></iframe>', shown)
    assert match
    return html.unescape(match[1])


# -- without a browser ------------------------------------------------------------------------------------------


def test_a_page_needs_nothing_else_and_is_small() -> None:
    longest = max(peer_games(), key=lambda game: len(game["moves"]))
    moves = [Move(*move).id for move in longest["moves"]]
    start = Game.from_code(longest["code"])
    note = Annotation(tuple((i, 0.123456) for i in range(5)), 0.123456, "a short note")
    replay = Replay(start, tuple(moves), "won", agent="x", annotations=(note,) * len(moves))
    page = replay.to_html()
    assert len(page.encode()) < 200_000
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", page)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", page)


def test_five_hundred_steps_fit() -> None:
    shuttle = [733, 780] * 250
    replay = Replay(
        Game.from_code("MS-C4-1"),
        tuple(shuttle),
        "truncated",
        rewards=(0,) * 500,
        settings={"allow_undo": True},
        annotations=(Annotation(((733, 0.5), (728, 0.2), (729, 0.1), (730, 0.1), (731, 0.1)), 0.123456),)
        * 500,
    )
    assert len(replay.to_html().encode()) < 200_000


def test_steps_say_where_cards_go() -> None:
    for replay, code in ((won(), "MS-C4-1"), (lost(), "MS-C4-12")):
        (episode,) = data(replay.to_html())
        place = dict(enumerate(episode["places"], 1))
        steps, actions = [["", []], *episode["steps"]], [-1, *replay.actions]
        for (text, moved), board, action in zip(steps, boards(replay, code), actions, strict=True):
            if isinstance(moved, list):
                place |= dict(zip(moved[::2], moved[1::2], strict=True))
            else:
                assert "not legal" in moved or "nothing to undo" in moved
            lying = {at: card for card, at in place.items() if at < 156}
            columns = [[lying[at] for at in range(19 * i, 19 * i + 19) if at in lying] for i in range(8)]
            assert columns == board.columns
            assert [lying.get(152 + i, 0) for i in range(4)] == board.cells
            assert [[*place.values()].count(156 + suit) for suit in range(4)] == board.home
            assert (text == "undo") == (action == UNDO)
        assert episode["scores"][-1] == replay.end.score


def test_texts_cannot_break_out() -> None:
    note = Annotation(((733, 1.0),), 0.5, NASTY)
    start = Game.from_code("MS-C4-1")
    replay = Replay(start, (733,), None, agent=NASTY, annotations=(note,))
    episode = replay.to_episode()
    episode["title"] = NASTY
    page = render_html([episode])
    assert page.count("</script>") == page.count("<script") == 2
    assert "<img" not in page
    assert "<!--" not in page
    (found,) = data(page)
    assert found["title"] == found["agent"] == found["thoughts"][0]["note"] == NASTY
    assert "\u2028" not in page
    page.encode()


def test_a_page_says_what_is_known_about_the_game() -> None:
    (plain,) = data(lost().to_html())
    assert (plain["solvable"], plain["strength"], plain["unit"]) == (None, "", "on the agent's own scale")
    known = {"solvable": True, "strength": "wins 2 % of c4-test", "value_unit": "cards home still expected"}
    (reported,) = data(lost().to_html(**known))
    assert [reported[key] for key in ("solvable", "strength", "unit")] == list(known.values())


def test_the_command_lets_the_solver_say_whether_a_game_could_be_won(tmp_path: Path) -> None:
    for name, replay in {
        "1": lost(),
        "2": won(),
        "3": lost("MS-C4-10"),
    }.items():
        replay.save(tmp_path / f"{name}.json")
    command.replay([tmp_path], html=tmp_path / "page.html")
    assert [one["solvable"] for one in data((tmp_path / "page.html").read_text())] == [True, True, False]


def test_no_page_without_an_episode() -> None:
    with pytest.raises(BoulangerError, match="at least one"):
        render_html([])


def test_a_notebook_shows_the_player() -> None:
    (episode,) = data(framed(won()._repr_html_()))
    assert len(episode["steps"]) == 86
    start = Game.from_code("MS-C4-1")
    assert framed(player(start, won().actions)) == replay_of(start, won().actions).to_html()


def test_a_notebook_shows_a_solution() -> None:
    solution = solve(Game.from_code("MS-C4-1"))
    (episode,) = data(framed(solution._repr_html_() or ""))
    assert [step[0] for step in episode["steps"]] == solution.notation()
    assert (episode["outcome"], episode["at"]) == ("won", 0)
    assert Solution(Status.LIMIT, (), 5, game=Game.from_code("MS-C4-1"))._repr_html_() is None


def test_a_notebook_shows_a_game_at_its_last_move() -> None:
    game = Game.from_code("MS-C2-617")
    for _ in range(2):
        game.push(Move(0, 8))
    (episode,) = data(framed(game._repr_html_()))
    assert (episode["title"], episode["cells"], episode["at"]) == ("MS-C2-617", 2, 2)
    assert [step[0] for step in episode["steps"]] == ["1a", "1b"]


# -- in a browser -----------------------------------------------------------------------------------------------


@pytest.fixture
def two_games(page: browser.Page, tmp_path: Path) -> Path:
    path = tmp_path / "games.html"
    path.write_text(render_html([won().to_episode(), lost().to_episode()]), encoding="utf-8")
    page.look()
    page.open(path)
    page.problems.clear()
    return path


# Where the cards are, by where they are drawn; and which card shows at the middle of each pile's lowest edge.
DRAWN = """(() => {
  const table = document.querySelector("#table").getBoundingClientRect();
  const boxes = [...document.querySelectorAll("[data-card]")].map((card) => {
    const box = card.getBoundingClientRect();
    const pile = Math.floor(8 * (box.x + box.width / 2 - table.x) / table.width);
    return { card: Number(card.dataset.card), pile, box };
  });
  const first = document.querySelector("#table .place").getBoundingClientRect().y;
  const piles = (rows) => Array.from({ length: 8 }, (_, i) => rows.filter((row) => row.pile === i)
    .sort((a, b) => a.box.y - b.box.y));
  const upper = boxes.filter(({ box }) => Math.abs(box.y - first) < 5);
  const lower = boxes.filter((row) => !upper.includes(row));
  const seen = (row) => {
    scrollTo(0, 0);
    const at = document.elementFromPoint(row.box.x + row.box.width / 2, row.box.y + row.box.height - 4);
    return Number(at.closest("[data-card]").dataset.card);
  };
  const inside = boxes.every(({ box }) => box.x >= table.x && box.right <= table.right && box.bottom <= table.bottom);
  return {
    columns: piles(lower).map((pile) => pile.map((row) => row.card)),
    above: piles(upper).map((pile) => pile.map((row) => row.card).sort((a, b) => a - b)),
    tops: piles(lower).map((pile) => pile.length ? seen(pile[pile.length - 1]) : 0),
    homes: piles(upper).map((pile) => pile.length ? seen(pile[0]) : 0),
    inside,
    step: Number(document.querySelector("#slider").value),
    status: document.querySelector("#status").textContent,
    current: document.querySelector("#moves [aria-current]")?.textContent ?? "",
  };
})()"""


def check(page: browser.Page, board: Oracle, step: int) -> dict[str, Any]:
    """The page shows this board, at this step."""
    drawn: dict[str, Any] = page.run(DRAWN)
    assert drawn["columns"] == board.columns
    assert drawn["tops"] == [column[-1] if column else 0 for column in board.columns]
    cells = [[card] if card else [] for card in [*board.cells, 0, 0, 0][:4]]
    homes = [list(range(13 * suit + 1, 13 * suit + rank + 1)) for suit, rank in enumerate(board.home)]
    assert drawn["above"] == cells + homes
    assert drawn["homes"][4:] == [pile[-1] if pile else 0 for pile in homes]
    assert drawn["inside"]
    assert drawn["step"] == step
    assert f"score {board.score} · {sum(board.home)} of 52 home" in drawn["status"]
    return drawn


@pytest.mark.parametrize(("number", "replay", "code"), [(1, won, "MS-C4-1"), (2, lost, "MS-C4-12")])
def test_every_step_shows_the_games_board(
    page: browser.Page, two_games: Path, number: int, replay: Any, code: str
) -> None:
    game = replay()
    expected = boards(game, code)
    page.open(two_games, f"#{number}/0")
    assert page.run("document.querySelector('#title').textContent") == code
    notation = game.notation()
    for step, board in enumerate(expected):
        drawn = check(page, board, step)
        assert drawn["current"] == (notation[step - 1] if step else "")
        if step < len(expected) - 1:
            assert page.run("document.querySelector('.won').hidden")
        page.key("ArrowRight")
    assert game.outcome in drawn["status"]
    assert page.run("document.querySelector('.won').hidden") == (game.outcome != "won")
    for step in range(len(expected) - 2, -1, -7):
        for _ in range(1 if step == len(expected) - 2 else 7):
            page.key("ArrowLeft")
        check(page, expected[step], step)
    assert page.problems == []


def test_jumps_and_playing_to_the_end(page: browser.Page, two_games: Path) -> None:
    expected = boards(lost(), "MS-C4-12")
    last = len(expected) - 1
    page.run(
        "const list = document.querySelector('#games'); list.value = 1; list.dispatchEvent(new Event('change'))"
    )
    assert page.run("document.querySelector('#title').textContent") == "MS-C4-12"
    page.click("#next")
    check(page, expected[1], 1)
    page.click("#last")
    check(page, expected[last], last)
    page.click("#back")
    check(page, expected[last - 1], last - 1)
    page.key("Home")
    check(page, expected[0], 0)
    page.key("End")
    check(page, expected[last], last)
    page.run("const s = document.querySelector('#slider'); s.value = 9; s.dispatchEvent(new Event('input'))")
    check(page, expected[9], 9)
    page.run("document.querySelectorAll('#moves button')[4].click()")
    check(page, expected[5], 5)
    page.click(".curve svg")
    middle = page.run("Number(document.querySelector('#slider').value)")
    assert abs(middle - last / 2) <= 1
    check(page, expected[middle], middle)
    assert page.run("location.hash") == f"#2/{middle}"
    page.click("#first")
    page.run("document.querySelector('#speed').value = 30")
    page.key(" ")
    assert page.run("document.querySelector('#play').ariaLabel") == "Pause"
    page.run(
        "new Promise((done) => { const look = () => document.querySelector('#play').ariaLabel === 'Play' ? done() "
        ": setTimeout(look, 20); look(); })"
    )
    drawn = check(page, expected[last], last)
    assert drawn["status"].endswith("stuck")
    assert page.problems == []


def test_what_the_agent_thought_is_shown_before_its_action(page: browser.Page, two_games: Path) -> None:
    replay = lost()
    shown = "document.querySelector('#thought').textContent"
    for step, annotation in enumerate(replay.annotations[:12]):
        page.open(two_games, f"#2/{step}")
        text = page.run(shown)
        if annotation is None:
            assert text == "Nothing is noted before this step."
            continue
        assert text.startswith(
            f"Before step {step + 1}: value {round(annotation.value, 4):g}, on the agent's"
        )
        assert page.run("document.querySelectorAll('#thought tr').length") == len(annotation.choices)
        chosen = [action for action, _ in annotation.choices].count(replay.actions[step])
        assert page.run("document.querySelectorAll('#thought .chosen').length") == chosen
    page.open(two_games, "#1/0")
    assert page.run("document.querySelector('#thinking').hidden")
    assert page.problems == []


def test_it_explains_itself(page: browser.Page, tmp_path: Path) -> None:
    """The game's name, the rules, the notation, whether it could be won, how good the agent is, what values count."""
    path = tmp_path / "page.html"
    for solvable, said in ((True, "It could have been won"), (False, "It could not be won"), (None, "")):
        path.write_text(
            lost().to_html(
                solvable=solvable, strength="wins 2 % of c4-test", value_unit="cards still to come"
            ),
            "utf-8",
        )
        page.look()
        page.open(path, "#1/0")
        text = page.run("document.body.innerText")
        assert "Jeu du Boulanger (Baker's Game)" in text
        assert "chance · wins 2 % of c4-test · stuck" in re.sub("[\u2068\u2069]", "", text)
        assert "A card goes onto the next higher card of its suit" in text
        assert "a run of three cards, column 1 to 2" in text
        assert text.count("cards still to come") == 2
        assert page.run("document.getElementById('verdict').textContent").startswith(said)
        assert (said == "") == (page.run("document.getElementById('verdict').textContent") == "")


def test_nasty_texts_stay_texts(page: browser.Page, tmp_path: Path) -> None:
    note = Annotation(((733, 1.0),), 0.5, NASTY)
    replay = Replay(Game.from_code("MS-C4-1"), (733,), None, agent=NASTY, annotations=(note,))
    path = tmp_path / "nasty.html"
    path.write_text(
        render_html([replay.to_episode(), {**replay.to_episode(), "title": NASTY}], "A <b>title</b>"), "utf-8"
    )
    page.look()
    page.problems.clear()
    page.open(path, "#2/0")
    assert page.run("document.title") == "A <b>title</b>"
    assert page.run("document.querySelector('#title').textContent") == NASTY
    assert NASTY in page.run("document.querySelector('#thought').textContent")
    assert page.run("document.querySelectorAll('script, img').length") == 2
    facts = "· not over · 0 of 52 home · score 0 · 1 step"
    assert page.run("document.querySelector('#facts').textContent") == f"\u2068{NASTY}\u2069 {facts}"
    assert page.problems == []
    # Even a script that had got in would not run.
    page.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.caught = true\">')")
    page.run(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'caught = true' }))"
    )
    page.run("new Promise((done) => setTimeout(done, 50))")
    assert page.run("window.caught === undefined")
    assert page.problems != []


def test_names_that_run_backwards_and_values_beyond_measure(page: browser.Page, tmp_path: Path) -> None:
    thoughts = [Annotation(value=1.7e308 * (-1) ** i) for i in range(4)]
    replay = Replay(
        Game.from_code("MS-C4-1"),
        (733, 780) * 2,
        agent="a\u202eb\u2069" + "c" * 999,
        annotations=tuple(thoughts),
    )
    path = tmp_path / "odd.html"
    path.write_text(replay.to_html(), "utf-8")
    page.look()
    page.problems.clear()
    page.open(path)
    # A name is shortened so that the rest of the line has room.
    facts = page.run("document.querySelector('#facts').textContent")
    assert facts == f"\u2068ab{'c' * 96}…\u2069 · not over · 0 of 52 home · score 0 · 4 steps"
    lines = page.run("[...document.querySelectorAll('.curve .line')].map((line) => line.getAttribute('d'))")
    assert lines[2] == "M0.00 2.00L25.00 38.00L50.00 2.00L75.00 38.00"
    assert page.problems == []


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
def test_it_fits_the_screen(page: browser.Page, two_games: Path, width: int, height: int) -> None:
    for dark in (False, True):
        page.look(width, height, dark=dark)
        page.open(two_games, "#2/30")
        assert page.run("document.documentElement.scrollWidth") == width
        bottom = page.run("document.querySelector('.controls').getBoundingClientRect().bottom")
        assert bottom <= height, "the controls are in sight"
        light = page.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] > 128")
        assert light != dark
    assert page.problems == []


def test_it_can_be_used_without_seeing_it(page: browser.Page, two_games: Path) -> None:
    page.open(two_games, "#1/2")
    label = page.run("document.querySelector('#table').ariaLabel")
    assert label.startswith(
        "Cells: 3 of diamonds, 2 of clubs, empty, empty. Home: no spades, no hearts, no diamonds, "
    )
    assert label.endswith(
        "Column 8: 5 of hearts, 3 of hearts, 3 of clubs, 7 of spades, 7 of diamonds, 10 of clubs."
    )
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node for node in nodes if node.get("role", {}).get("value") in ("button", "slider", "combobox")
    ]
    assert len(controls) > 90
    assert all(node["name"]["value"] for node in controls)
    # One move of the list is in the order of the tab key, not all of them.
    assert page.run("document.querySelectorAll('#moves [tabindex=\"0\"]').length") == 1


def test_cards_glide_unless_that_is_not_wanted(page: browser.Page, two_games: Path) -> None:
    for motion in (True, False):
        page.look(motion=motion)
        page.open(two_games, "#1/0")
        page.key("ArrowRight")
        duration = page.run("getComputedStyle(document.querySelector('.moved')).transitionDuration")
        assert (float(duration.removesuffix("s")) > 0) == motion


def test_marks_have_their_colours_from_the_table(
    page: browser.Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aces = Mark("+", (1, 2, 3), lambda game, last: [13 * suit + 1 for suit in range(4)])
    monkeypatch.setitem(MARKS, "aces", aces)
    monkeypatch.setitem(MARKS, MOVED, MARKS[MOVED]._replace(colour=(9, 8, 7)))
    start = Game.from_code("MS-C4-1")
    path = tmp_path / "page.html"
    path.write_text(replay_of(start, [start.parse_move("6a").id]).to_html(), encoding="utf-8")
    page.open(path, "#1/1")
    strokes = "Array.from(document.querySelectorAll('{}'), (paper) => getComputedStyle(paper).stroke)"
    assert page.run(strokes.format(".moved .paper")) == ["rgb(9, 8, 7)"]
    assert page.run(strokes.format(".marked:not(.moved) .paper")) == ["rgb(1, 2, 3)"] * 4


def test_a_game_without_a_move_is_only_a_table(page: browser.Page, tmp_path: Path) -> None:
    path = tmp_path / "frame.html"
    path.write_text(f"<!DOCTYPE html><p>a notebook</p>{Game.from_code('MS-C1-5')._repr_html_()}", "utf-8")
    page.look()
    page.problems.clear()
    page.open(path)
    page.run("new Promise((done) => setTimeout(done, 200))")
    assert page.problems == []
    inside = framed(Game.from_code("MS-C1-5")._repr_html_())
    path.write_text(inside, "utf-8")
    page.open(path)
    check_status = page.run(
        "[document.querySelector('.controls').hidden, document.querySelectorAll('.place').length]"
    )
    assert check_status == [True, 13]
    assert page.problems == []


def test_triples_are_the_packages() -> None:
    assert [tuple(Move.from_id(i)) for i in range(780)] == list(TRIPLES)
