"""MaskablePPO whose critic is a chance of winning."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBufferSamples
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from .budget import Budget

ENTROPY = 0.008, 0.0003
"""Weight of the entropy bonus, in the beginning and at the end. A weight that stays high costs wins."""


def has_bfloat16() -> bool:
    """Whether this processor multiplies in bfloat16, which is faster and trains as well."""
    return any(
        getattr(th.cpu, name, lambda: False)()
        for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    )


class Losses(NamedTuple):
    """What one gradient step minimises, each already divided by the size of the minibatch."""

    policy: Tensor
    value: Tensor
    entropy: Tensor
    clipped: Tensor
    """The share of moves whose probability changed more than is used."""


class ChancePPO(MaskablePPO):
    """MaskablePPO for a reward of 1 for a win: the critic's loss is the cross-entropy, as of any chance.

    The policy's values must be between 0 and 1, as those of ``CardPolicy`` are. The learning rate and the weight of
    the entropy bonus follow a ``Budget``, which may be one of time. Matrices are multiplied in bfloat16 where the
    processor can; a saved model plays in float32 everywhere.

    Args:
        policy: as for ``MaskablePPO``.
        env: as for ``MaskablePPO``.
        budget: how long the training lasts; None: as long as ``learn`` is told.
        threads: threads that learn from parts of each minibatch side by side. Each works with PyTorch's own number of
            threads, which is best set to 1. Results depend on it, as rounding does.
        **keywords: as for ``MaskablePPO``.
    """

    def __init__(
        self, policy: Any, env: Any, *, budget: Budget | None = None, threads: int = 1, **keywords: Any
    ) -> None:
        super().__init__(policy, env, **keywords)
        self.budget, self.threads = budget, threads

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "budget"]

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        super()._update_current_progress_remaining(num_timesteps, total_timesteps)
        if self.budget is not None:
            self._current_progress_remaining = 1 - self.budget.progress(num_timesteps)

    def collect_rollouts(self, *arguments: Any, **keywords: Any) -> bool:
        """Play ``n_steps`` moves of every game, as MaskablePPO does."""
        with _bfloat16():
            return super().collect_rollouts(*arguments, **keywords)

    def train(self) -> None:
        """Learn from the moves just played."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        remaining = self._current_progress_remaining
        clip_range = self.clip_range(remaining)  # type: ignore[operator]
        first, last = ENTROPY
        self.ent_coef = last * (first / last) ** remaining
        weights = list(self.policy.parameters())
        told: list[list[float]] = []
        with ThreadPoolExecutor(self.threads) as pool:
            for _ in range(self.n_epochs):
                for batch in self.rollout_buffer.get(self.batch_size):
                    work = partial(self._gradients, weights, clip_range, len(batch.actions))
                    parts = list(pool.map(work, _parts(batch, self.threads)))  # type: ignore[arg-type]
                    for weight, *gradients in zip(weights, *(part[0] for part in parts), strict=True):
                        weight.grad = sum(gradients[1:], gradients[0])
                    th.nn.utils.clip_grad_norm_(weights, self.max_grad_norm)
                    self.policy.optimizer.step()
                    told.append([sum(column) for column in zip(*(part[1] for part in parts), strict=True)])
                self._n_updates += 1
        for name, value in zip(Losses._fields, np.mean(told, 0), strict=True):
            self.logger.record(f"train/{name}", float(value))

    def _gradients(
        self, weights: Sequence[Tensor], clip_range: float, size: int, batch: MaskableDictRolloutBufferSamples
    ) -> tuple[tuple[Tensor, ...], list[float]]:
        """The gradients of a part of a minibatch of ``size`` moves, and its losses."""
        with _bfloat16():
            values, log_prob, entropy = self.policy.evaluate_actions(
                batch.observations,  # type: ignore[arg-type]
                batch.actions.long().flatten(),
                action_masks=batch.action_masks,
            )
        assert entropy is not None
        ratio = th.exp(log_prob - batch.old_log_prob)
        gain = th.min(
            batch.advantages * ratio, batch.advantages * ratio.clamp(1 - clip_range, 1 + clip_range)
        )
        # Rounding may put a return a hair outside of 0 to 1.
        returns = batch.returns.clamp(0, 1)
        losses = Losses(
            -gain.sum() / size,
            F.binary_cross_entropy(values.flatten(), returns, reduction="sum") / size,
            entropy.sum() / size,
            ((ratio - 1).abs() > clip_range).sum() / size,
        )
        loss = losses.policy + self.vf_coef * losses.value - self.ent_coef * losses.entropy
        return th.autograd.grad(loss, weights), [value.item() for value in losses]


def _bfloat16() -> th.autocast:
    # Threads share the cache of converted weights, but a gradient can only go back through a conversion once.
    return th.autocast("cpu", th.bfloat16, enabled=has_bfloat16(), cache_enabled=False)


def _parts(batch: MaskableDictRolloutBufferSamples, count: int) -> list[MaskableDictRolloutBufferSamples]:
    """A minibatch in ``count`` parts, with advantages normalised over the whole."""
    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std(correction=0) + 1e-8)
    batch = batch._replace(advantages=advantages)
    size = -(-len(advantages) // count)
    return [
        MaskableDictRolloutBufferSamples(
            {key: value[begin : begin + size] for key, value in batch.observations.items()},
            *(column[begin : begin + size] for column in batch[1:]),
        )
        for begin in range(0, len(advantages), size)
    ]
