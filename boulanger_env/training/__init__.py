"""Training a masked agent with Stable-Baselines3 (extra ``train``)."""

from .network import CardMixer, CardPolicy
from .job import TrainSettings, make_envs, make_model, train

__all__ = ["CardMixer", "CardPolicy", "TrainSettings", "make_envs", "make_model", "train"]
