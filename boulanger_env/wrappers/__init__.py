"""Gymnasium wrappers: other action spaces, automatic foundation moves, the mask as part of the observation, replays."""

from boulanger_env.envs.action_maps import CARD_ACTION_TABLE

from .actions import AutoFoundation, CardActions, TapActions
from .mask_in_observation import MaskInObservation
from .record_replay import RecordReplay

__all__ = [
    "CARD_ACTION_TABLE",
    "AutoFoundation",
    "CardActions",
    "MaskInObservation",
    "RecordReplay",
    "TapActions",
]
