"""Deal sets: their content, their text files, and the built-in ranges."""

from __future__ import annotations

import copy
import os
import pickle
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.paths import DATA

from boulanger_env import (
    BoulangerEnv,
    BoulangerError,
    BoulangerVectorEnv,
    Game,
    deals,
)
from boulanger_env.deals import DealSet, as_deal_set, builtin
from boulanger_env.game.errors import InvalidCodeError
from boulanger_env.solver import solve

bk1_codes = st.builds(
    deals.format_code, st.just("BK1"), st.sampled_from([4, 2, 1]), st.integers(0, 2**35 - 1)
)
microsoft_codes = st.builds(
    deals.format_code, st.just("MS"), st.sampled_from([4, 2, 1]), st.integers(1, 2**33 - 1)
)
code_lists = st.lists(bk1_codes | microsoft_codes, min_size=1, max_size=20)


@pytest.fixture
def small() -> DealSet:
    return DealSet("small", ["BK1-C4-AAAAA24", "MS-C4-617", "BK1-C2-BOULANG"])


# The set itself


def test_codes_are_normalised() -> None:
    deal_set = DealSet("mixed", [" bk1-c4-aaaaa24", "ms-c1-000617\n"])
    assert deal_set.codes == ("BK1-C4-AAAAA24", "MS-C1-617")


def test_behaves_as_a_sequence(small: DealSet) -> None:
    assert len(small) == 3
    assert list(small) == ["BK1-C4-AAAAA24", "MS-C4-617", "BK1-C2-BOULANG"]
    assert small[0] == "BK1-C4-AAAAA24"
    assert small[-1] == "BK1-C2-BOULANG"
    assert "MS-C4-617" in small
    with pytest.raises(IndexError):
        small[3]


@pytest.mark.parametrize(
    ("part", "name", "codes"),
    [
        (slice(1, None), "small[1:3]", ("MS-C4-617", "BK1-C2-BOULANG")),
        (slice(None, -1), "small[0:2]", ("BK1-C4-AAAAA24", "MS-C4-617")),
        (slice(None, None, 2), "small[0:3:2]", ("BK1-C4-AAAAA24", "BK1-C2-BOULANG")),
        (slice(5, 9), "small[3:3]", ()),
    ],
)
def test_slice_is_a_set(small: DealSet, part: slice, name: str, codes: tuple[str, ...]) -> None:
    assert small[part] == DealSet(name, codes)


def test_cannot_be_changed(small: DealSet) -> None:
    with pytest.raises(AttributeError):
        small.codes = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        small[0] = "MS-C4-1"  # type: ignore[index]


def test_equality_and_hash(small: DealSet) -> None:
    same = DealSet("small", [code.lower() for code in small])
    assert same == small
    assert hash(same) == hash(small)
    assert DealSet("other", small) != small
    assert DealSet("small", small.codes[:2]) != small
    other: object = small.codes
    assert small != other


def test_copies_are_equal(small: DealSet) -> None:
    assert small.fingerprint
    for other in (copy.deepcopy(small), pickle.loads(pickle.dumps(small))):
        assert other == small
        assert other.fingerprint == small.fingerprint


def test_fingerprint_follows_codes_and_order_only(small: DealSet) -> None:
    assert small.fingerprint == "fc7a91992ccb198b"  # pinned: published results name sets by it
    assert DealSet("renamed", small).fingerprint == small.fingerprint
    assert small[::-1].fingerprint != small.fingerprint
    assert small[:2].fingerprint != small.fingerprint


def test_repr_is_short() -> None:
    assert repr(deals.load("c4-test-all")).startswith("DealSet('c4-test-all', 1000 deals, fingerprint ")


@pytest.mark.parametrize("name", ["", " ", " x", "x\n", "two\nlines", None, 5])
def test_bad_name(name: object) -> None:
    with pytest.raises(BoulangerError, match="cannot name a deal set"):
        DealSet(name, ["MS-C4-1"])  # type: ignore[arg-type]


def test_bad_code_is_named_by_its_place() -> None:
    with pytest.raises(
        InvalidCodeError, match=r"deal set 'mine', place 1: .*'BK1-C3-AAAAAAA'.*C4 or C2 or C1"
    ):
        DealSet("mine", ["MS-C4-1", "BK1-C3-AAAAAAA"])
    with pytest.raises(InvalidCodeError, match="place 0: 617 is not a game code"):
        DealSet("mine", [617])  # type: ignore[list-item]


