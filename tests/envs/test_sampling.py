"""Uniform draws from masks: the compiled sampler against a naive one, and for uniformity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracle import SplitMix64
from scipy import stats

from boulanger_env.envs import sample_legal
from boulanger_env.envs.sampling import MAX_WIDTH, draw_below, stream_state
from boulanger_env.game.errors import BoulangerError

# Rows begin at every offset within a 64-bit word, and are shorter and longer than a block of words.
WIDTHS = (1, 2, 7, 8, 9, 15, 16, 17, 63, 127, 128, 129, 137, 204, 205, 780, 781, MAX_WIDTH)


def random_masks(n: int, width: int, seed: int = 0) -> NDArray[np.int8]:
    """Masks with few and with many legal actions, never with none."""
    random = np.random.default_rng(seed)
    masks = (random.random((n, width)) < random.random((n, 1)) ** 4).astype(np.int8)
    masks[np.arange(n), random.integers(width, size=n)] = 1
    return masks


def naive(mask: NDArray[Any], state: int) -> tuple[int, int]:
    """The action, and the state after it: Lemire's multiplication in whole numbers."""
    legal = np.flatnonzero(mask)
    stream, m = SplitMix64(state), len(legal)
    while True:
        product = (stream.next() >> 32) * m
        if product % 2**32 >= 2**32 % m:
            return int(legal[product >> 32]), stream.state


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.int8, np.bool_, np.int64])
def test_every_row_draws_what_the_naive_sampler_draws(width: int, dtype: type) -> None:
    masks = random_masks(60, width).astype(dtype)
    states = np.arange(60, dtype=np.uint64) * np.uint64(2**58 + 12345)
    expected = [naive(mask, int(state)) for mask, state in zip(masks, states, strict=True)]
    actions = sample_legal(masks, states)
    assert actions.dtype == np.int64
    assert list(zip(actions.tolist(), states.tolist(), strict=True)) == expected


@pytest.mark.parametrize("width", [780, 781])
def test_a_batch_draws_what_single_masks_draw(width: int) -> None:
    masks = random_masks(50, width, seed=1)
    states, alone = np.arange(50, dtype=np.uint64), np.arange(50, dtype=np.uint64)
    for _ in range(5):
        actions = sample_legal(masks, states)
        single = [sample_legal(masks[i], alone[i : i + 1]) for i in range(50)]
        assert all(isinstance(action, int) for action in single)
        assert actions.tolist() == single
        assert states.tolist() == alone.tolist()


def test_masks_need_not_be_contiguous() -> None:
    masks = random_masks(20, 780)
    wide = np.zeros((20, 1000), np.int8)
    wide[:, 100:880] = masks
    assert (
        sample_legal(wide[:, 100:880], np.arange(20, dtype=np.uint64)).tolist()
        == sample_legal(np.asfortranarray(masks), np.arange(20, dtype=np.uint64)).tolist()
        == sample_legal(masks, np.arange(20, dtype=np.uint64)).tolist()
    )


@pytest.mark.parametrize("width", [780, 781])
def test_the_mask_of_a_finished_game_can_be_drawn_from(width: int) -> None:
    actions = sample_legal(np.ones((4000, width), np.int8), np.arange(4000, dtype=np.uint64))
    assert actions.min() < 20
    assert actions.max() > width - 20


@pytest.mark.parametrize(
    "legal", [[0], [779], [3, 4], [0, 7, 8, 779], list(range(100, 111)), list(range(780))]
)
def test_draws_are_uniform(legal: list[int]) -> None:
    mask = np.zeros(780, np.int8)
    mask[legal] = 1
    draws = 200 * len(legal)
    states = stream_states(5, draws)
    counts = np.bincount(sample_legal(np.tile(mask, (draws, 1)), states), minlength=780)
    assert counts[mask == 0].sum() == 0
    if len(legal) > 1:
        assert stats.chisquare(counts[legal]).pvalue > 1e-3
    # The same from one state, one draw after the other.
    state = np.array([99], np.uint64)
    counts = np.bincount([sample_legal(mask, state) for _ in range(draws)], minlength=780)
    if len(legal) > 1:
        assert stats.chisquare(counts[legal]).pvalue > 1e-3


def stream_states(seed: int, n: int) -> NDArray[np.uint64]:
    return np.array([stream_state(np.uint64(seed), np.uint64(i)) for i in range(n)], np.uint64)


def test_streams_of_a_seed_and_of_neighbouring_seeds_have_nothing_in_common() -> None:
    states = np.concatenate([stream_states(seed, 500) for seed in range(4)])
    assert len(np.unique(states)) == len(states)
    high = np.bincount((states >> np.uint64(60)).astype(np.int64), minlength=16)
    assert stats.chisquare(high).pvalue > 1e-3


def test_a_draw_that_would_be_one_too_many_is_drawn_again() -> None:
    # With m just above 2**31 nearly half of the first outputs are rejected.
    m = 2**31 + 1
    again = 0
    for seed in range(40):
        state, number = draw_below(np.uint64(seed), m)
        stream, steps = SplitMix64(seed), 0
        while True:
            product, steps = (stream.next() >> 32) * m, steps + 1
            if product % 2**32 >= 2**32 % m:
                break
        assert (int(state), int(number)) == (stream.state, product >> 32)
        again += steps > 1
    assert 5 < again < 35


class TestBadInput:
    def test_a_mask_without_a_legal_action_is_named(self) -> None:
        masks = random_masks(5, 780)
        masks[3] = 0
        with pytest.raises(BoulangerError, match="mask 3 is all zeros"):
            sample_legal(masks, np.zeros(5, np.uint64))
        with pytest.raises(BoulangerError, match="the mask is all zeros"):
            sample_legal(np.zeros(781, np.int8), np.zeros(1, np.uint64))

    @pytest.mark.parametrize("value", [2, -1, 127, -128])
    def test_a_mask_of_something_else_than_0_and_1(self, value: int) -> None:
        with pytest.raises(BoulangerError, match="1 is legal and 0 is not"):
            sample_legal(np.full((3, 780), value, np.int8), np.zeros(3, np.uint64))

    @pytest.mark.parametrize("shape", [(), (2, 3, 780), (0,), (3, 0), (2, MAX_WIDTH + 1)])
    def test_a_mask_of_another_shape(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(BoulangerError, match="masks have the shape"):
            sample_legal(np.ones(shape, np.int8), np.zeros(2, np.uint64))

    @pytest.mark.parametrize("states", [np.zeros(3, np.int64), [1, 2, 3], None, np.zeros(3)])
    def test_states_of_another_type(self, states: Any) -> None:
        with pytest.raises(BoulangerError, match="array of uint64"):
            sample_legal(np.ones((3, 780), np.int8), states)

    def test_states_for_another_number_of_masks(self) -> None:
        with pytest.raises(BoulangerError, match="one state per mask"):
            sample_legal(np.ones((3, 780), np.int8), np.zeros(2, np.uint64))

    def test_no_masks_give_no_actions(self) -> None:
        assert sample_legal(np.ones((0, 780), np.int8), np.zeros(0, np.uint64)).shape == (0,)
