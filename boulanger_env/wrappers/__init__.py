"""Gymnasium wrappers: the mask as part of the observation, replays."""

from .mask_in_observation import MaskInObservation
from .record_replay import RecordReplay

__all__ = [
    "MaskInObservation",
    "RecordReplay",
]
