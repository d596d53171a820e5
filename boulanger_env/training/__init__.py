"""Training a masked agent with Stable-Baselines3 (extra ``train``)."""

from .job import TrainSettings, make_envs, make_model, train
from .network import CardMixer, CardPolicy

__all__ = ["CardMixer", "CardPolicy", "TrainSettings", "make_envs", "make_model", "train"]