def test_one_code_is_not_a_list_of_codes() -> None:
    with pytest.raises(BoulangerError, match=r"\['MS-C4-1'\]"):
        DealSet("mine", "MS-C4-1")


def test_decks_are_those_of_the_codes(small: DealSet) -> None:
    decks, n_cells = small.decks()
    assert decks.shape == (3, 52)
    assert decks.dtype == n_cells.dtype == np.uint8
    for code, deck, cells in zip(small, decks, n_cells, strict=True):
        assert deals.deal_code(code) == (code, cells, tuple(deck))
    empty, none = small[3:].decks()
    assert empty.shape == (0, 52)
    assert none.shape == (0,)


# Built-in sets


SIZES = {"-1000": 1000, "-100": 100, "-easy": 200, "-hard": 200, "microsoft": 32_000, "solvable": None}


@pytest.mark.parametrize("name", deals.set_names())
def test_built_in_set(name: str) -> None:
    deal_set = deals.load(name)
    assert deal_set.name == name
    size = next((size for part, size in SIZES.items() if part in name and part != name), 1000)
    assert len(deal_set) == len(set(deal_set)) == (size or len(deal_set))
    codes = [deals.parse_code(code) for code in deal_set]
    numbers = [code.number for code in codes]
    assert numbers == sorted(numbers)
    assert f"c{codes[0].n_cells}" in name
    assert {(code.scheme, code.n_cells) for code in codes} == {(codes[0].scheme, codes[0].n_cells)}
    if "-all" in name or "microsoft" in name:
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    if "solvable" in name:
        assert not any("-TST" in code or "-VAL" in code for code in deal_set)
        assert len(deal_set) > 4000


@pytest.mark.parametrize("name", deals.set_names())
def test_labels_of_built_in_sets(name: str) -> None:
    deal_set = deals.load(name)
    labels = deal_set.labels
    assert labels is not None
    assert [array.shape for array in labels] == [(len(deal_set),)] * 3
    assert [array.dtype for array in labels] == [np.bool_, np.int16, np.int32]
    assert not labels.length[~labels.solvable].any()
    if "solvable" in name:
        assert labels.solvable.all()
    else:
        assert (labels.length[labels.solvable] >= 52).all()
        assert (labels.nodes > 0).all()
        assert labels.solvable.all() == ("-all" not in name and "microsoft" not in name)


@pytest.mark.parametrize("name", deals.set_names())
def test_labels_are_what_the_solver_says(name: str) -> None:
    """A sample, another one for every set; the script that makes them does the same with all."""
    deal_set = deals.load(name)
    labels = deal_set.labels
    assert labels is not None
    for place in Random(name).sample(range(len(deal_set)), 6):
        game = Game.from_code(deal_set[place])
        solution = solve(game)
        assert (solution.status == "solved") == labels.solvable[place]
        assert labels.nodes[place] in (solution.nodes, 0)
        if labels.length[place] and labels.length[place] < 82:
            assert len(solve(game, quality="shortest").moves) == labels.length[place]


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("c4-validation-100", "BK1-C4-VALAAAA", "BK1-C4-VALAAEQ"),
        ("c4-validation-all", "BK1-C4-VALAAAA", "BK1-C4-VALAA7H"),
        ("c2-test-all", "BK1-C2-TSTAAAA", "BK1-C2-TSTAA7H"),
        ("microsoft-c4-1000", "MS-C4-1", "MS-C4-1000"),
        ("microsoft-c1", "MS-C1-1", "MS-C1-32000"),
    ],
)
def test_built_in_ends(name: str, first: str, last: str) -> None:
    deal_set = deals.load(name)
    assert (deal_set[0], deal_set[-1]) == (first, last)


@pytest.mark.parametrize("n", [4, 2, 1])
def test_solvable_sets_leave_out_just_what_cannot_be_won(n: int) -> None:
    for kind in ("test", "validation"):
        whole, solvable = deals.load(f"c{n}-{kind}-all"), deals.load(f"c{n}-{kind}")
        assert whole.labels is not None
        first = [code for code, wins in zip(whole, whole.labels.solvable, strict=True) if wins]
        assert list(solvable)[: len(first)] == first
        assert deals.load(f"c{n}-{kind}-100") == DealSet(f"c{n}-{kind}-100", solvable.codes[:100])


