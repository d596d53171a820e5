"""Cards: ids 1..52, in suits of 13, and their two-letter names.

``id = suit * 13 + rank`` with the suits spades, hearts, diamonds, clubs (0..3) and the ranks ace = 1 to
king = 13; 0 stands for "no card".
"""

from __future__ import annotations

from .errors import InvalidBoardError

N_SUITS = 4
N_RANKS = 13
N_CARDS = 52

SUITS = "SHDC"
SUIT_SYMBOLS = "♠♥♦♣"
SUIT_NAMES = ("spades", "hearts", "diamonds", "clubs")
RANKS = "A23456789TJQK"

_NAMES = ("", *(rank + suit for suit in SUITS for rank in RANKS))
_IDS = {name: card for card, name in enumerate(_NAMES) if card}


def suit_of(card: int) -> int:
    """Suit 0..3 (spades, hearts, diamonds, clubs) of a card id.

    >>> suit_of(14)
    1
    """
    return (card - 1) // N_RANKS


def rank_of(card: int) -> int:
    """Rank 1..13 (ace to king) of a card id.

    >>> rank_of(52)
    13
    """
    return (card - 1) % N_RANKS + 1


def is_red(card: int) -> bool:
    """Whether a card is a heart or a diamond."""
    return suit_of(card) in (1, 2)


def card_name(card: int) -> str:
    """Two-letter name of a card id, rank first.

    Raises:
        InvalidBoardError: the id is not 1..52.

    >>> card_name(10), card_name(14), card_name(52)
    ('TS', 'AH', 'KC')
    """
    if not 1 <= card <= N_CARDS:
        raise InvalidBoardError(f"{card!r} is not a card id: cards are numbered 1 to 52")
    return _NAMES[card]


def parse_card(text: str) -> int:
    """Card id of a name in any case, the ten as ``T`` or ``10``.

    Raises:
        InvalidBoardError: the text does not name a card.

    >>> parse_card("10s"), parse_card("TS"), parse_card("kc")
    (10, 10, 52)
    """
    name = text.strip().upper()
    if name.startswith("10"):
        name = "T" + name[2:]
    card = _IDS.get(name)
    # Some non-ASCII letters become A-Z in upper case.
    if card is None or not text.isascii():
        raise InvalidBoardError(
            f"{text[:40]!r} is not a card: write a rank of {RANKS} (or 10) and a suit of {SUITS}, such as TD"
        )
    return card
