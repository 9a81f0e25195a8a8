"""Which of the features that a request carried it was refused for: what a provider's words are about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from strictcall.link.probe_features import FEATURES, FORCED, PARALLEL_STRICT, STRICT

_AT: Final = re.compile(r"properties\[(\d+)\]")
"""How a place in a schema is written where properties go by their number."""
_OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    PARALLEL_STRICT: ("parallel",),
    FORCED: ("tool_choice", "tool choice", "toolchoice", "function_calling_config"),
    STRICT: ("strict",),
}
"""Words of a refusal that is not about a part of a schema, the more telling first: a refusal of parallel calls may say
that they are not strict.
"""


def blamed(words: str, carried: Sequence[str], features: Sequence[str]) -> str | None:
    """The one of the ``carried`` features that a refusal is about; ``None`` where its words do not tell.

    ``features`` are those of the tool's schema in their order. A property's name tells most, then its number, then a
    keyword, as long as all are about one feature.
    """
    said = words.lower()
    places = [int(number) for number in _AT.findall(said)]
    ways = (
        [name for name in features if re.search(rf"\b{name}\b", said)],
        [features[place] for place in places[:1] if place < len(features)],
        [name for name in features if any(_says(said, word) for word in FEATURES[name].words)],
    )
    others = [name for name, known in _OTHERS.items() if any(word in said for word in known)]
    found = next((found[0] for found in ways if len(found) == 1), others[0] if others else None)
    return found if found in carried else None


def _says(said: str, word: str) -> bool:
    """Whether a text speaks of a keyword: in quotes, or as the property of a schema. The same words occur otherwise: a
    maximum of tokens is no keyword.
    """
    whole = rf"(?<![\w$]){re.escape(word)}(?!\w)"
    return re.search(rf"""['"`]{whole}['"`]|\b(?:propert|keyword|field)\w*\b[^.:;]{{0,40}}{whole}""", said) is not None
