"""A small network that follows the structure of the game, and MaskablePPO's policy on it.

What a card can do depends on the other cards of its suit (its parent, the cards to go home before it) and on those of
its column (the cards above and below it). So there is one token per card, and two kinds of dense layer alternate: over
the 13 cards of each suit, and over the cards of each column counted from the top. The suits share weights, and so do
the columns. At the end every card has four scores: for going onto its parent, to an empty column, to a free cell and
home. These are the logits of ``actions="cards"``, whose actions are named by the card that moves. So the network is
equivariant to the order of suits, columns and cells: what it learns about one applies to all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from boulanger_env.envs.action_maps import N_CARD_ACTIONS
from boulanger_env.game.cards import N_CARDS, N_RANKS, N_SUITS
from boulanger_env.game.state import N_COLUMNS

from .tokens import N_BOARD_FEATURES, N_DEEP, N_SLOTS, N_TOKEN_FEATURES, Layout, layout, rearrange


class Mix(nn.Module):
    """A residual step over groups of tokens: one hidden layer sees the tokens of a group and the board's context."""

    def __init__(self, size: int, width: int, hidden: int, context: int) -> None:
        super().__init__()
        self.inward = nn.Linear(size * width, hidden)
        self.context = nn.Linear(context, hidden, bias=False)
        self.outward = nn.Linear(hidden, size * width)

    def forward(self, groups: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        """From ``(B, groups, size * width)`` to the same, and the mean hidden layer ``(B, hidden)``."""
        hidden = F.relu(self.inward(groups) + self.context(context)[:, None])
        return self.outward(hidden), hidden.mean(1)


class Block(nn.Module):
    """Mix over suits, then over columns, then update the context from both."""

    def __init__(self, width: int, hidden: int, context: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.suits = Mix(N_RANKS, width, hidden, context)
        self.columns = Mix(N_DEEP, width, hidden, context)
        self.summary = nn.Linear(2 * hidden, context)

    def forward(self, cards: Tensor, context: Tensor, where: Layout) -> tuple[Tensor, Tensor]:
        """Cards ``(B, 52, width)`` and context ``(B, context)``, both updated."""
        batch = len(cards)
        mixed, suits = self.suits(self.norms[0](cards).view(batch, N_SUITS, -1), context)
        cards = cards + mixed.view(cards.shape)
        columns = rearrange(self.norms[1](cards), where.slots, where.cards)
        mixed, columns = self.columns(columns.view(batch, N_COLUMNS, -1), context)
        cards = cards + rearrange(mixed.view(batch, N_SLOTS, -1), where.cards, where.slots)
        return cards, context + F.relu(self.summary(th.cat([suits, columns], 1)))


class CardMixer(BaseFeaturesExtractor):
    """The network. Its features are the 204 action logits, then ``context`` numbers about the whole board.

    Args:
        observation_space: that of the ``"cards"`` observation.
        width: features per card.
        hidden: size of the hidden layers over a suit and over a column.
        blocks: how many times suits and columns are mixed.
        context: features of the whole board.

    Raises:
        ValueError: another observation space.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        width: int = 16,
        hidden: int = 64,
        blocks: int = 2,
        context: int = 32,
    ) -> None:
        if not isinstance(observation_space, spaces.Dict) or set(observation_space.spaces) != {
            "tableau",
            "cells",
            "foundations",
        }:
            raise ValueError(f'this network reads observation="cards", not {observation_space}')
        super().__init__(observation_space, N_CARD_ACTIONS + context)
        self.embed = nn.Linear(N_TOKEN_FEATURES, width)
        self.rank = nn.Parameter(0.5 * th.randn(N_RANKS, width))
        self.board = nn.Linear(N_BOARD_FEATURES, context)
        self.blocks = nn.ModuleList([Block(width, hidden, context) for _ in range(blocks)])
        self.norm = nn.LayerNorm(width)
        self.card_scores = nn.Linear(width, 4)
        self.board_scores = nn.Linear(context, 4)
        self.summary = nn.Linear(context + width, context)
        # Near zero, so that the untrained policy is nearly uniform.
        for scores in (self.card_scores, self.board_scores):
            nn.init.normal_(scores.weight, std=0.01)
            nn.init.zeros_(scores.bias)

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        """Features ``(B, 204 + context)`` of a batch of observations."""
        where = layout(observation)
        batch = len(where.board)
        cards = (self.embed(where.tokens).view(batch, N_SUITS, N_RANKS, -1) + self.rank).view(
            batch, N_CARDS, -1
        )
        context = F.relu(self.board(where.board))
        for block in self.blocks:
            cards, context = block(cards, context, where)
        cards = self.norm(cards)
        scores = self.card_scores(cards) + self.board_scores(context)[:, None]
        summary = F.relu(self.summary(th.cat([context, cards.mean(1)], 1)))
        return th.cat([by_action(scores), summary], 1).float()


def by_action(scores: Tensor) -> Tensor:
    """Each card's four scores, ``(B, 52, 4)``, in the order of the card actions, ``(B, 204)``."""
    # A king has no parent.
    onto_parent = scores[..., 0].view(-1, N_SUITS, N_RANKS)[..., :-1].flatten(1)
    return th.cat([onto_parent, scores[..., 1:].transpose(1, 2).flatten(1)], 1)


class MaskedMoves(MaskableDistribution):
    """One of the actions, masked. Faster than sb3-contrib's own, which computes much that is never used."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

    def proba_distribution_net(self, *args: Any, **kwargs: Any) -> nn.Module:
        """No layer: the features hold the logits."""
        return nn.Identity()

    def proba_distribution(self, action_logits: Tensor) -> MaskedMoves:
        """Take these logits ``(B, actions)``, unmasked."""
        self._unmasked = self._logits = action_logits
        return self

    def apply_masking(self, masks: Tensor | NDArray[np.bool_] | None) -> None:
        """Leave only the actions whose mask is true; ``None`` takes the mask away."""
        self._logits = self._unmasked
        if masks is not None:
            legal = th.as_tensor(masks, device=self._logits.device).bool().reshape(self._logits.shape)
            self._logits = self._logits.masked_fill(~legal, -1e8)

    @property
    def probs(self) -> Tensor:
        """Probabilities ``(B, actions)``."""
        return F.softmax(self._logits, 1)

    @property
    def logits(self) -> Tensor:
        """Log-probabilities ``(B, actions)``."""
        return F.log_softmax(self._logits, 1)

    def log_prob(self, actions: Tensor) -> Tensor:
        """Log-probability ``(B,)`` of actions ``(B,)``."""
        return self.logits.gather(1, actions.long().view(-1, 1)).squeeze(1)

    def entropy(self) -> Tensor:
        """Entropy ``(B,)``."""
        return -(self.probs * self.logits).sum(1)

    def sample(self) -> Tensor:
        """Actions ``(B,)`` by their probabilities."""
        cumulative = self.probs.cumsum(1)
        # Strictly below the total, and the first entry above it: an action without probability is never the one.
        thresholds = th.rand(len(cumulative), 1, device=cumulative.device) * cumulative[:, -1:]
        return th.searchsorted(cumulative, thresholds, right=True).squeeze(1)

    def mode(self) -> Tensor:
        """The likeliest actions ``(B,)``."""
        return self._logits.argmax(1)

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:
        """Actions of these logits."""
        return self.proba_distribution(action_logits).get_actions(deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:
        """Sampled actions of these logits and their log-probabilities."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)


class _Logits(nn.Module):
    def forward(self, features: Tensor) -> Tensor:
        return features[:, :N_CARD_ACTIONS]


class _ChanceOfWinning(nn.Linear):
    def forward(self, features: Tensor) -> Tensor:
        return th.sigmoid(super().forward(features[:, N_CARD_ACTIONS:]).float())


class CardPolicy(MaskableActorCriticPolicy):
    """Actor and critic on one :class:`CardMixer`, for ``observation="cards", actions="cards"``.

    The critic's values are chances of winning, between 0 and 1: right for a reward of 1 for a win and nothing else.

    Args:
        observation_space: that of the ``"cards"`` observation.
        action_space: ``Discrete(204)``.
        lr_schedule: the optimizer's learning rate.
        **keywords: as for ``MaskableActorCriticPolicy``; those of :class:`CardMixer` go into
            ``features_extractor_kwargs``.

    Raises:
        ValueError: another observation or action space.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        **keywords: Any,
    ) -> None:
        if not isinstance(action_space, spaces.Discrete) or action_space.n != N_CARD_ACTIONS:
            raise ValueError(
                f'this policy plays the {N_CARD_ACTIONS} moves of actions="cards" without undo, not {action_space}'
            )
        keywords.update(net_arch=[], ortho_init=False, features_extractor_class=CardMixer)
        super().__init__(observation_space, action_space, lr_schedule, **keywords)

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> MaskedMoves:
        # A new one each time, so that several threads can learn with one policy.
        return MaskedMoves().proba_distribution(self.action_net(latent_pi))

    def _build(self, lr_schedule: Schedule) -> None:
        self._build_mlp_extractor()
        self.action_dist = MaskedMoves()
        self.action_net = _Logits()
        self.value_net = _ChanceOfWinning(self.features_dim - N_CARD_ACTIONS, 1)
        self.optimizer = self.optimizer_class(
            self.parameters(), **{"lr": lr_schedule(1), **self.optimizer_kwargs}
        )
