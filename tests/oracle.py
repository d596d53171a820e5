"""A second implementation of the rules, as plain as possible, for the tests to compare with.

It shares no code with the package: lists of card ids, a copy of everything before each move for undo, and legal
moves found by trying every source, size and destination. Nothing here is clever, so that it can be checked
against the rules page by reading.

Cards are 1..52, `suit * 13 + rank`. A move is `(source, destination, size)`: sources 0-7 columns and 8-11 cells,
destinations 0-7 columns, 8 a free cell, 9 the foundation.
"""

from __future__ import annotations

N_ACTIONS = 780
UNDO = 780
UNDO_DEPTH = 100

Triple = tuple[int, int, int]

# ---------------------------------------------------------------------------------------------------------------
# Cards

NAMES = (  # noqa: SIM905
    "-- AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS "
    "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH "
    "AD 2D 3D 4D 5D 6D 7D 8D 9D TD JD QD KD "
    "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC"
).split()
CARD = {name: card for card, name in enumerate(NAMES) if card}
RANK = [0] + [rank for _ in range(4) for rank in range(1, 14)]
SUIT = [-1] + [suit for suit in range(4) for _ in range(13)]


# The one card that a card may lie on: same suit, exactly one rank above. A king lies on none (-1).
PARENT = [-1] + [
    next((up for up in range(1, 53) if SUIT[up] == SUIT[card] and RANK[up] == RANK[card] + 1), -1)
    for card in range(1, 53)
]


# ---------------------------------------------------------------------------------------------------------------
# Deals

WORD = 2**64
BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


class SplitMix64:
    """The generator of the rules page."""

    def __init__(self, state: int) -> None:
        self.state = state % WORD

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
        return z ^ (z >> 31)

    def below(self, m: int) -> int:
        while True:
            output = self.next()
            if output < WORD - WORD % m:
                return output % m

    def random_game(self) -> int:
        """The number of the next random BK1 game: those whose codes start with TST or VAL are passed over."""
        while True:
            number = self.below(2**35)
            if code_of("BK1", 4, number)[7:10] not in ("TST", "VAL"):
                return number


def draw_start(stream: SplitMix64, left: list[int], weights: list[float], share: float) -> int | None:
    """Which of some starts, in these groups, an episode begins at; None for a whole deal."""
    u = (stream.next() >> 11) / 2**53
    if u < share:
        return None
    groups = sorted(set(left))
    total = sum(weights[group] for group in groups)
    reached, chosen = 0.0, groups[0]
    for group in groups:
        reached += weights[group]
        if weights[group]:
            chosen = group
        if u < share + (1 - share) * reached / total:
            break
    members = [i for i, group in enumerate(left) if group == chosen]
    return members[stream.below(len(members))]


