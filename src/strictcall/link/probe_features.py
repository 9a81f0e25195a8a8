"""What a probe asks about: parts of schemas, each with values that break it, and what a refusal calls it.

The names of features are the names of their properties on the wire, long enough that a provider's words hold one of
them only where they mean it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from strictcall.dialect.held import held
from strictcall.dialect.judge import judge
from strictcall.dialect.model import Dialect, State
from strictcall.shape.check import LocalCheck
from strictcall.shape.draft import DRAFTS

TOOL: Final = "probe"
"""The name of the tool that is offered."""
STRICT: Final = "plain_enum"
"""The property of every strict tool, of which only being marked strict is asked."""
OPTIONAL_ENUM: Final = "optional_enum"
NO_TOOLS: Final = "no_tools"
AUTO: Final = "auto_call"
PARALLEL: Final = "parallel_calls"
FORCED: Final = "forced_call"
PARALLEL_STRICT: Final = "parallel_strict_calls"


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of a schema that a decoder may take or not, and hold or not.

    ``title`` is for people. ``schema`` stands for a property of the feature's name, ``openapi`` in its place where
    schemas are OpenAPI's, and ``definitions`` are what it refers to. ``breaches`` are values that it excludes, one for
    each of two calls. A refusal is about the feature where it holds one of ``words``, in lower case.
    """

    name: str
    title: str
    schema: Mapping[str, Any]
    breaches: tuple[Any, Any]
    words: tuple[str, ...] = ()
    openapi: Mapping[str, Any] | None = None
    definitions: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def admits(self, value: Any) -> bool:
        """Whether the feature's schema admits a value."""
        schema = {**self.schema, "$defs": dict(self.definitions)} if self.definitions else dict(self.schema)
        return bool(LocalCheck(schema, DRAFTS["2020-12"], assert_formats=False).admits(value))


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


_SIZES: Final = ("small", "large")
_ENTRY: Final = _object({"key": {"type": "string"}, "value": {"type": "integer"}})
FEATURES: Final[Mapping[str, Feature]] = MappingProxyType(
    {
        feature.name: feature
        for feature in (
            Feature(
                STRICT,
                "a tool marked strict",
                {"type": "string", "enum": ["red", "green", "blue"]},
                ("purple", "orange"),
            ),
            Feature(
                "nested_object",
                "a nested object",
                _object({"width": {"type": "integer"}, "unit": {"type": "string"}}),
                ({"width": 1}, {"width": 1, "unit": "mm", "depth": 2}),
            ),
            Feature(
                "entry_list",
                "a map, as a list of entries",
                {"type": "array", "items": _ENTRY},
                ({"a": 1}, [{"key": "a"}]),
            ),
            Feature(
                "null_union",
                "an anyOf with null",
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                ("many", "few"),
                ("anyof", "any_of"),
                openapi={"type": "integer", "nullable": True},
            ),
            Feature(
                OPTIONAL_ENUM,
                "an enum widened by null",
                {"type": ["string", "null"], "enum": [*_SIZES, None]},
                ("huge", "tiny"),
                openapi={"type": "string", "enum": list(_SIZES), "nullable": True},
            ),
            Feature(
                "shared_type",
                "a reference",
                {"$ref": "#/$defs/Unit"},
                ("inch", "mile"),
                ("$ref", "$defs", "ref", "defs"),
                openapi={"ref": "#/defs/Unit"},
                definitions={"Unit": {"type": "string", "enum": ["mm", "cm"]}},
            ),
            Feature(
                "number_bound",
                "a number's bounds",
                # A decoder that holds those of numbers holds those of integers, and not always the other way round.
                {"type": "number", "minimum": 1, "maximum": 5},
                (99.5, -7.5),
                ("minimum", "maximum"),
            ),
            Feature(
                "text_bound",
                "a text's length",
                {"type": "string", "maxLength": 5},
                ("longer than five", "longer still"),
                ("maxlength", "max_length"),
            ),
        )
    }
)
"""The features in the order of what a decoder most likely takes."""
TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        NO_TOOLS: "a request without tools",
        AUTO: "a call that is left to the model",
        PARALLEL: "two calls in one answer",
        FORCED: "a call that is demanded",
        **{name: feature.title for name, feature in FEATURES.items()},
        PARALLEL_STRICT: "two strict calls in one answer",
    }
)
"""All that is found out, in the order in which it is told, in words for people."""


def schema_of(names: Sequence[str], dialect: Dialect) -> dict[str, Any]:
    """The parameters of a strict tool with some features, each as it stands, whatever the dialect makes of it.

    How objects are closed is the dialect's to say, and the words are those of its language for schemas.
    """
    chosen = [FEATURES[name] for name in names]
    openapi = dialect.schema_language == "openapi"
    schema = _object(
        {each.name: each.openapi if openapi and each.openapi is not None else each.schema for each in chosen}
    )
    definitions = {name: item for each in chosen for name, item in each.definitions.items()}
    if definitions:
        schema["defs" if openapi else "$defs"] = definitions
    closes = dialect.state("additionalProperties", False) is not State.REJECTED
    made: dict[str, Any] = _plain(schema, closes=closes)
    return made


def _plain(value: Any, *, closes: bool) -> Any:
    """A schema in plain dicts and lists, without ``additionalProperties`` where that closes nothing."""
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if closes or key != "additionalProperties"}
        return {key: _plain(item, closes=closes) for key, item in kept.items()}
    return [_plain(item, closes=closes) for item in value] if isinstance(value, list) else value


def expected(name: str, dialect: Dialect) -> State:
    """What a dialect says of a feature: it is held, taken and not held, or the request is refused."""
    schema = schema_of([name], dialect)
    if judge(schema, dialect):
        return State.REJECTED
    check = LocalCheck(held(schema, dialect), DRAFTS["2020-12"], assert_formats=False)
    let_in = any(check.admits({name: breach}) for breach in FEATURES[name].breaches)
    return State.IGNORED if let_in or dialect.enforced == "none" else State.ENFORCED
