"""Training an agent from rewards with Stable-Baselines3 (extra ``train``)."""

from .job import resume, train
from .network import CardMixer, CardPolicy
from .outcome import both_tables, learned_from, verdicts
from .ppo import ChancePPO
from .setup import TrainSettings, default_threads, make_envs, make_model, make_starts

__all__ = [
    "CardMixer",
    "CardPolicy",
    "ChancePPO",
    "TrainSettings",
    "both_tables",
    "default_threads",
    "learned_from",
    "make_envs",
    "make_model",
    "make_starts",
    "resume",
    "train",
    "verdicts",
]
