"""The labels of deals that results name: of a built-in set, or of a slice of one."""

from __future__ import annotations

from collections.abc import Sequence

from boulanger_env.deals import load, set_names
from boulanger_env.deals.labels import Labels


def known_labels(deals: str, codes: Sequence[str]) -> Labels | None:
    """The labels of codes of the built-in set that a name begins with; None where there are none.

    Args:
        deals: a set's name, or a slice's, such as ``c4-test[0:100]``.
        codes: deals of that set.
    """
    name = deals.split("[", 1)[0]
    if name not in set_names():
        return None
    whole = load(name)
    places = {code: place for place, code in enumerate(whole.codes)}
    if whole.labels is None or any(code not in places for code in codes):
        return None
    chosen = [places[code] for code in codes]
    labels = whole.labels
    return Labels(labels.solvable[chosen], labels.length[chosen], labels.nodes[chosen])
