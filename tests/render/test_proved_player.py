"""The page of a diagnosed game: what it holds, and in a browser the band, the losing move, the split moves."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import browser
from support.sample_replays import lost, won

from boulanger_env import BoulangerError, Game, Move
from boulanger_env.game.moves import UNDO
from boulanger_env.render import render_html
from boulanger_env.replay import Annotation, Replay, replay_of
from boulanger_env.solver import SOLVED, Diagnosis, diagnose, solve

START = "MS-C4-617"


def ids(*texts: str) -> tuple[int, ...]:
    return tuple(Move.parse(text).id for text in texts)


def can_be_won(game: Game) -> bool:
    return game.is_won or solve(game).status is SOLVED


@cache
def thrown_away() -> tuple[Replay, Diagnosis]:
    """A mistake that was taken back, one that was not, an illegal action, and moves of a lost position."""
    good, bad, illegal = ids("2f", "1f", "1h")
    game = Game.from_code(START)
    for action in (good, bad):
        game.push(Move.from_id(action))
    after = game.legal_moves()[0].id
    actions = (bad, UNDO, good, illegal, bad, after)
    thought = Annotation(((good, 0.5), (bad, 0.3), *((move, 0.1) for move in ids("3f", "4f"))), 1.0)
    replay = Replay(
        Game.from_code(START),
        actions,
        None,
        rewards=(0, 0, 0, -1, 0, 0),
        settings={"allow_undo": True},
        agent="x",
        annotations=(thought, None, thought, None, thought, None),
    )
    return replay, diagnose(replay.start, replay.actions)


def data(page: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(page.split('id="data">')[1].split("</script>")[0])
    return found


# -- without a browser ------------------------------------------------------------------------------------------


def test_a_page_holds_what_a_plain_loop_of_the_solver_finds() -> None:
    for replay in (lost(), lost("MS-C4-11", 3), won(), thrown_away()[0]):
        (episode,) = data(replay.to_html(diagnosis=diagnose(replay.start, replay.actions)))
        proof = episode["proof"]
        games = [replay.start, *(step.game.copy() for step in replay.steps())]
        winnable = [can_be_won(game) for game in games]
        assert proof["positions"] == "".join("lw"[one] for one in winnable)
        for i, (step, game) in enumerate(zip(replay.steps(), games, strict=False)):
            if step.error or step.action == UNDO or not winnable[i]:
                assert proof["moves"][i] is None
                continue
            split: tuple[list[str], list[str], list[str]] = ([], [], [])
            for move in game.legal_moves():
                after = game.copy()
                after.push(move)
                split[not can_be_won(after)].append(game.notation(move))
            assert proof["moves"][i] == list(split)
        fatal = max((i for i in range(1, len(games)) if winnable[i - 1] and not winnable[i]), default=None)
        assert proof["lost"] == (None if winnable[-1] else fatal)
        assert episode["solvable"] == winnable[0]


def test_the_win_that_was_missed_is_on_the_page() -> None:
    replay, diagnosis = thrown_away()
    (episode,) = data(replay.to_html(diagnosis=diagnosis))
    lost_at = diagnosis.losing_move
    assert lost_at is not None
    game = lost_at.before.copy()
    for text, _ in episode["proof"]["win"]["steps"]:
        game.push(game.parse_move(text))
    assert game.is_won
    assert episode["proof"]["win"]["outcome"] == "won"


def test_a_limit_leaves_open_what_it_did_not_decide() -> None:
    replay = replay_of(Game.from_code(START), ids("2f", "1f"))
    proof = replay.to_episode(diagnosis=diagnose(replay.start, replay.actions, node_limit=1))["proof"]
    assert set(proof["positions"]) == {"u"}
    assert proof["moves"][0][:2] == [[], []]
    assert (proof["lost"], proof["win"]) == (None, None)
    assert "not decided within the limit" in proof["said"]


def test_a_long_diagnosed_game_stays_small() -> None:
    shuttle = (733, UNDO) * 250
    replay = Replay(Game.from_code("MS-C4-1"), shuttle, "truncated", (0,) * 500, {"allow_undo": True})
    assert len(replay.to_html(diagnosis=diagnose(replay.start, shuttle)).encode()) < 200_000


def test_the_diagnosis_of_another_game_is_refused() -> None:
    replay, diagnosis = thrown_away()
    shorter = replay_of(replay.start, ids("2f"))
    other = replay_of(Game.from_code(START), ids("2f", "4f"))
    elsewhere = replay_of(Game.from_code("MS-C4-1"), ids("6f"))
    with pytest.raises(BoulangerError, match="of a game of 6 steps, and this one has 1"):
        shorter.to_html(diagnosis=diagnosis)
    with pytest.raises(BoulangerError, match="step 2 is 1f there"):
        other.to_html(diagnosis=diagnose(other.start, ids("2f", "1f")))
    with pytest.raises(BoulangerError, match="another board"):
        elsewhere.to_html(diagnosis=diagnose(Game.from_code(START), ids("6f")))


# -- in a browser -----------------------------------------------------------------------------------------------


@pytest.fixture
def path(page: browser.Page, tmp_path: Path) -> Path:
    """A page of four games: thrown away, won, lost from the start, and one that is not diagnosed."""
    hopeless = replay_of(Game.from_code("MS-C2-1"), [Game.from_code("MS-C2-1").legal_moves()[0].id])
    games = [thrown_away()[0], won(), hopeless]
    episodes = [game.to_episode(diagnosis=diagnose(game.start, game.actions)) for game in games]
    found = tmp_path / "games.html"
    found.write_text(render_html([*episodes, lost().to_episode()]), encoding="utf-8")
    page.look()
    page.open(found)
    page.problems.clear()
    return found


SHOWN = """(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
  return {
    proving: !document.querySelector("#proving").hidden,
    standing: texts("#proof .standing")[0] ?? "",
    keep: texts("#proof dd.w .move"), lose: texts("#proof dd.l .move"), played: texts("#proof .played"),
    signs: texts("#thought .sign"),
    band: [...document.querySelectorAll("#band rect")].map((node) =>
      [node.getAttribute("class"), Number(node.getAttribute("x")), Number(node.getAttribute("width"))]),
    pins: texts("#band button").length,
    verdict: document.querySelector("#verdict").textContent,
    fatal: !document.querySelector("#fatal").hidden, leave: !document.querySelector("#leave").hidden,
    mistakes: texts("#moves .mistake"), hopeless: texts("#moves .hopeless"),
    hash: location.hash,
  };
})()"""


def test_the_moves_are_split_next_to_what_the_agent_thought(page: browser.Page, path: Path) -> None:
    replay, diagnosis = thrown_away()
    by_step = {decision.step: decision for decision in diagnosis.decisions}
    for step in range(len(replay.actions) + 1):
        page.open(path, f"#1/{step}")
        shown = page.run(SHOWN)
        assert shown["proving"]
        assert ("can be won" in shown["standing"]) == bool(diagnosis.positions[step])
        decision = by_step.get(step + 1)
        if decision is None or not decision.winnable:
            assert shown["keep"] == shown["lose"] == []
            continue
        for name, moves in (("keep", decision.winning), ("lose", decision.losing)):
            assert shown[name] == [decision.before.notation(move) for move in moves]
        assert shown["played"] == [decision.text]
        thought = replay.annotations[step]
        if thought is not None:
            wins = {move.id: True for move in decision.winning} | {move.id: False for move in decision.losing}
            signs = {True: "✓", False: "✕", None: ""}
            assert shown["signs"] == [signs[wins.get(action)] for action, _ in thought.choices]
    assert page.problems == []


def test_the_band_the_marks_and_the_way_to_the_losing_move(page: browser.Page, path: Path) -> None:
    page.open(path, "#1/0")
    shown = page.run(SHOWN)
    assert shown["band"] == [["l", 0, 1], ["w", 1, 3], ["l", 4, 2]]
    assert shown["pins"] == 2
    assert len(shown["mistakes"]) == 2
    assert len(shown["hopeless"]) == 1
    assert shown["verdict"].startswith("Lost by step 5, 1b: ")
    assert shown["fatal"]
    page.click("#fatal")
    assert page.run(SHOWN)["hash"] == "#1/4"
    assert "1b lost the game." in page.run("document.querySelector('#proof').textContent")
    page.key("Home")
    page.key("l")
    assert page.run(SHOWN)["hash"] == "#1/4"
    page.click("#band button")
    assert page.run(SHOWN)["hash"] == "#1/0"
    assert "was taken back" in page.run("document.querySelector('#proof').textContent")
    # The band lies under the way of the slider's thumb, and a click on it goes there.
    band, slider = (
        page.run(f"document.querySelector('{name}').getBoundingClientRect().toJSON()")
        for name in ("#band svg", "#slider")
    )
    assert band["x"] - slider["x"] == slider["right"] - band["right"] == 8
    page.run(
        "document.querySelector('#band svg').dispatchEvent(new PointerEvent('pointerdown', "
        f"{{clientX: {band['x'] + band['width'] * 2 / 6}}}))"
    )
    assert page.run(SHOWN)["hash"] == "#1/2"
    assert page.problems == []


def test_the_missed_win_can_be_watched(page: browser.Page, path: Path) -> None:
    _, diagnosis = thrown_away()
    assert diagnosis.missed_win is not None
    steps = len(diagnosis.missed_win.moves)
    page.open(path, "#1/4")
    page.click("#watch")
    shown = page.run(SHOWN)
    assert (shown["verdict"], shown["leave"], shown["hash"]) == (
        "A win from before step 5 of the game.",
        True,
        "#5/0",
    )
    assert not shown["proving"]
    page.key("End")
    assert page.run("document.querySelector('#status').textContent").endswith("won")
    assert page.run("Number(document.querySelector('#slider').max)") == steps
    # Its address leads there, too.
    page.open(path, f"#5/{steps}")
    assert not page.run("document.querySelector('.won').hidden")
    page.click("#leave")
    assert page.run(SHOWN)["hash"] == "#1/4"
    # The list to choose from has the games only.
    assert page.run("document.querySelectorAll('#games option').length") == 4
    assert page.run("document.querySelector('#games').value") == "0"
    assert page.problems == []


def test_games_that_no_move_lost(page: browser.Page, path: Path) -> None:
    page.open(path, "#2/0")
    shown = page.run(SHOWN)
    assert shown["verdict"].startswith("Won; at ")
    assert (shown["fatal"], shown["pins"], shown["mistakes"]) == (False, 0, [])
    assert [kind for kind, *_ in shown["band"]] == ["w"]
    page.key("End")
    assert page.run(SHOWN)["standing"] == "✓ In the end: won"
    page.open(path, "#3/0")
    shown = page.run(SHOWN)
    assert shown["verdict"].startswith("It could not be won")
    assert shown["standing"] == "✕ Before step 1: lost"
    assert [kind for kind, *_ in shown["band"]] == ["l"]
    assert not shown["fatal"]


def test_a_game_that_is_not_diagnosed_has_none_of_it(page: browser.Page, path: Path) -> None:
    page.open(path, "#4/3")
    shown = page.run(SHOWN)
    assert (shown["proving"], shown["fatal"], shown["leave"], shown["signs"]) == (False, False, False, [])
    assert (shown["band"], shown["pins"], shown["mistakes"], shown["hopeless"]) == ([], 0, [], [])
    assert page.run("document.querySelector('#band').hidden")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740)])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_screen_and_can_be_read(
    page: browser.Page, path: Path, width: int, height: int, dark: bool
) -> None:
    page.look(width, height, dark=dark)
    page.open(path, "#1/4")
    assert page.run("document.documentElement.scrollWidth") == width
    assert page.run("document.querySelector('.controls').getBoundingClientRect().bottom") <= height
    for chip in ("#proof .w .move", "#proof .l .move", "#proof .l .played", "#proof p.l", "#fatal", "#watch"):
        assert contrast(page, chip) >= 4.5, chip


def contrast(page: browser.Page, selector: str) -> float:
    """Contrast of an element's text with what lies behind it, as the Web Content Accessibility Guidelines count it."""
    colours = page.run(
        f"""(() => {{
  const seen = (text) => text.match(/[\\d.]+/g).map(Number);
  let node = document.querySelector('{selector}');
  const text = seen(getComputedStyle(node).color), layers = [];
  for (; node; node = node.parentElement) layers.push(seen(getComputedStyle(node).backgroundColor));
  let under = [255, 255, 255];
  for (const [r, g, b, a = 1] of layers.reverse()) under = [r, g, b].map((x, i) => a * x + (1 - a) * under[i]);
  return [text.slice(0, 3), under];
}})()"""
    )

    def luminance(colour: list[float]) -> float:
        parts = [x / 255 for x in colour]
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_it_can_be_used_without_seeing_it(page: browser.Page, path: Path) -> None:
    page.open(path, "#1/4")
    label = page.run("document.querySelector('#band svg').getAttribute('aria-label')")
    assert label == "The win: step 1 lost, steps 2 to 4 can be won, steps 5 to 6 lost"
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    controls = [
        node for node in nodes if node.get("role", {}).get("value") in ("button", "slider", "combobox")
    ]
    assert all(node["name"]["value"] for node in controls)
