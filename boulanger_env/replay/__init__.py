"""Replays: an episode as a checked object, a JSON file and a page."""

from boulanger_env.game.annotation import Annotation

from .parts import ReplayError
from .recording import replays_in
from .replay import Replay, replay_of

__all__ = ["Annotation", "Replay", "ReplayError", "replay_of", "replays_in"]
