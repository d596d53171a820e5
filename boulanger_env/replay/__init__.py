"""Replays: an episode as a checked object, a JSON file and a page; a wrapper that records."""

from boulanger_env.game.annotation import Annotation

from .parts import ReplayError
from .recording import replays_in
from .replay import Replay, replay_of
from .wrapper import RecordReplay

__all__ = ["Annotation", "RecordReplay", "Replay", "ReplayError", "replay_of", "replays_in"]
