"""The card network: what its tokens and logits mean, its symmetries, and that it is saved and loaded whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from boulanger_env.envs import CARD_ACTION_TABLE

th = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO  # noqa: E402

from boulanger_env.sb3 import BoulangerVecEnv  # noqa: E402
from boulanger_env.training import CardPolicy, ChancePPO  # noqa: E402
from boulanger_env.training.network import MaskedMoves, by_action  # noqa: E402
from boulanger_env.training.tokens import N_SLOTS, layout, rearrange  # noqa: E402

RULES = {"observation": "cards", "actions": "cards"}


def play(env, steps, seed=0):
    """Observation, masks and games after some random legal moves."""
    rng = np.random.default_rng(seed)
    env.seed(seed)
    observation = env.reset()
    for _ in range(steps):
        masks = env.env_method("action_masks")
        observation, *_ = env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
    tensors = {key: th.as_tensor(value) for key, value in observation.items()}
    return tensors, env.env_method("action_masks"), env.env_method("game")


def make_policy(env, **sizes):
    """A policy whose heads are far from zero, so that mistakes show."""
    th.manual_seed(0)
    policy = CardPolicy(
        env.observation_space, env.action_space, lambda _: 1e-3, features_extractor_kwargs=sizes
    )
    with th.no_grad():
        for weight in policy.parameters():
            weight += 0.2 * th.randn_like(weight)
    return policy


@pytest.mark.parametrize(("n_cells", "steps"), [(4, 9), (2, 6), (1, 4)])
def test_tokens_say_where_each_card_is(n_cells, steps):
    tensors, _, games = play(BoulangerVecEnv(8, n_cells, **RULES), steps)
    tokens = layout(tensors).tokens
    for i, game in enumerate(games):
        for card in range(1, 53):
            suit, rank = (card - 1) // 13, (card - 1) % 13 + 1
            place = on_parent = has_child = None
            for column in game.columns:
                if card in column:
                    at = column.index(card)
                    place = min(len(column) - 1 - at, 7)
                    on_parent = at > 0 and column[at - 1] == card + 1 and rank < 13
                    has_child = at + 1 < len(column) and column[at + 1] == card - 1 and rank > 1
            if card in game.cells:
                place = 8
            elif rank <= game.foundations[suit]:
                place = 9
            waiting = min(rank - game.foundations[suit], 8)
            expected = np.zeros(21)
            expected[place] = 1
            if waiting > 0:
                expected[10 + waiting] = 1
            expected[19:] = bool(on_parent), bool(has_child)
            assert tokens[i, card - 1].tolist() == expected.tolist()


def test_action_logit_is_the_score_of_the_card_that_moves():
    scores = (10.0 * th.arange(52)[:, None] + th.arange(4))[None]
    logits = by_action(scores)[0]
    assert logits.tolist() == [10 * (card - 1) + kind for card, kind in CARD_ACTION_TABLE.tolist()]


@pytest.mark.parametrize("blocks", [1, 2])
def test_order_of_suits_columns_and_cells_does_not_matter(blocks):
    env = BoulangerVecEnv(16, **RULES)
    policy = make_policy(env, blocks=blocks)
    rng = np.random.default_rng(3)
    columns, suits, cells = rng.permutation(8), rng.permutation(4), rng.permutation(4)
    tensors, _, _ = play(env, 10)

    def recoloured(cards):
        cards = cards.numpy().astype(int)
        return np.where(cards > 0, suits[(cards - 1) // 13 % 4] * 13 + (cards - 1) % 13 + 1, 0)

    foundations = np.zeros((16, 4), int)
    foundations[:, suits] = tensors["foundations"].numpy()
    other = {
        "tableau": th.as_tensor(recoloured(tensors["tableau"])[:, columns]),
        "cells": th.as_tensor(recoloured(tensors["cells"])[:, cells]),
        "foundations": th.as_tensor(foundations),
    }
    number = {(card, kind): action for action, (card, kind) in enumerate(CARD_ACTION_TABLE.tolist())}
    same_move = [number[int(recoloured(th.tensor(card))), kind] for card, kind in CARD_ACTION_TABLE.tolist()]
    with th.no_grad():
        ours, theirs = policy.extract_features(tensors), policy.extract_features(other)
        assert th.allclose(policy.predict_values(tensors), policy.predict_values(other), atol=1e-4)
    assert ours[:, :204].std() > 0.5
    assert th.allclose(theirs[:, same_move], ours[:, :204], atol=1e-4)
    assert th.allclose(theirs[:, 204:], ours[:, 204:], atol=1e-4)


def test_rearrange_has_the_right_gradient():
    tensors, _, _ = play(BoulangerVecEnv(3, **RULES), 8)
    where = layout(tensors)
    values = th.randn(3, 52, 2, dtype=th.double, requires_grad=True)
    assert th.autograd.gradcheck(lambda cards: rearrange(cards, where.slots, where.cards), (values,))
    assert rearrange(values, where.slots, where.cards).shape == (3, N_SLOTS, 2)


def test_distribution_agrees_with_sb3_contrib():
    from sb3_contrib.common.maskable.distributions import MaskableCategoricalDistribution

    th.manual_seed(1)
    logits, masks = 3 * th.randn(50, 204), th.rand(50, 204) < 0.1
    masks[:, 5] = True
    ours, theirs = MaskedMoves(), MaskableCategoricalDistribution(204)
    for distribution in (ours, theirs):
        distribution.proba_distribution(logits)
        distribution.apply_masking(masks)
    actions = theirs.sample()
    assert th.allclose(ours.log_prob(actions), theirs.log_prob(actions), atol=1e-5)
    assert th.allclose(ours.entropy(), theirs.entropy(), atol=1e-5)
    assert th.equal(ours.mode(), theirs.mode())
    drawn = th.stack([ours.sample() for _ in range(1000)], 1)
    assert masks.gather(1, drawn).all()
    shares = th.zeros(50, 204).scatter_add(1, drawn, th.ones(50, 1000)) / 1000
    # 5 standard errors of a probability of a half: there are 10,000 of them.
    assert (shares - ours.probs).abs().max() < 5 * (0.25 / 1000) ** 0.5
    ours.apply_masking(None)
    theirs.apply_masking(None)
    assert th.allclose(ours.entropy(), theirs.entropy(), atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_learns_saves_and_loads(tmp_path: Path, threads):
    env = BoulangerVecEnv(4, reward="win", **RULES)
    model = ChancePPO(
        CardPolicy, env, threads=threads, n_steps=16, batch_size=32, n_epochs=1, seed=0, device="cpu"
    )
    before = {name: weight.clone() for name, weight in model.policy.state_dict().items()}
    model.learn(128)
    assert all(not th.equal(before[name], weight) for name, weight in model.policy.named_parameters())
    model.save(tmp_path / "model")
    model.policy.save(str(tmp_path / "policy"))
    tensors, masks, _ = play(env, 5)
    observation = {key: value.numpy() for key, value in tensors.items()}
    expected, _ = model.predict(observation, deterministic=True, action_masks=masks)
    assert masks[np.arange(4), expected].all()
    loaded = MaskablePPO.load(tmp_path / "model", env=env, device="cpu")
    loaded.learn(64)
    for player in (
        MaskablePPO.load(tmp_path / "model", device="cpu"),
        CardPolicy.load(str(tmp_path / "policy")),
    ):
        actions, _ = player.predict(observation, deterministic=True, action_masks=masks)
        assert actions.tolist() == expected.tolist()


def test_values_are_chances():
    env = BoulangerVecEnv(8, **RULES)
    th.manual_seed(0)
    policy = CardPolicy(env.observation_space, env.action_space, lambda _: 1e-3)
    tensors, masks, _ = play(env, 5)
    with th.no_grad():
        values = policy.predict_values(tensors)
        _, of_forward, _ = policy(tensors, action_masks=masks)
    assert values.shape == (8, 1)
    assert ((values > 0) & (values < 1)).all()
    assert values.std() > 1e-5
    assert th.allclose(values, of_forward)


def test_spaces_that_do_not_fit_are_named():
    features = BoulangerVecEnv(1, actions="cards")
    with pytest.raises(ValueError, match='reads observation="cards"'):
        CardPolicy(features.observation_space, features.action_space, lambda _: 1e-3)
    for keywords in ({"allow_undo": True}, {"actions": "places"}):
        env = BoulangerVecEnv(1, **{**RULES, **keywords})
        with pytest.raises(ValueError, match=r"204 moves.*without undo"):
            CardPolicy(env.observation_space, env.action_space, lambda _: 1e-3)