def bk1_deck(number: int) -> list[int]:
    """The deck of a BK1 deal, first card dealt first."""
    assert 0 <= number < 2**35
    source = SplitMix64(number)
    deck = list(range(1, 53))
    for i in range(51, 0, -1):
        j = source.below(i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def microsoft_deck(number: int) -> list[int]:
    """The deck of a Microsoft deal, first card dealt first."""
    assert 1 <= number < 2**33
    deck = [CARD[rank + suit] for rank in "A23456789TJQK" for suit in "CDHS"]
    x = number - 2**32 if number >= 2**32 else number
    dealt = []
    for m in range(52, 0, -1):
        x = (214013 * x + 2531011) % 2**32
        if number < 2**31:
            r = (x >> 16) & 0x7FFF
        elif number < 2**32:
            r = (x >> 16) & 0x7FFF | 0x8000
        else:
            r = ((x >> 16) & 0xFFFF) + 1
        j = r % m
        deck[j], deck[m - 1] = deck[m - 1], deck[j]
        dealt.append(deck[m - 1])
    return dealt


def code_of(scheme: str, n_cells: int, number: int) -> str:
    """The code of a deal: `code_of("BK1", 4, 860)` is "BK1-C4-AAAAA24"."""
    if scheme == "MS":
        return f"MS-C{n_cells}-{number}"
    symbols = ""
    for _ in range(7):
        symbols = BASE32[number % 32] + symbols
        number //= 32
    return f"BK1-C{n_cells}-{symbols}"


def deck_of(code: str) -> tuple[list[int], int]:
    """The deck and the number of cells that a well-formed code names."""
    scheme, cells, deal = code.split("-")
    n_cells = {"C4": 4, "C2": 2, "C1": 1}[cells]
    if scheme == "MS":
        return microsoft_deck(int(deal)), n_cells
    assert scheme == "BK1"
    assert len(deal) == 7
    number = 0
    for symbol in deal:
        number = number * 32 + BASE32.index(symbol)
    return bk1_deck(number), n_cells


# ---------------------------------------------------------------------------------------------------------------
# Moves


def id_of(move: Triple) -> int:
    """The action id of a move, by the formulae of the interface page."""
    s, d, k = move
    if s < 8 and d < 8:
        return (s * 7 + d - (1 if d > s else 0)) * 13 + k - 1
    if s < 8:
        return 728 + s if d == 8 else 736 + s
    c = s - 8
    return 744 + 8 * c + d if d < 8 else 776 + c


def every_move() -> list[Triple]:
    """All 780 moves in the order of their ids."""
    moves = [(s, d, k) for s in range(8) for d in range(8) if d != s for k in range(1, 14)]
    moves += [(s, 8, 1) for s in range(8)]
    moves += [(s, 9, 1) for s in range(8)]
    moves += [(c, d, 1) for c in range(8, 12) for d in range(8)]
    moves += [(c, 9, 1) for c in range(8, 12)]
    return moves


MOVES = every_move()
ID = {move: id_of(move) for move in MOVES}


def notation_of(move: Triple, cell: int | None = None) -> str:
    """A move as people write it; `cell` (0-3) is the one a move to a free cell fills, "f" when it is not known."""
    s, d, k = move
    text = "12345678abcd"[s]
    if d == 8:
        return text + ("f" if cell is None else "abcd"[cell])
    text += "h" if d == 9 else str(d + 1)
    return text + (f"v{k:x}" if k > 1 else "")


# ---------------------------------------------------------------------------------------------------------------
# The game


class Oracle:
    """One game. `cells` holds 0 where a cell is empty and has only the cells that the game has."""

    def __init__(self, columns: list[list[int]], cells: list[int], home: list[int]) -> None:
        self.columns = columns
        self.cells = cells
        self.home = home  # the rank reached by each suit
        self.score = 0
        self.moves = 0
        self.past: list[tuple[list[list[int]], list[int], list[int], int, int, Triple]] = []

    @classmethod
    def from_code(cls, code: str) -> Oracle:
        deck, n_cells = deck_of(code)
        columns: list[list[int]] = [[] for _ in range(8)]
        for i, card in enumerate(deck):
            columns[i % 8].append(card)
        return cls(columns, [0] * n_cells, [0, 0, 0, 0])

    def copy(self) -> Oracle:
        other = Oracle([list(column) for column in self.columns], list(self.cells), list(self.home))
        other.score, other.moves, other.past = self.score, self.moves, list(self.past)
        return other

    # -- legal moves

    def run_length(self, column: int) -> int:
        """How many cards at the top of a column form an ordered run."""
        cards = self.columns[column]
        if not cards:
            return 0
        n = 1
        while n < len(cards) and PARENT[cards[-n]] == cards[-n - 1]:
            n += 1
        return n

    def group_limit(self, to_empty: bool) -> int:
        """The largest group that may move, onto an occupied column or to an empty one."""
        free = self.cells.count(0)
        empty = self.columns.count([])
        if to_empty:
            empty -= 1
        return (free + 1) * 2**empty

    def goes_home(self, card: int) -> bool:
        return self.home[SUIT[card]] + 1 == RANK[card]

    def legal(self) -> list[Triple]:
        """Every legal move, ordered by id."""
        moves: list[Triple] = []
        columns, cells = self.columns, self.cells
        tops = [column[-1] if column else 0 for column in columns]
        onto_card = self.group_limit(to_empty=False)
        onto_nothing = self.group_limit(to_empty=True)
        for s in range(8):
            sizes = range(1, self.run_length(s) + 1)
            for d in range(8):
                if d == s:
                    continue
                for k in sizes:
                    if tops[d]:
                        if PARENT[columns[s][-k]] == tops[d] and k <= onto_card:
                            moves.append((s, d, k))
                    elif k <= onto_nothing:
                        moves.append((s, d, k))
        if 0 in cells:
            moves += [(s, 8, 1) for s in range(8) if columns[s]]
        moves += [(s, 9, 1) for s in range(8) if columns[s] and self.goes_home(columns[s][-1])]
        for c, card in enumerate(cells):
            if card:
                moves += [(8 + c, d, 1) for d in range(8) if not tops[d] or PARENT[card] == tops[d]]
        moves += [(8 + c, 9, 1) for c, card in enumerate(cells) if card and self.goes_home(card)]
        return moves

    def pruned(self, legal: list[Triple] | None = None) -> list[Triple]:
        """The legal moves (given, where they are known) without those that lead to an equivalent position."""
        empty = [d for d in range(8) if not self.columns[d]]
        kept = []
        for s, d, k in self.legal() if legal is None else legal:
            if d in empty:
                if d != empty[0]:
                    continue  # any other empty column would do the same
                if s < 8 and k == len(self.columns[s]):
                    continue  # a whole column only changes its place
            kept.append((s, d, k))
        return kept

    def legal_ids(self) -> list[int]:
        return [ID[move] for move in self.legal()]

    # -- playing

    def push(self, move: Triple) -> int:
        """Plays a move that is legal, and says how many points it brought."""
        self.past.append(
            (
                [list(column) for column in self.columns],
                list(self.cells),
                list(self.home),
                self.score,
                self.moves,
                move,
            )
        )
        self.past = self.past[-UNDO_DEPTH:]
        s, d, k = move
        if s < 8:
            group = self.columns[s][-k:]
            del self.columns[s][-k:]
        else:
            group = [self.cells[s - 8]]
            self.cells[s - 8] = 0
        points = 0
        if d < 8:
            self.columns[d] += group
            if s >= 8:
                points = 5
        elif d == 8:
            self.cells[self.cells.index(0)] = group[0]
        else:
            self.home[SUIT[group[0]]] += 1
            points = 10
        self.score += points
        self.moves += 1
        return points

    def send_home(self) -> None:
        """Plays moves home until there is none."""
        while home := [move for move in self.legal() if move[1] == 9]:
            self.push(home[0])

    def undo(self) -> Triple | None:
        """Takes the last move back and returns it; None when nothing can be taken back."""
        if not self.past:
            return None
        self.columns, self.cells, self.home, self.score, self.moves, move = self.past.pop()
        return move

    def top(self, source: int) -> int:
        """The card that a tap on a source touches, 0 when there is none."""
        if source < 8:
            return self.columns[source][-1] if self.columns[source] else 0
        c = source - 8
        return self.cells[c] if c < len(self.cells) else 0

    def tap_move(self, source: int) -> Triple | None:
        """The move that a single tap makes."""
        card = self.top(source)
        return (source, 9, 1) if card and self.goes_home(card) else None

    def double_tap_move(self, source: int) -> Triple | None:
        """The move that a double tap makes."""
        card = self.top(source)
        if not card:
            return None
        if self.goes_home(card):
            return (source, 9, 1)
        takers = [
            d for d in range(8) if d != source and self.columns[d] and PARENT[card] == self.columns[d][-1]
        ]
        if takers:
            return (source, max(takers, key=lambda d: (len(self.columns[d]), -d)), 1)
        for d in range(8):
            if not self.columns[d]:
                return (source, d, 1)
        if source < 8 and 0 in self.cells:
            return (source, 8, 1)
        return None

    # -- what the position is

    @property
    def outcome(self) -> str | None:
        if self.home == [13, 13, 13, 13]:
            return "won"
        return None if self.legal() else "stuck"

    def key(self) -> object:
        """Equal for positions that differ only in the order of columns or of cells."""
        return (tuple(sorted(tuple(column) for column in self.columns)), tuple(sorted(self.cells)))

    def notation(self, move: Triple) -> str:
        """A legal move as people write it here: with the cell that it fills, and with a size where a bare
        text would mean a larger group."""
        s, d, k = move
        text = notation_of(move, self.cells.index(0) if d == 8 else None)
        return text + "v1" if k == 1 and s < 8 and d < 8 and (s, d, 2) in self.legal() else text

    # -- rewards

    def act(self, action: int, worth: dict[str, float] | None = None) -> tuple[float, bool]:
        """Plays an action of the environment with undo; returns its reward and whether it was illegal.

        Every action pays `step`. A legal move pays its event too, and `win` or `stuck` when it ends the game. Undo
        gives back what its move's event brought. An illegal action, an undo of nothing included, pays `illegal`.
        """
        worth = {**REWARDS["score"], **(worth or {})}
        reward = worth["step"]
        if action == UNDO and self.past:
            s, d, _ = self.past[-1][-1]
            self.undo()
            return reward - event(s, d, worth), False
        if action not in self.legal_ids():
            return reward + worth["illegal"], True
        s, d, k = MOVES[action]
        self.push((s, d, k))
        reward += event(s, d, worth)
        if self.outcome == "won":
            reward += worth["win"]
        if self.outcome == "stuck":
            reward += worth["stuck"]
        return reward, False


def event(source: int, destination: int, worth: dict[str, float]) -> float:
    """What a move from here to there is worth."""
    if destination == 9:
        return worth["foundation"]
    if source >= 8:
        return worth["from_cell"]
    return 0


REWARDS: dict[str, dict[str, float]] = {
    "score": {"foundation": 10, "from_cell": 5, "win": 0, "step": 0, "illegal": -1, "stuck": 0},
    "win": {"foundation": 0, "from_cell": 0, "win": 1, "step": 0, "illegal": 0, "stuck": 0},
    "foundation": {"foundation": 1, "from_cell": 0, "win": 0, "step": 0, "illegal": 0, "stuck": 0},
}


# ---------------------------------------------------------------------------------------------------------------
# The environment's keywords


def moved_card(oracle: Oracle, move: Triple) -> int:
    """The card that a move is named by: of a group the lowest in the column."""
    s, _, k = move
    return oracle.columns[s][-k] if s < 8 else oracle.cells[s - 8]


def card_id(card: int, kind: str) -> int:
    """Number of a card action, as the interface counts them."""
    if kind == "parent":
        assert RANK[card] < 13
        return SUIT[card] * 12 + RANK[card] - 1
    return {"empty": 48, "cell": 100, "home": 152}[kind] + card - 1


def named_by_place(oracle: Oracle, moves: list[Triple]) -> dict[int, Triple]:
    return {ID[move]: move for move in moves}


def named_by_card(oracle: Oracle, moves: list[Triple]) -> dict[int, Triple]:
    """Card actions that stand for one of these moves; to an empty column, the leftmost one."""
    named: dict[int, Triple] = {}
    for move in moves:
        card, d = moved_card(oracle, move), move[1]
        if d == 9:
            named[card_id(card, "home")] = move
        elif d == 8:
            named[card_id(card, "cell")] = move
        elif oracle.columns[d]:
            named[card_id(card, "parent")] = move
        elif d == oracle.columns.index([]):
            named[card_id(card, "empty")] = move
    return named


def named_by_tap(oracle: Oracle, moves: list[Triple]) -> dict[int, Triple]:
    """Double taps whose move is one of these."""
    taps = {source: oracle.double_tap_move(source) for source in range(12)}
    return {source: move for source, move in taps.items() if move in moves}


NAMINGS = {"places": (named_by_place, 780), "cards": (named_by_card, 204), "taps": (named_by_tap, 12)}


def first_home(oracle: Oracle) -> Triple | None:
    """The foundation move that plays itself next: columns first, then cells."""
    return next((move for move in oracle.legal() if move[1] == 9), None)


class Episode:
    """An episode of the environment, from a game, by a plain reading of its keywords; without a limit of steps."""

    def __init__(
        self,
        oracle: Oracle,
        *,
        actions: str = "places",
        auto_foundation: bool = False,
        no_repeats: bool = False,
        prune: bool = False,
        allow_undo: bool = False,
        illegal_action: str = "penalize",
        worth: dict[str, float] | None = None,
    ) -> None:
        assert not (no_repeats and allow_undo)
        self.oracle = oracle
        self.naming, self.n_actions = NAMINGS[actions]
        self.auto_foundation, self.no_repeats, self.prune = auto_foundation, no_repeats, prune
        self.allow_undo, self.illegal_action = allow_undo, illegal_action
        self.worth = {**REWARDS["score"], **(worth or {})}
        self.broke_a_rule = False
        # How many moves stood before each action that stands.
        self.own: list[int] = []
        self.owed = self.send_home() * self.worth["foundation"]
        # Where the episode has been since the last card went home.
        self.been = [oracle.key()]

    def send_home(self) -> int:
        """Plays the foundation moves that play themselves, and says how many."""
        count = 0
        while self.auto_foundation and (home := first_home(self.oracle)):
            self.oracle.push(home)
            count += 1
        return count

    def comes_back(self, move: Triple) -> bool:
        """Whether a move, and what plays itself after it, leads to where the episode has been."""
        after = self.oracle.copy()
        after.push(move)
        while self.auto_foundation and (home := first_home(after)):
            after.push(home)
        return after.key() in self.been

    def allowed(self, moves: list[Triple]) -> dict[int, Triple]:
        """The actions that stand for one of these moves, without those that lead back."""
        if self.no_repeats:
            moves = [move for move in moves if not self.comes_back(move)]
        return self.naming(self.oracle, moves)

    @property
    def can_undo(self) -> bool:
        return bool(self.own) and self.oracle.moves - self.own[-1] <= len(self.oracle.past)

    def mask(self) -> list[int]:
        if self.outcome is not None:
            return [1] * (self.n_actions + self.allow_undo)
        moves = self.oracle.pruned() if self.prune else self.oracle.legal()
        allowed = self.allowed(moves)
        mask = [int(action in allowed) for action in range(self.n_actions)]
        return mask + [int(self.can_undo)] * self.allow_undo

    @property
    def outcome(self) -> str | None:
        if self.broke_a_rule:
            return "illegal"
        if self.oracle.outcome == "won":
            return "won"
        return None if self.allowed(self.oracle.legal()) else "stuck"

    def act(self, action: int) -> tuple[float, bool]:
        """Plays an action; returns its reward and whether it was illegal."""
        reward, self.owed = self.worth["step"] + self.owed, 0
        move = self.allowed(self.oracle.legal()).get(action)
        if self.allow_undo and action == self.n_actions and self.can_undo:
            before = self.own.pop()
            while self.oracle.moves > before:
                s, d, _ = self.oracle.past[-1][-1]
                self.oracle.undo()
                reward -= event(s, d, self.worth)
            return reward, False
        if move is None:
            self.broke_a_rule = self.illegal_action == "terminate"
            return reward + self.worth["illegal"], True
        self.own.append(self.oracle.moves)
        home = sum(self.oracle.home)
        self.oracle.push(move)
        reward += event(*move[:2], self.worth) + self.send_home() * self.worth["foundation"]
        if sum(self.oracle.home) > home:
            self.been = []
        self.been.append(self.oracle.key())
        if self.outcome is not None:
            reward += self.worth["win" if self.outcome == "won" else "stuck"]
        return reward, False
