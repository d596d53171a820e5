"""Game codes and the deals that they name."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracle import BASE32, NAMES, SplitMix64, bk1_deck, code_of, deck_of, microsoft_deck

from boulanger_env import BoulangerError, BoulangerVectorEnv, Game, InvalidCodeError
from boulanger_env.deals import SCHEMES, code_range, deal_code, format_code, parse_code
from boulanger_env.game.bk1 import draw_bk1_number
from boulanger_env.game.codes import CODE_LENGTH, RANDOM
from boulanger_env.game.streams import splitmix64_next, uniform_below

BK1_COLUMNS = {
    (
        "BK1-C4-AAAAAAA",
        0,
    ): "8C 3H 5D 5H 3C 9C 6H / JD AS 2S 8D 4H 7H 4D / 9S JS 3D 8H 2D JC KS / 2C 7S 5S AH 9H 6D TD "
    "/ 2H 9D AD QD 3S KC / QH 8S 6S TC KH 4S / 6C QC 4C QS AC 7D / TS KD TH JH 7C 5C",
    (
        "BK1-C4-AAAAA24",
        860,
    ): "4C 2C AC 9C QS JS TH / 6S 6D 5S 8D TC 7H 3S / 7D 6C 4D 9H JH 9S QH / KH 3D 2S 8H JC TD 8S "
    "/ 2H 5H QC 3C 7C 5D / 4S 2D KC KS 7S AD / KD 4H 9D QD AH 6H / 5C 8C AS 3H TS JD",
    ("BK1-C2-BOULANG", 1564836262): "4H AS JS 5D 7C 3S QS / KC 7S 4D JC 5C TS 9C / QH 8H 8D 3C 2D 2S 8C / "
    "6D 6C 5H 9D 3D JH 4C / JD 8S TD 5S 9H AC / KS KH 3H QC 9S TC / 2C 2H TH AD QD AH / 6H 7D KD 6S 4S 7H",
    ("BK1-C1-7777777", 2**35 - 1): "QH 5D QS 8S 8D TD 9C / KS 7S 4S JD 4H 9H 3C / 7H 5H 9D AS 2S 5S QD / "
    "6C 9S QC 3S KD 5C 2C / KH TS TC 7C 6H JC / 2D AC JH 8C 3D 6D / AD 4C AH TH KC 2H / 4D JS 3H 6S 8H 7D",
}
MICROSOFT_FIRST_COLUMNS = {
    1: "JD KD 2S 4C 3S 6D 6S",
    2**31: "QH 3H 7D 4D TS QD 6D",
    2**32: "TS 3S KC 4H 9H 3H 4D",
    2**33 - 1: "TC 8S 8C 6C 5H 5C 9C",
}
# The edges of the three kinds of Microsoft numbers, and of their 32-bit sums.
MICROSOFT_EDGES = [
    1,
    2,
    617,
    11982,
    32000,
    2**31 - 1,
    2**31,
    2**31 + 1,
    2**32 - 1,
    2**32,
    2**32 + 1,
    2**33 - 2,
    2**33 - 1,
]

numbers = {
    "BK1": st.integers(0, 2**35 - 1),
    "MS": st.one_of(st.integers(1, 32000), st.integers(1, 2**33 - 1), st.sampled_from(MICROSOFT_EDGES)),
}
deals = st.one_of(
    *(st.tuples(st.just(scheme), st.sampled_from([4, 2, 1]), n) for scheme, n in numbers.items())
)


def columns_text(game: Game) -> str:
    return " / ".join(" ".join(NAMES[card] for card in column) for column in game.columns)


def dealt(columns: list[list[int]]) -> list[int]:
    """Columns read row by row."""
    return [column[row] for row in range(7) for column in columns if row < len(column)]


@pytest.mark.parametrize(("code", "number"), BK1_COLUMNS)
def test_bk1_deals(code: str, number: int) -> None:
    game = Game.from_code(code)
    assert columns_text(game) == BK1_COLUMNS[code, number]
    assert game.n_cells == int(code[5])
    assert game.code == code
    assert parse_code(code) == ("BK1", int(code[5]), number)
    assert dealt([list(column) for column in game.columns]) == bk1_deck(number)


@pytest.mark.parametrize("number", MICROSOFT_FIRST_COLUMNS)
def test_microsoft_deals(number: int) -> None:
    for n_cells in (4, 2, 1):
        game = Game.from_code(f"MS-C{n_cells}-{number}")
        assert columns_text(game).split(" / ")[0] == MICROSOFT_FIRST_COLUMNS[number]
        assert (game.n_cells, game.code) == (n_cells, f"MS-C{n_cells}-{number}")


def test_microsoft_deal_1_whole() -> None:
    assert columns_text(Game.from_code("MS-C4-1")) == (
        "JD KD 2S 4C 3S 6D 6S / 2D KC KS 5C TD 8S 9C / 9H 9S 9D TS 4S 8D 2H / JC 5S QD QH TH QS 6H / "
        "5D AD JS 4H 8H 6C / 7H QC AS AC 2C 3D / 7C KH AH 4D JH 8C / 5H 3H 3C 7S 7D TC"
    )


@pytest.mark.parametrize("number", MICROSOFT_EDGES)
def test_microsoft_edges(number: int) -> None:
    assert list(deal_code(f"MS-C4-{number}")[2]) == microsoft_deck(number)


def test_thousands_of_deals() -> None:
    random = Random(5)
    for _ in range(1500):
        for scheme, low, high in (
            ("BK1", 0, 2**35),
            ("MS", 1, 2**31),
            ("MS", 2**31, 2**32),
            ("MS", 2**32, 2**33),
        ):
            code = code_of(scheme, random.choice([4, 2, 1]), random.randrange(low, high))
            canonical, n_cells, deck = deal_code(code)
            assert canonical == code
            assert (list(deck), n_cells) == deck_of(code)


@given(deals)
@example(("BK1", 4, 0))
@example(("BK1", 1, 2**35 - 1))
@example(("MS", 2, 2**33 - 1))
def test_codes_go_round(deal: tuple[str, int, int]) -> None:
    code = format_code(*deal)
    assert code == code_of(*deal)
    assert parse_code(code) == deal
    assert str(parse_code(code)) == code
    for text in (code.lower(), code.title(), f"  {code}\n", f"\t{code.lower()} "):
        assert str(parse_code(text)) == code
    game = Game.from_code(code.lower())
    assert game.code == code
    assert game.n_cells == deal[1]
    assert (game.score, game.moves, game.foundations) == (0, 0, (0, 0, 0, 0))
    assert [len(column) for column in game.columns] == [7, 7, 7, 7, 6, 6, 6, 6]
    assert sorted(dealt([list(column) for column in game.columns])) == list(range(1, 53))


@given(st.text(alphabet=BASE32, min_size=7, max_size=7))
def test_every_seven_symbols_are_a_deal(symbols: str) -> None:
    code = f"BK1-C4-{symbols}"
    assert str(parse_code(code)) == code == format_code("BK1", 4, parse_code(code).number)


# A code, and a word that the message must have: what is wrong, or what would be right.
MALFORMED = {
    "": "empty",
    "   \n": "empty",
    "BK1": "BK1-C4-AAAAA24",
    "BK1-C4": "BK1-C4-AAAAA24",
    "BK1-C4-": "7 symbols",
    "BK1C4AAAAA24": "scheme",
    "BK2-C4-AAAAA24": "scheme",
    "BK-C4-AAAAA24": "scheme",
    "-C4-AAAAA24": "scheme",
    "AAAAA24": "scheme",
    "FC-C4-617": "scheme",
    "617": "scheme",
    "BK1 - C4 - AAAAA24": "scheme",
    "BK1-C3-AAAAA24": "C3",
    "BK1-C0-AAAAA24": "C0",
    "BK1-C-AAAAA24": "cell",
    "BK1-4-AAAAA24": "cell",
    "BK1-C04-AAAAA24": "C04",
    "BK1-C44-AAAAA24": "C44",
    "BK1-D4-AAAAA24": "D4",
    "BK1-AAAAA24-C4": "cell",
    "BK1--AAAAA24": "cell",
    "BK1-C4-AAAAA2": "7 symbols",
    "BK1-C4-AAAAA244": "7 symbols",
    "BK1-C4-AAAAA24-": "7 symbols",
    "BK1-C4-AAAAA24-X": "7 symbols",
    "BK1-C4--AAAAA24": "7 symbols",
    "BK1-C4-AAAA 24": "7 symbols",
    "BK1-C4- AAAAA24": "7 symbols",
    "BK1-C4-AAA=A24": "7 symbols",
    "BK1-C4-AAAAA20": "A-Z and 2-7",
    "BK1-C4-AAAAA21": "A-Z and 2-7",
    "BK1-C4-AAAAA28": "A-Z and 2-7",
    "BK1-C4-AAAAA29": "A-Z and 2-7",
    "BK1-C4-860": "7 symbols",
    "MS-C4-": "number",
    "MS-C4-0": "from 1 to 8589934591",
    "MS-C4-00": "from 1 to 8589934591",
    "MS-C4--1": "from 1 to 8589934591",
    "MS-C4-8589934592": "from 1 to 8589934591",
    "MS-C4-18446744073709551617": "from 1 to 8589934591",
    "MS-C4-" + "9" * 6000: "from 1 to 8589934591",
    "MS-C4-+617": "number",
    "MS-C4-6.17": "number",
    "MS-C4-6e2": "number",
    "MS-C4-6_17": "number",
    "MS-C4-6 17": "number",
    "MS-C4-0x1F": "number",
    "MS-C4-AAAAA24": "number",
    "MS-C3-617": "C3",
    "MS-617": "MS",
    "MS617": "scheme",
    "BK1-C4-AAAAÄ24": "ASCII",
    "BK1-C4-AAAAAı4": "ASCII",  # upper() makes a plain I of it
    "BK1-C4-AAAAAﬁ": "ASCII",  # and FI of this one
    "Mſ-C4-617": "ASCII",  # and S of this one
    "MS-C4-٦١٧": "ASCII",  # int() reads these as 617
    "MS-C4-６１７": "ASCII",
    "MS-C4-6¹": "ASCII",
    "BK1–C4–AAAAA24": "ASCII",
    "BK1-C4-AAAAA24\u00a0": "ASCII",
    "BK1-C4-AAAA\x0024": "7 symbols",
    "BK1-C4-AAAAA\n4": "7 symbols",
}


@pytest.mark.parametrize("read", [Game.from_code, parse_code, deal_code], ids=lambda f: f.__qualname__)
@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: ascii(text)[:24])
def test_malformed_codes(text: str, read: Callable[[str], Any]) -> None:
    with pytest.raises(InvalidCodeError) as caught:
        read(text)
    message = str(caught.value)
    assert MALFORMED[text] in message
    assert "\n" not in message
    assert len(message) < 300
    assert isinstance(caught.value, BoulangerError)
    assert isinstance(caught.value, ValueError)
    if text.strip() and len(text) < 40:
        assert repr(text) in message or ascii(text) in message, "the message shows what was given"


@pytest.mark.parametrize("thing", [None, 617, 6.17, b"MS-C4-617", ["MS-C4-617"], ("BK1", 4, 860)])
def test_what_is_not_text(thing: Any) -> None:
    for read in (Game.from_code, parse_code, deal_code):
        with pytest.raises(InvalidCodeError):
            read(thing)


@given(st.text(max_size=20))
def test_any_text_is_a_code_or_an_error(text: str) -> None:
    try:
        code = parse_code(text)
    except InvalidCodeError:
        return
    assert str(code) == format_code(*code)
    assert text.isascii()
    assert parse_code(str(code)) == code


@given(st.from_regex(r"\A\s?(BK1|MS|bk1|ms|BK2)-?C[0-9]-[A-Z0-9]{0,9}\s?\Z"))
def test_almost_codes_are_codes_or_errors(text: str) -> None:
    try:
        code = parse_code(text)
    except InvalidCodeError:
        return
    scheme, cells, deal = text.strip().upper().split("-")
    assert (code.scheme, f"C{code.n_cells}") == (scheme, cells)
    if scheme == "BK1":
        assert str(code) == text.strip().upper()
        assert set(deal) <= set(BASE32)
    else:
        assert code.number == int(deal)


@pytest.mark.parametrize(
    ("scheme", "n_cells", "number"),
    [
        ("BK1", 4, -1), ("BK1", 4, 2**35), ("BK1", 4, 2**64), ("MS", 4, 0), ("MS", 4, -1), ("MS", 4, 2**33),
        ("MS", 4, 1.5), ("MS", 4, "1"), ("MS", 4, None), ("BK1", 3, 1), ("BK1", 0, 1), ("BK1", "4", 1),
        ("XX", 4, 1), ("ms", 4, 1), ("", 4, 1), (None, 4, 1),
    ],
)  # fmt: skip
def test_no_code_for_what_is_not_a_deal(scheme: Any, n_cells: Any, number: Any) -> None:
    with pytest.raises(InvalidCodeError):
        format_code(scheme, n_cells, number)


def test_numbers_of_numpy_are_numbers() -> None:
    assert format_code("MS", np.int64(2), np.uint64(2**33 - 1)) == "MS-C2-8589934591"


def test_the_ends_of_the_schemes() -> None:
    assert {name: (scheme.first, scheme.last) for name, scheme in SCHEMES.items()} == {
        "BK1": (0, 2**35 - 1),
        "MS": (1, 2**33 - 1),
    }
    assert code_range("MS-C1-8589934590", 2) == ("MS-C1-8589934590", "MS-C1-8589934591")
    assert code_range("bk1-c2-AAAAAA7", 2) == ("BK1-C2-AAAAAA7", "BK1-C2-AAAAABA")
    with pytest.raises(InvalidCodeError):
        code_range("MS-C1-8589934590", 3)


# The generator behind BK1, and its draws. Its outputs from 1234567 are published beside its definition.
KNOWN_OUTPUTS = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


def test_splitmix64_is_the_published_one() -> None:
    plain, state = SplitMix64(1234567), np.uint64(1234567)
    for output in KNOWN_OUTPUTS:
        state, ours = map(np.uint64, splitmix64_next(state))
        assert ours == plain.next() == output
        assert state == plain.state


@given(st.integers(0, 2**64 - 1), st.one_of(st.integers(1, 60), st.integers(1, 2**63), st.just(2**63)))
@example(0, 52)
@example(2**64 - 1, 3)
@example(12345, 2**63)
@example(7, 2**62 + 1)
def test_uniform_draws(state: int, m: int) -> None:
    """Any state, any bound."""
    plain = SplitMix64(state)
    advanced, number = uniform_below(np.uint64(state), np.uint64(m))
    assert int(number) == plain.below(m)
    assert int(advanced) == plain.state


def test_draws_that_are_turned_down() -> None:
    """Below 2**62 + 1 a quarter of the outputs is rejected: their remainders would come up too often."""
    turned_down = 0
    for start in range(400):
        plain = SplitMix64(start)
        expected = plain.below(2**62 + 1)
        advanced, number = uniform_below(np.uint64(start), np.uint64(2**62 + 1))
        assert (int(number), np.uint64(advanced)) == (expected, plain.state)
        turned_down += SplitMix64(start).next() % (2**62 + 1) != expected
    assert 60 < turned_down < 140


def test_random_games_leave_out_the_reserved_codes() -> None:
    """From states whose next output would be a TST or VAL code, and from many others."""
    random, skipped = Random(3), 0
    for _ in range(3000):
        # A state whose first output begins with 7 symbols chosen here: the generator run backwards.
        number = random.randrange(2**35)
        if random.random() < 0.5:
            number = parse_code(f"BK1-C4-{random.choice(['TST', 'VAL'])}{random.choice(BASE32) * 4}").number
        state = state_before(random.randrange(2**29) * 2**35 + number)
        assert SplitMix64(state).next() % 2**35 == number
        plain = SplitMix64(state)
        expected = plain.random_game()
        advanced, drawn = draw_bk1_number(np.uint64(state))
        assert (int(drawn), int(advanced)) == (expected, plain.state)
        assert format_code("BK1", 4, int(drawn))[7:10] not in ("TST", "VAL")
        skipped += expected != number
    assert skipped > 1000


def test_a_bool_is_not_a_number_of_cells() -> None:
    with pytest.raises(InvalidCodeError, match="4, 2 or 1 cells, not True"):
        format_code("BK1", True, 0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_kernels_of_a_scheme_agree_with_its_texts(scheme: str) -> None:
    """Codes written by a kernel are those written in Python, at both ends and wherever a draw leads."""
    row, states = SCHEMES[scheme], Random(7)
    drawn = [int(row.draw(np.uint64(states.randrange(2**64)))[1]) for _ in range(200)]
    assert len(set(drawn)) > 190
    for number in (row.first, row.first + 1, row.first + 10, row.last, *drawn):
        assert row.first <= number <= row.last
        out = np.zeros(CODE_LENGTH, np.uint32)
        row.write(number, out, 2)
        assert "".join(map(chr, out[2:])).rstrip("\0") == row.format(number)
        assert not out[:2].any()
        assert row.parse(row.format(number)) == number
        assert len(format_code(scheme, 4, number)) <= CODE_LENGTH


def test_a_batch_deals_the_random_scheme() -> None:
    for n_cells in (4, 2, 1):
        batch = BoulangerVectorEnv(20, n_cells)
        _, infos = batch.reset(seed=2)
        for i, code in enumerate(infos["code"]):
            assert code.startswith(f"{RANDOM}-C{n_cells}-")
            assert batch.game(i) == Game.from_code(code)


def test_microsoft_draws_are_uniform_over_all_deals() -> None:
    for state in range(50):
        plain = SplitMix64(state)
        advanced, number = SCHEMES["MS"].draw(np.uint64(state))
        assert (int(number), int(advanced)) == (1 + plain.below(2**33 - 1), plain.state)


def state_before(output: int) -> int:
    """The state from which SplitMix64 gives `output` next: each of its steps can be undone."""

    def unshift(z: int, shift: int) -> int:
        x = z
        for _ in range(64 // shift + 1):
            x = z ^ (x >> shift)
        return x

    z = unshift(output, 31)
    z = z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    z = unshift(z, 27)
    z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    z = unshift(z, 30)
    return (z - 0x9E3779B97F4A7C15) % 2**64
