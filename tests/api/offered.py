"""Tools that the tests of several APIs offer, and how one of them is called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from strictcall import Tool, Toolset
from strictcall.dialect.registry import load

SEARCH = Tool(
    "search",
    "Find things",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["query"],
    },
)
PING = Tool("ping", None, {"type": "object", "properties": {}, "additionalProperties": False})
FAR = Tool("far away!", "Not here", {"type": "object", "properties": {"x": {"$ref": "https://example.com/x.json"}}})
"""Loose under every dialect, for what it refers to is not fetched; under some its name is not legal either."""
FAR_NAME = "far_away_7ttd2u2d"
ARGUMENTS = {"query": "thé 😀", "tags": {"a": "1"}}
"""Arguments of ``search`` as it declared them."""
OPENAI = '{"query": "thé 😀", "limit": null, "tags": [{"key": "a", "value": "1"}]}'
"""The same as a model writes them under OpenAI's dialect."""
OPENAI_OBJECT: dict[str, Any] = {"query": "thé 😀", "limit": None, "tags": [{"key": "a", "value": "1"}]}
ANTHROPIC: dict[str, Any] = {"tags": [{"key": "a", "value": "1"}], "query": "thé 😀"}
"""The same under Anthropic's dialect, in an order of the model's own."""
OUTPUT = {"type": "object", "properties": {"ok": {"type": "boolean"}, "note": {"type": "string"}}, "required": ["ok"]}
"""A schema for the answer."""


def tools(dialect: str, *offered: Tool) -> Toolset:
    """A toolset of these tools, all three where none are named."""
    return Toolset(offered or (SEARCH, PING, FAR), dialect)


def one_at_a_time(dialect: str, *offered: Tool) -> Toolset:
    """The same under a dialect that forbids parallel calls beside strict tools."""
    return Toolset(offered or (SEARCH,), replace(load(dialect), parallel_with_strict=False))
