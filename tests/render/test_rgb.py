"""Pictures of the table: what they show, that redrawing parts gives the same, and what is rejected."""

from __future__ import annotations

import copy
import pickle
import sys
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support import drawn_tables as tables

pytest.importorskip("PIL")

from PIL import Image

from boulanger_env import BoulangerEnv, BoulangerError, BoulangerVectorEnv, Game, Move
from boulanger_env.render import TablePainter, render_rgb
from boulanger_env.render.cards import face
from boulanger_env.render.last_move import last_move_of
from boulanger_env.render.layout import DEFAULT_SIZE, Layout, Rect, layout_of
from boulanger_env.render.marks import ACCENT
from boulanger_env.render.rgb import BAR, Held
from boulanger_env.render.tiles import TilePainter, grid

SIZES = [(960, 640), (480, 320), (1920, 1280), (240, 160), (400, 800), (1001, 333)]
SMALL = (480, 320)


def walk(code: str, seed: int, undo: float = 0.2) -> list[Game]:
    """Positions of random play, with moves taken back now and then."""
    game, random = Game.from_code(code), Random(seed)
    games = [game.copy()]
    while game.outcome is None and len(games) < 60:
        if game.moves and random.random() < undo:
            game.undo()
        else:
            game.push(random.choice(game.legal_moves()))
        games.append(game.copy())
    return games


