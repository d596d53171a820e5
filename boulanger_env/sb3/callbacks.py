"""Stable-Baselines3 callbacks."""

from __future__ import annotations

from stable_baselines3.common.callbacks import BaseCallback

from boulanger_env.deals import ReverseCurriculum


class CurriculumCallback(BaseCallback):
    """Lets a ``ReverseCurriculum`` follow the training: ``model.learn(..., callback=CurriculumCallback(curriculum))``.

    For environments in this process that take the curriculum's ``Starts``: a ``BoulangerVecEnv``, or a
    ``DummyVecEnv`` of ``BoulangerEnv``. It logs ``curriculum/starts_won``, the mean of the groups' running win rates,
    and ``curriculum/deals_won``, that of whole deals.

    Args:
        curriculum: the curriculum.
        verbose: see ``BaseCallback``.
    """

    def __init__(self, curriculum: ReverseCurriculum, verbose: int = 0) -> None:
        super().__init__(verbose)
        self.curriculum = curriculum

    def _on_step(self) -> bool:
        self.curriculum.update(self.locals["infos"])
        return True

    def _on_rollout_end(self) -> None:
        self.logger.record("curriculum/starts_won", self.curriculum.starts_won)
        self.logger.record("curriculum/deals_won", self.curriculum.deal_wins)