@pytest.mark.parametrize(("n", "wins"), [(4, 24040), (2, 1424), (1, 68)])
def test_microsoft_labels_have_the_known_counts(n: int, wins: int) -> None:
    labels = deals.load(f"microsoft-c{n}").labels
    assert labels is not None
    assert int(labels.solvable.sum()) == wins
    known = (DATA / f"ms_c{n}_solvable_1-8000.txt").read_text().split()
    assert (np.flatnonzero(labels.solvable[:8000]) + 1).tolist() == [int(x) for x in known if x.isdigit()]


def test_easy_and_hard_deals_are_the_ends_of_a_scale() -> None:
    easy, hard = deals.load("c4-easy").labels, deals.load("c4-hard").labels
    middle = deals.load("c4-validation").labels
    assert easy is not None
    assert hard is not None
    assert middle is not None
    assert easy.length.max() < np.quantile(middle.length, 0.2)
    assert hard.length.min() > np.quantile(middle.length, 0.8)


def test_every_cell_count_has_its_sets() -> None:
    for n in (4, 2, 1):
        wanted = {f"c{n}-validation", f"c{n}-test-all", f"microsoft-c{n}", f"solvable-c{n}", f"c{n}-test-100"}
        assert wanted <= set(deals.set_names())


def test_a_damaged_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (builtin._FOLDER / "c4-easy.txt").read_text()
    (tmp_path / "c4-easy.txt").write_text(text.replace(" 64 ", " 63 "))
    monkeypatch.setattr(builtin, "_FOLDER", tmp_path)
    with pytest.raises(BoulangerError, match="c4-easy is damaged"):
        builtin.read.__wrapped__("c4-easy")


# Your own labels


def test_labels_go_with_slices_and_files(tmp_path: Path) -> None:
    part = deals.load("c4-test-all")[3:9:2]
    assert part.labels is not None
    assert part.labels.length.tolist() == deals.load("c4-test-all").labels.length[3:9:2].tolist()  # type: ignore[union-attr]
    part.save(tmp_path / "part.txt")
    again = deals.load(tmp_path / "part.txt")
    assert again == part
    assert again.labels is not None
    assert all(np.array_equal(a, b) for a, b in zip(again.labels, part.labels, strict=True))
    assert DealSet("bare", part.codes).labels is None
    with pytest.raises(BoulangerError, match="2 codes need 2 labels, not 3"):
        DealSet("two", part.codes[:2], part.labels)


@pytest.mark.parametrize("bad", ["0 1", "83", "x 1", "83 -1", "83 1 2", "+83 1", "99999 1"])
def test_bad_labels_are_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "deals.txt"
    path.write_text(f"MS-C4-1 83 312\nMS-C4-2 {bad}\n")
    with pytest.raises(InvalidCodeError, match=r"line 2: .* is not a label"):
        deals.load(path)


