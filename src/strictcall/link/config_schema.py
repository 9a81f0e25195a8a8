"""The JSON Schema of a configuration file, for editors and for whoever checks files without strictcall."""

from __future__ import annotations

from typing import Any

from strictcall.dialect.registry import dialects
from strictcall.link.config import Config
from strictcall.link.configuration import NO_TAGS
from strictcall.tagged.registry import AUTO, FAMILIES


def config_schema() -> dict[str, Any]:
    """The schema, draft 2020-12: what ``Config`` takes, with the names of the dialects and of the formats of calls."""
    schema = Config.model_json_schema()
    tags = [AUTO, NO_TAGS, *(name for family in FAMILIES for name in (family.name, *family.also))]
    for definition in [schema, *schema["$defs"].values()]:
        fields = definition.get("properties", {})
        _limit(fields.get("dialect"), [dialect.name for dialect in dialects()])
        _limit(fields.get("tagged"), tags)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "The configuration of strictcall",
    }


def _limit(field: dict[str, Any] | None, names: list[str]) -> None:
    """Say which texts an optional text takes."""
    for branch in field["anyOf"] if field else ():
        if branch["type"] == "string":
            branch["enum"] = names
