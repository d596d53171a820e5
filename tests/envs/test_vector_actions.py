"""Actions that ``BoulangerVectorEnv`` is given: ignored ones, wrong ones, and every integer type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from numba.core import event
from support.batch_and_singles import DISABLED

from boulanger_env import BoulangerVectorEnv, IllegalMoveError

N = 4
LEGAL = 728  # a column's top card to a free cell: legal at the start of every game
NOTHING = 779  # nothing in cell d then


@pytest.mark.parametrize("illegal_action", ["penalize", "terminate", "raise"])
def test_the_ignored_action_is_never_validated(illegal_action: str) -> None:
    batch = BoulangerVectorEnv(3, illegal_action=illegal_action, max_episode_steps=1)
    batch.reset(seed=5)
    _, _, _, truncations, infos = batch.step([LEGAL] * 3)
    assert truncations.all()
    for ignored in (
        [0, NOTHING, 780],
        [-1, -(2**63), 2**63 - 1],
        np.array([2**64 - 1, 2**63, 99999], np.uint64),
    ):
        _, rewards, terminations, truncations, infos = batch.step(ignored)
        assert rewards.tolist() == [0.0] * 3
        assert not (terminations | truncations | infos["illegal_action"]).any()
        assert infos["_code"].all()
        assert infos["moves"].tolist() == [0] * 3
        assert batch.step([LEGAL] * 3)[3].all()


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        (
            [728, 728, 780, 728],
            "action 780 of sub-environment 2 does not exist: actions are numbered 0 to 779",
        ),
        ([728, -1, 728, 728], "action -1 of sub-environment 1 does not exist"),
        (np.array([2**63, 0, 0, 0], np.uint64), "action 9223372036854775808 of sub-environment 0"),
        ([728, 728, 728], r"shape \(3,\)"),
        ([[728, 728, 728, 728]], r"shape \(1, 4\)"),
        (728, r"shape \(\)"),
        ([728.0] * 4, "float64"),
        ([True] * 4, "bool"),
        (["728"] * 4, "<U3"),
        ([None] * 4, "object"),
        ([2**70, 0, 0, 0], "object"),
    ],
)
def test_wrong_actions_change_nothing(actions: Any, words: str) -> None:
    batch = BoulangerVectorEnv(N)
    batch.reset(seed=1)
    before = [batch.game(i) for i in range(N)]
    with pytest.raises(IllegalMoveError, match=words):
        batch.step(actions)
    assert [batch.game(i) for i in range(N)] == before
    # Undo is an action where it is allowed; 781 is not one.
    undoing = BoulangerVectorEnv(1, allow_undo=True)
    undoing.reset(seed=1)
    undoing.step([780])
    with pytest.raises(IllegalMoveError, match="numbered 0 to 780"):
        undoing.step([781])


def test_raising_names_the_sub_environment_and_the_rule() -> None:
    batch = BoulangerVectorEnv(2, illegal_action="raise", allow_undo=True)
    batch.reset(options={"codes": ["MS-C2-29"] * 2})
    batch.step([728, 729])
    before = [batch.game(i) for i in range(2)]
    with pytest.raises(IllegalMoveError, match=r"^sub-environment 1: .*no cell d"):
        batch.step([730, 779])
    assert [batch.game(i) for i in range(2)] == before
    batch.step([780, 730])
    with pytest.raises(IllegalMoveError, match=r"^sub-environment 0: nothing to undo"):
        batch.step([780, 731])


def test_actions_of_every_integer_type_and_layout_without_compiling_again() -> None:
    batch = BoulangerVectorEnv(N)
    batch.reset(seed=1)
    batch.step(np.full(N, LEGAL))
    frozen = np.full(N, NOTHING)
    frozen.flags.writeable = False
    given: list[Any] = [
        [NOTHING] * N,
        (NOTHING,) * N,
        np.full(2 * N, NOTHING)[::2],
        np.full((N, 2), NOTHING)[:, 0],
        np.full(N, NOTHING)[::-1],
        np.full(N, NOTHING, ">i8"),
        frozen,
        batch.action_space.sample(),
        *(np.full(N, NOTHING, dtype) for dtype in (np.int16, np.int32, np.uint16, np.uint64)),
    ]
    with event.install_recorder("numba:compile") as compiled:
        for actions in given:
            assert batch.step(actions)[0].shape == (N, 2076)
    assert len(compiled.buffer) == 0


def test_steps_need_a_reset() -> None:
    batch = BoulangerVectorEnv(2)
    with pytest.raises(ResetNeeded, match="no games yet"):
        batch.step([0, 0])
    disabled = BoulangerVectorEnv(2, autoreset_mode=DISABLED, max_episode_steps=1)
    disabled.reset()
    disabled.step([LEGAL, LEGAL])
    with pytest.raises(ResetNeeded, match=r"sub-environments \[0, 1\] have ended"):
        disabled.step([LEGAL, LEGAL])