def test_all_codes_have_a_label_or_none(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    path.write_text("MS-C4-1 83 312\nMS-C4-2\n")
    with pytest.raises(BoulangerError, match="2 codes but 1 labels"):
        deals.load(path)


def test_unknown_name_says_what_there_is() -> None:
    with pytest.raises(BoulangerError, match=r"'c9-test'.*c4-validation-100"):
        deals.load("c9-test")
    with pytest.raises(BoulangerError, match="MS-C4-617 is a code, not a deal set"):
        deals.load("MS-C4-617")


# Files


@given(code_lists)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_save_and_load_go_round(tmp_path: Path, codes: list[str]) -> None:
    deal_set = DealSet("my deals: 4 cells # easy", codes)
    path = tmp_path / "deals.txt"
    deal_set.save(path)
    assert deals.load(path) == DealSet.load(str(path)) == deal_set
    assert os.listdir(tmp_path) == ["deals.txt"]


def test_reads_what_people_write(tmp_path: Path) -> None:
    path = tmp_path / "favourites.txt"
    path.write_bytes(
        b"\xef\xbb\xbf# Deals that we like\r\n\r\nbk1-c4-aaaaa24   # the first\r\n  MS-C4-617\r\n# the end\r\nMS-C2-1"
    )
    assert deals.load(path) == DealSet("favourites", ["BK1-C4-AAAAA24", "MS-C4-617", "MS-C2-1"])


@pytest.mark.parametrize("bad", ["BK1-C4-AAAAAA1", "MS-C4-0", "hello", "MS-C4-1 MS-C4-2", "BK1-C4-ÄAAAAAA"])
def test_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "deals.txt"
    path.write_text(f"# three lines down\nMS-C4-1\n\n{bad}\nMS-C4-0\n", encoding="utf-8")
    with pytest.raises(InvalidCodeError) as error:
        deals.load(path)
    assert str(error.value).startswith(f"{path}, line 4: ")
    assert bad.split()[-1] in str(error.value)


def test_file_without_codes(tmp_path: Path) -> None:
    path = tmp_path / "deals.txt"
    path.write_text("# nothing yet\n\n")
    with pytest.raises(InvalidCodeError, match="holds no game codes"):
        deals.load(path)


def test_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(b"PK\x03\x04\xff\xfe\x00")
    with pytest.raises(BoulangerError, match="not a text file"):
        deals.load(path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(BoulangerError, match="no deal set and no file"):
            deals.load(path)


def test_built_in_name_comes_before_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    DealSet("mine", ["MS-C4-1"]).save("c4-test-all")
    assert len(deals.load("c4-test-all")) == 1000
    assert deals.load(Path("c4-test-all")) == DealSet("mine", ["MS-C4-1"])


def test_empty_set_is_not_saved(small: DealSet, tmp_path: Path) -> None:
    with pytest.raises(BoulangerError, match="is empty"):
        small[3:].save(tmp_path / "deals.txt")
    assert os.listdir(tmp_path) == []


def test_failed_save_leaves_the_old_file(
    small: DealSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deals.txt"
    small.save(path)

    def full_disk(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space left"):
        small[:1].save(path)
    assert os.listdir(tmp_path) == ["deals.txt"]
    assert deals.load(path) == small


# What a ``deals`` keyword takes


def test_as_deal_set(small: DealSet, tmp_path: Path) -> None:
    small.save(tmp_path / "deals.txt")
    assert deals.as_deal_set(small) is small
    assert deals.as_deal_set("c4-test-100") == deals.load("c4-test-100")
    assert deals.as_deal_set(tmp_path / "deals.txt") == small
    assert deals.as_deal_set(["ms-c4-1"]).codes == ("MS-C4-1",)
    assert deals.as_deal_set(code for code in small).codes == small.codes


@pytest.mark.parametrize(
    ("given_deals", "message"),
    [
        ([], "is empty"),
        (DealSet("none", []), "'none' is empty"),
        (617, "not 617"),
        (["MS-C4-0"], "place 0: game code 'MS-C4-0'"),
        ("nowhere", "no deal set and no file 'nowhere'"),
    ],
)
def test_as_deal_set_refuses(given_deals: object, message: str) -> None:
    with pytest.raises(BoulangerError, match=message):
        deals.as_deal_set(given_deals)  # type: ignore[arg-type]


@pytest.mark.parametrize("n_cells", [4, 2, 1])
def test_solvable_games_with_as_many_cells_as_the_environment_has(n_cells: int) -> None:
    known = set(deals.load(f"solvable-c{n_cells}"))
    env = BoulangerEnv(n_cells=n_cells, deals="solvable")
    drawn = [env.reset(seed=3 if i == 0 else None)[1]["code"] for i in range(20)]
    assert set(drawn) <= known
    assert len(set(drawn)) > 15
    envs = BoulangerVectorEnv(3, n_cells=n_cells, deals="solvable")
    assert set(envs.reset(seed=3)[1]["code"]) <= known


def test_codes_in_an_array() -> None:
    codes = np.array(["MS-C4-1", "MS-C4-2"])
    env = BoulangerEnv(deals=codes, deal_order="sequential")  # type: ignore[arg-type]
    assert [env.reset()[1]["code"] for _ in range(3)] == ["MS-C4-1", "MS-C4-2", "MS-C4-1"]


@pytest.mark.parametrize("deals", [{"code": "MS-C4-1"}, {"MS-C4-1", "MS-C4-2"}, 7])
def test_what_has_no_order_is_not_a_deal_set(deals: object) -> None:
    with pytest.raises(BoulangerError):
        as_deal_set(deals)  # type: ignore[arg-type]