def marked(picture: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Pixels about as yellow as the marks of the last move; gold on court cards is darker."""
    apart = np.abs(picture.astype(np.int16) - np.array(ACCENT)).max(axis=-1)
    return apart < 12


# -- the picture ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_shape_and_type(size: tuple[int, int]) -> None:
    for game in tables.positions().values():
        picture = render_rgb(game, size)
        assert picture.shape == (size[1], size[0], 3)
        assert picture.dtype == np.uint8
        assert picture.flags.c_contiguous
        assert np.array_equal(picture, render_rgb(game, size))


@pytest.mark.parametrize("name", tables.positions())
def test_it_looks_as_it_did_when_it_was_looked_at(name: str) -> None:
    picture = render_rgb(tables.positions()[name], tables.SIZE).astype(np.int16)
    apart = np.abs(picture - tables.read_picture(name)).max(axis=-1)
    # Pillow 10.1 to 13 draw the same to the bit; a later one may round edges a little differently. A pip has 50 pixels.
    assert apart.mean() < 0.2, "look at the new pictures: python tests/tables.py"
    assert (apart > 64).sum() < 30


def test_the_game_stays_as_it_is() -> None:
    game = tables.solved_game(4, 43)
    before = game.copy()
    render_rgb(game, SMALL)
    assert game == before
    assert (game.score, game.moves, game.last_move) == (before.score, before.moves, before.last_move)


def test_every_card_has_its_own_face() -> None:
    for width in (21, 42, 84, 168):
        faces = [face(card, width, round(width * 1.38)).tobytes() for card in range(1, 53)]
        assert len(set(faces)) == 52


def pips_and_index(card: int) -> tuple[int, int, NDArray[np.float64]]:
    """Spots in the middle of a card's face, spots of the index in its corner, and the ink's colour."""
    ndimage = pytest.importorskip("scipy.ndimage")
    image = face(card, 252, 348)
    paper = Image.new("RGBA", image.size, (252, 251, 247, 255))
    paper.alpha_composite(image)
    pixels = np.asarray(paper.convert("RGB")).astype(np.float64)
    inside = pixels[8:-8, 8:-8]
    ink = inside.min(axis=-1) < 140
    corner = ink.copy()
    corner[62:], corner[:, 130:] = False, False
    middle = ink.copy()
    middle[:62, :130], middle[-62:, -130:] = False, False
    spots = ndimage.label(middle)[1], ndimage.label(corner)[1]
    return *spots, inside[ink].mean(axis=0)


@pytest.mark.parametrize("suit", range(4))
def test_number_cards_have_as_many_pips_as_they_say(suit: int) -> None:
    for rank in range(1, 11):
        pips, index, colour = pips_and_index(suit * 13 + rank)
        assert pips == rank
        # The rank and the suit; the ten has two digits.
        assert index == 2 + (rank == 10)
        assert (colour[0] > 2 * colour[2]) == (suit in (1, 2))


def test_cards_are_where_the_game_has_them() -> None:
    """Each card that is not covered lies on the picture exactly as it does on any other picture."""
    size = (960, 640)
    layout = layout_of(size)
    seen: dict[int, bytes] = {}
    for game in (game for seed in range(3) for game in walk(f"MS-C4-{617 + seed}", seed, undo=0)):
        if game.outcome or game.last_move is None:
            continue
        last = last_move_of(game)
        assert last is not None
        picture = render_rgb(game, size)
        shown = [
            (column[-1], layout.columns[i]._replace(y=layout.card_top(len(column), len(column) - 1)))
            for i, column in enumerate(game.columns)
            if column and i != last.to_column and i != last.from_column
        ]
        shown += [(card, layout.cells[i]) for i, card in enumerate(game.cells) if card and i != last.to_cell]
        for card, rect in shown:
            inner = Rect(rect.x + 8, rect.y + 8, rect.width - 16, rect.height - 16)
            pixels = picture[inner.slices].tobytes()
            assert seen.setdefault(card, pixels) == pixels
    assert len(seen) > 12
    assert len(set(seen.values())) == len(seen)


def test_a_column_of_19_cards_fits_and_shows_them_all() -> None:
    game = tables.long_column()
    assert len(game.columns[0]) == 19
    for size in ((960, 640), (480, 320), (1920, 1280)):
        layout = layout_of(size)
        tops = [layout.card_top(19, place) for place in range(19)]
        assert tops[-1] + layout.card_height < size[1]
        # The index in the corner is 18 % of a card's width high, below a margin of 4.5 %.
        assert min(b - a for a, b in pairwise(tops)) >= 0.19 * layout.card_width
        picture = render_rgb(game, size)
        rows = [
            picture[top : top + layout.card_width // 6, layout.columns[0].x :][:, : layout.card_width // 2]
            for top in tops
        ]
        assert len({row.tobytes() for row in rows}) == 19
    # An empty place looks the same below it and in a column of one card.
    assert layout.fan(1) == layout.fan(7) > layout.fan(19)


def test_empty_foundations_show_their_suits_and_full_ones_their_kings() -> None:
    layout = layout_of(DEFAULT_SIZE)
    start, won = (render_rgb(tables.positions()[name]) for name in ("start", "won"))
    for picture in (start, won):
        assert len({picture[home.slices].tobytes() for home in layout.homes}) == 4
    # The two cells that a game with two has not are bare table.
    third = start[layout.cells[2].slices]
    assert third.astype(int).std(axis=(0, 1)).max() < 3


# -- the last move ----------------------------------------------------------------------------------------------


def card_rects(layout: Layout, before: Game, move: Move) -> list[Rect]:
    """Where the cards of a move lay, and where they come to lie, by the rules of moving alone."""
    source, destination, size = move
    after = before.copy()
    after.push(move)
    rects = []
    if source < 8:
        count = len(after.columns[source])
        top = min(layout.card_top(count, count), layout.height - layout.card_height)
        rects.append(layout.columns[source]._replace(y=top))
    else:
        rects.append(layout.cells[source - 8])
    if destination < 8:
        count = len(after.columns[destination])
        top = layout.card_top(count, count - size)
        bottom = layout.card_top(count, count - 1) + layout.card_height
        rects.append(layout.columns[destination]._replace(y=top, height=bottom - top))
    elif destination == 8:
        rects.append(layout.cells[before.cells.index(0)])
    else:
        card = before.columns[source][-1] if source < 8 else before.cells[source - 8]
        rects.append(layout.homes[(card - 1) // 13])
    return rects


def test_the_last_move_is_marked_and_nothing_else() -> None:
    size = (960, 640)
    layout = layout_of(size)
    game = Game.from_code(tables.solved_game(4).code or "")
    assert not marked(render_rgb(game, size))[layout.bar.height :].any()
    kinds = set()
    solution = next(g for g in tables.peer_games() if g["code"] == game.code)
    for triple in solution["moves"]:
        before, move = game.copy(), Move(*triple)
        game.push(move)
        if game.outcome:
            break
        source, target = card_rects(layout, before, move)
        shown = marked(render_rgb(game, size))
        shown[: layout.bar.height] = False
        around = np.zeros_like(shown)
        for rect, inset in ((target, 0), (source, 0)):
            x, y = rect.x - 8 + inset, rect.y - 8
            around[max(y, 0) : rect.y + rect.height + 8, x : rect.x + rect.width + 8] = True
        assert not shown[~around].any()
        # A line around the target, on all four sides.
        edge = shown[target.y - 4 : target.y + target.height + 4, target.x - 4 : target.x + target.width + 4]
        assert edge[:4].any(axis=0).mean() > 0.8
        assert edge[-4:].any(axis=0).mean() > 0.8
        assert edge[:, :4].any(axis=1).mean() > 0.8
        assert edge[:, -4:].any(axis=1).mean() > 0.8
        kinds.add((move.source >= 8, min(move.destination, 8) + (move.destination == 9), move.size > 1))
        # And a fainter one where the cards came from.
        plain = game.copy()
        plain._counters[2] = 0  # no history: no last move
        at = Rect(source.x - 4, source.y + source.height - 20, source.width + 8, 20).slices
        assert not np.array_equal(render_rgb(game, size)[at], render_rgb(plain, size)[at])
    assert len(kinds) > 5


def test_an_undo_takes_its_mark_back() -> None:
    game = Game.from_code("MS-C4-1")
    fresh = render_rgb(game, SMALL)
    game.push(game.parse_move("6a"))
    assert not np.array_equal(render_rgb(game, SMALL), fresh)
    game.undo()
    assert np.array_equal(render_rgb(game, SMALL), fresh)


def test_the_outcome_stands_on_the_table() -> None:
    game = tables.solved_game(4)
    won = render_rgb(game, SMALL)
    game.undo()
    before = render_rgb(game, SMALL)
    middle = slice(180, 260), slice(160, 320)
    assert (won[middle] != before[middle]).any(axis=-1).mean() > 0.2


# -- redrawn only where something changed ----------------------------------------------------------------------


def test_a_painter_draws_what_a_new_one_would() -> None:
    painter = TablePainter(SMALL)
    for code, seed in (("MS-C4-1", 1), ("BK1-C1-7777777", 2), ("MS-C2-617", 3), ("BK1-C4-AAAAA24", 4)):
        for game in walk(code, seed):
            assert np.array_equal(painter.paint(game), render_rgb(game, SMALL))
    for game in tables.positions().values():
        assert np.array_equal(painter.paint(game), render_rgb(game, SMALL))


def test_a_painter_takes_games_with_more_and_fewer_cells() -> None:
    painter = TablePainter(SMALL)
    for n_cells in (4, 1, 2, 4):
        game = Game.from_code(f"MS-C{n_cells}-617")
        for text in ("78", "7a"):
            game.push(game.parse_move(text))
        assert np.array_equal(painter.paint(game), render_rgb(game, SMALL))


def test_held_cards_leave_no_trace() -> None:
    painter, game = TablePainter(SMALL), tables.solved_game(4, 43)
    plain = painter.paint(game)
    column = max(range(8), key=lambda i: len(game.columns[i]))
    for held in (Held(column, 3, 100, 100), Held(8, 1, 470, 310), Held(column, 1, -30, -30)):
        lifted = painter.paint(game, held)
        assert not np.array_equal(lifted, plain)
        assert np.array_equal(lifted, TablePainter(SMALL).paint(game, held))
        assert np.array_equal(painter.paint(game), plain)


def test_pictures_are_the_callers_own() -> None:
    painter, game = TablePainter(SMALL), Game.from_code("MS-C4-1")
    first = painter.paint(game)
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(painter.paint(game), kept)
    assert np.array_equal(copy.deepcopy(painter).paint(game), kept)
    assert np.array_equal(pickle.loads(pickle.dumps(painter)).paint(game), kept)


# -- where things are -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_areas_share_no_pixel_and_stay_inside(size: tuple[int, int]) -> None:
    layout = layout_of(size)
    covered = np.zeros((size[1], size[0]), np.int8)
    for slot in (*layout.columns, *layout.cells, *layout.homes):
        area = layout.area(slot)
        assert area.x >= 0
        assert area.y >= 0
        assert area.x + area.width <= size[0]
        assert area.y + area.height <= size[1]
        covered[area.slices] += 1
    covered[layout.bar.slices] += 1
    assert covered.max() == 1


@pytest.mark.parametrize("size", SIZES)
def test_the_mouse_finds_what_is_drawn(size: tuple[int, int]) -> None:
    layout = layout_of(size)
    for game in (tables.solved_game(4, 43), tables.long_column()):
        for i, column in enumerate(game.columns):
            x = layout.columns[i].x + layout.card_width // 2
            for place in range(len(column)):
                found = layout.place_at(game, x, layout.card_top(len(column), place))
                assert found == (i, i, len(column) - place)
            below = layout.place_at(game, x, size[1] - 1)
            assert below is not None
            assert below.source == i
        for i, card in enumerate(game.cells):
            assert layout.place_at(game, layout.cells[i].x, layout.cells[i].y) == (8 + i, 8, int(card > 0))
        home = layout.homes[2]
        assert layout.place_at(game, home.x + 1, home.y + 1) == (None, 9, 0)
        assert layout.place_at(game, 1, 1) is None
    one = Game.from_code("BK1-C1-7777777")
    assert layout.place_at(one, layout.cells[1].x, layout.cells[1].y) is None


# -- several games in one picture -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "size", "rows_and_columns"),
    [
        (1, (960, 640), (1, 1)),
        (2, (960, 640), (2, 1)),
        (4, (960, 640), (2, 2)),
        (9, (960, 640), (3, 3)),
        (4096, (960, 640), (3, 3)),
        (4096, (1920, 1280), (6, 6)),
        (5, (240, 160), (1, 1)),
    ],
)
def test_grids(count: int, size: tuple[int, int], rows_and_columns: tuple[int, int]) -> None:
    assert grid(count, size) == rows_and_columns
    assert TilePainter(count, size).shown == min(count, rows_and_columns[0] * rows_and_columns[1])


def test_tiles_are_the_games() -> None:
    games = walk("MS-C4-617", 5)[:4]
    picture = TilePainter(4, (960, 640)).paint(lambda i: (games[i], "illegal" if i == 3 else None))
    assert picture.shape == (640, 960, 3)
    for i, game in enumerate(games):
        tile = picture[i // 2 * 320 : i // 2 * 320 + 319, i % 2 * 480 : i % 2 * 480 + 479]
        expected = render_rgb(game, (480, 320), "illegal" if i == 3 else None)
        assert np.array_equal(tile, expected[:319, :479])


def test_how_an_episode_ended_is_shown() -> None:
    game, painter = Game.from_code("MS-C4-617"), TablePainter(SMALL)
    plain = painter.paint(game)
    pictures = {
        outcome: painter.paint(game, outcome=outcome) for outcome in ("illegal", "truncated", "stuck")
    }
    assert len({picture.tobytes() for picture in (plain, *pictures.values())}) == 4
    for picture in pictures.values():
        changed = np.argwhere((picture != plain).any(-1))
        assert changed[:, 0].min() > 200
    assert np.array_equal(painter.paint(game), plain)
    assert np.array_equal(
        render_rgb(tables.stuck_game(), SMALL), render_rgb(tables.stuck_game(), SMALL, "stuck")
    )


@pytest.mark.parametrize("size", [(240, 160), (320, 213), (1000, 200), (300, 900)])
def test_small_tables_have_room_for_their_names(size: tuple[int, int]) -> None:
    """No letter lies across the edge of the bar or of a card's place."""
    layout = layout_of(size)
    picture = render_rgb(Game.from_code("MS-C4-617"), size).astype(int)
    bar = picture[layout.bar.height - 1, layout.columns[0].x :]
    assert np.abs(bar - BAR).max() <= 40
    between = picture[layout.bar.height, : layout.columns[7].x + layout.card_width]
    assert between.max() < 140


# -- what is refused --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "size",
    [(960,), 960, "ab", None, (960.0, 640.0), (True, 640), (239, 160), (240, 159), (3841, 640), (-1, 5)],
)
def test_sizes_that_are_none(size: Any) -> None:
    for make in (
        lambda: render_rgb(Game.from_code("MS-C4-1"), size),
        lambda: BoulangerEnv(render_size=size),
        lambda: BoulangerVectorEnv(2, render_size=size),
    ):
        with pytest.raises(BoulangerError, match=r"^render_size=") as error:
            make()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("mode", ["rgb_array", "human"])
def test_without_pillow_the_extra_is_named(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "boulanger_env.render.pillow", raising=False)
    for make in (BoulangerEnv, BoulangerVectorEnv):
        with pytest.raises(ModuleNotFoundError) as error:
            make(render_mode=mode)
        assert str(error.value) == 'pictures need Pillow: pip install "boulanger-env[render]"'
    BoulangerEnv(render_mode="ansi")
