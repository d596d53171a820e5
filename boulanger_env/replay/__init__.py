"""Replays: an episode as a checked object, a JSON file and a page; a wrapper that records."""

from boulanger_env.render.html import Annotation

from .replay import Replay, ReplayError, replay_of

__all__ = ["Annotation", "Replay", "ReplayError", "replay_of"]
