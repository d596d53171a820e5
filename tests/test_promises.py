"""Small promises that are easily broken: what is given back, what is refused, and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded

import boulanger_env
from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game, IllegalMoveError, Move
from boulanger_env.benchmark import Results, evaluate
from boulanger_env.deals import as_deal_set, load
from boulanger_env.wrappers import CardActions


def test_a_spec_with_a_deal_set_goes_through_json() -> None:
    env = gym.make("Boulanger-C4-v0", deals=load("c4-test-100"), deal_order="sequential")
    assert env.spec is not None
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    assert again.reset()[1]["code"] == env.reset()[1]["code"] == "BK1-C4-TSTAAAA"


@pytest.mark.parametrize("deals", [{"code": "MS-C4-1"}, {"MS-C4-1", "MS-C4-2"}, 7])
def test_what_has_no_order_is_no_set_of_deals(deals: object) -> None:
    with pytest.raises(BoulangerError):
        as_deal_set(deals)  # type: ignore[arg-type]


def test_there_is_nothing_to_see_before_the_first_reset() -> None:
    single, batch = BoulangerEnv(), BoulangerVectorEnv(2)
    for look in (
        single.action_masks,
        lambda: single.game,
        CardActions(BoulangerEnv()).action_masks,
        batch.action_masks,
        lambda: batch.game(0),
    ):
        with pytest.raises(ResetNeeded, match="yet"):
            look()


@pytest.mark.parametrize("i", [-1, 2])
def test_the_games_of_a_batch_are_numbered(i: int) -> None:
    batch = BoulangerVectorEnv(2)
    batch.reset(seed=0)
    with pytest.raises(BoulangerError, match="0 to 1"):
        batch.game(i)


@pytest.mark.parametrize("seed", [1.5, "ab", [1.5, 2], {1, 2}, [1], [-1, 2]])
def test_seeds_of_a_batch_are_checked(seed: object) -> None:
    with pytest.raises(BoulangerError, match="seed"):
        BoulangerVectorEnv(2).reset(seed=seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("codes", [{"a": 1, "b": 2}, "MS-C4-1", 7, ["MS-C4-1"]])
def test_codes_of_a_batch_are_checked(codes: object) -> None:
    with pytest.raises(BoulangerError, match="one code per sub-environment"):
        BoulangerVectorEnv(2).reset(options={"codes": codes})


@pytest.mark.parametrize("text", ["6c", "6d", "7d"])
def test_a_cell_that_the_game_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(IllegalMoveError, match="there is no cell"):
        Game.from_code("MS-C2-617").parse_move(text)
    assert Game.from_code("MS-C4-617").parse_move(text).destination == 8


@pytest.mark.parametrize("move", [3, "12", None, (1,), (0, 1, 2, 3)])
def test_what_is_no_move_is_refused_with_advice(move: object) -> None:
    game = Game.from_code("MS-C4-1")
    for play in (game.push, game.is_legal, game.notation):
        with pytest.raises(IllegalMoveError, match=r"Move\.from_id"):
            play(move)  # type: ignore[arg-type]
    assert game == Game.from_code("MS-C4-1")


def test_a_tuple_will_do_for_a_move() -> None:
    game = Game.from_code("MS-C4-1")
    game.push((5, 8, 1))  # type: ignore[arg-type]
    assert game.last_move == Move(5, 8)


@pytest.mark.parametrize("source", [12, -1, "a", 1.0])
def test_a_tap_on_nothing(source: object) -> None:
    game = Game.from_code("MS-C4-1")
    for tap in (game.tap, game.double_tap):
        with pytest.raises(IllegalMoveError, match="no source"):
            tap(source)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_cells", [4.0, True, np.array([4, 2]), "4", 3])
def test_numbers_of_cells_are_whole(n_cells: object) -> None:
    for make in (
        lambda: BoulangerEnv(n_cells=n_cells),  # type: ignore[arg-type]
        lambda: Game.from_text("", n_cells),  # type: ignore[arg-type]
        lambda: Game.from_deck(range(1, 53), n_cells),  # type: ignore[arg-type]
    ):
        with pytest.raises(BoulangerError, match="4, 2 or 1 cells"):
            make()


@pytest.mark.parametrize("keyword", ["observation", "illegal_action", "deal_order", "render_mode", "prune"])
def test_arrays_are_no_keywords(keyword: str) -> None:
    with pytest.raises(BoulangerError, match=keyword):
        BoulangerEnv(**{keyword: np.array(["cards", "features"])})


def test_true_is_no_action() -> None:
    env = BoulangerEnv()
    env.reset(seed=0)
    for action in (True, np.True_):
        with pytest.raises(IllegalMoveError, match="not an action"):
            env.step(action)


def test_a_board_may_begin_with_a_byte_order_mark() -> None:
    game = Game.from_code("MS-C4-1")
    assert Game.from_text("\ufeff" + str(game)) == game


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
    with pytest.raises(BoulangerError, match="no game ends so"):
        Results.load(path)


def test_a_wrong_option_for_the_vec_env_counts_once() -> None:
    sb3 = pytest.importorskip("boulanger_env.sb3")
    env = sb3.BoulangerVecEnv(2)
    env.set_options({"x": 1})
    with pytest.raises(BoulangerError, match="'x'"):
        env.reset()
    env.reset()


@pytest.mark.parametrize(
    "arguments", [["deal"], ["deal", "--bad"], ["nosuch"], ["train", "--timesteps", "abc"]]
)
def test_usage_errors_are_one_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from boulanger_env.cli import main

    monkeypatch.setattr("sys.argv", ["boulanger", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Error: ")
    assert lines[0].endswith("--help)")


@pytest.mark.parametrize(
    ("arguments", "code"), [(["deal", "MS-C4-1"], 0), (["deal", "MS-C4-0"], 1), (["--help"], 0)]
)
def test_the_command_tells_how_it_ended(
    arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from boulanger_env.cli import main

    monkeypatch.setattr("sys.argv", ["boulanger", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or 0) == code
    assert boulanger_env.__version__
