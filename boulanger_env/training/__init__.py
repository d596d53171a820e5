"""Training a masked agent with Stable-Baselines3 (extra ``train``)."""

from .job import train, verdicts
from .network import CardMixer, CardPolicy
from .setup import TrainSettings, make_envs, make_model

__all__ = ["CardMixer", "CardPolicy", "TrainSettings", "make_envs", "make_model", "train", "verdicts"]
