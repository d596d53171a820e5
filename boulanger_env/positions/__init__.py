"""Positions as arrays, for searches, planners and data sets: many positions per compiled call.

Positions are the rows of a uint8 array ``(n, WIDTH)``, and every function takes such an array and returns new ones;
nothing is kept between calls. Select, sort, store and concatenate positions as any NumPy array. A row holds the
board and nothing else: no score, no history, no code.

>>> import numpy as np
>>> from boulanger_env import positions
>>> start = positions.from_deals(["MS-C4-1", "MS-C4-2"])
>>> found = positions.expand(start)
>>> found.children.shape, np.bincount(found.parents).tolist()
((21, 184), [10, 11])
>>> observations, masks = positions.inputs(found.children)
>>> observations.shape, masks.shape
((21, 2076), (21, 780))
"""

from .conversion import WIDTH, from_deals, from_games, from_observation, to_games
from .playing import Expansion, auto_foundation, expand, play
from .reading import PLAYING, STUCK, WON, inputs, keys, masks, observe, outcomes

__all__ = [
    "PLAYING",
    "STUCK",
    "WIDTH",
    "WON",
    "Expansion",
    "auto_foundation",
    "expand",
    "from_deals",
    "from_games",
    "from_observation",
    "inputs",
    "keys",
    "masks",
    "observe",
    "outcomes",
    "play",
    "to_games",
]
