"""Policy: the choices that a caller may make about how tools are compiled."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_type_hints

from strictcall.errors import PolicyError


@dataclass(frozen=True, slots=True)
class Policy:
    """How a tool is compiled. Every field's default comes first in its list of values.

    - ``fidelity``: ``checked`` lets the local check close gaps that the wire leaves; with ``exact`` a tool that would
      need that (for more than the encoding itself) is loose.
    - ``open_objects``: objects that are open only because they do not say otherwise are closed (``close``), kept open
      with a place for further names (``carry``), or make the tool loose (``refuse``). Expressly open and typed maps
      are always carried, unless ``refuse``.
    - ``free_form``: values of any kind become a recursive JSON definition where the dialect recurses (``tree``), or
      text that holds JSON (``json_text``), or make the tool loose (``refuse``).
    - ``nulls``: an optional that also admits null is folded into "absent" where its ``default`` is null and kept apart
      elsewhere (``auto``), always folded (``fold``), or always kept apart (``distinguish``).
    - ``implied_types``: a schema without ``type`` that has ``properties`` is read as an object, and so on.
    - ``formats``: whether the local check asserts ``format`` (``assert``) or not (``annotate``).
    - ``hints``: whether a constraint that the wire does not hold is said in the description.

    Raises ``PolicyError`` for a value that a field does not take.
    """

    fidelity: Literal["checked", "exact"] = "checked"
    open_objects: Literal["close", "carry", "refuse"] = "close"
    free_form: Literal["tree", "json_text", "refuse"] = "tree"
    nulls: Literal["auto", "fold", "distinguish"] = "auto"
    implied_types: bool = True
    formats: Literal["annotate", "assert"] = "annotate"
    hints: bool = True

    def __post_init__(self) -> None:
        for field, allowed in policy_values().items():
            value = getattr(self, field)
            if not any(value is item or (type(value) is str and value == item) for item in allowed):
                raise PolicyError(field, value, allowed)


_VALUES: dict[str, tuple[Any, ...]] = {}


def policy_values() -> dict[str, tuple[Any, ...]]:
    """Each field of ``Policy`` with the values that it takes, the default first."""
    if not _VALUES:
        hints = get_type_hints(Policy)
        for field in dataclasses.fields(Policy):
            _VALUES[field.name] = get_args(hints[field.name]) or (True, False)
    return dict(_VALUES)
