"""The tools that are sent: real ones from files of this project, and traps that an engine falls into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from strictcall import Tool
from strictcall.source.load import read_source

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "tools.json"
SAMPLE = ROOT / "tests" / "data" / "tools_sample.jsonl"
PROBES = ROOT / "tests" / "data" / "probes.json"

FROM_SAMPLE = (
    *("plot_function", "app_response", "fetch", "validate_model_config", "variant_searcher", "getSecondOpinion"),
    *("wait", "store_data", "query", "scrape_flights_tool", "add_prompt", "queryHistoricalData", "update_ssl"),
    *("update_plugin_config", "create-crypto-payee", "get-smzdm-rank", "suggest_meeting_point"),
    *("apply_picture_effects", "random_choices", "whois_ip", "update_issue_labels", "add_comment_to_pending_review"),
    *("personality_assessment.calculate_score", "assign_copilot_to_issue_with_intent"),
)
FROM_PROBES = (
    *("map_of_objects", "named_and_free", "null_or_absent", "required_nullable", "recursive_filter", "tuple_open"),
    *("odd_names", "tagged_union", "overlapping_union", "mixed_enum", "deep_optionals", "big_numbers"),
)


def _closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


TRAPS: dict[str, tuple[str, dict[str, Any]]] = {
    "send_mail": (
        "Send a mail",
        _closed(to={"type": "string", "pattern": r"^(?!\.)[A-Za-z0-9._]+@[a-z]+\.[a-z]{2,}$"}, text={"type": "string"}),
    ),
    "find_code": (
        "Find a product by the code in its name",
        _closed(code={"type": "string", "pattern": "[A-Z]{2}-\\d+"}),
    ),
    "save_tree": (
        "Save a tree of folders",
        {
            "type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["name"],
            "additionalProperties": False,
        },
    ),
    "put_value": ("Store any value under a key", _closed(key={"type": "string"}, value=True)),
    "roll_dice": (
        "Roll different dice",
        _closed(
            sides={"type": "array", "items": {"enum": [4, 6, 8]}, "minItems": 3, "maxItems": 3, "uniqueItems": True}
        ),
    ),
    "set_price": ("Set a price", _closed(price={"type": "number", "minimum": 1000, "maximum": 2000})),
    "place": (
        "Place a figure on the board, by column and row",
        _closed(at={"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False}),
    ),
    "tag": (
        "Tag a picture with names and weights",
        _closed(
            tags={"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 1, "maxProperties": 3}
        ),
    ),
}
# Sent once more as their authors wrote them.
AS_WRITTEN = (*TRAPS, "set_labels", "run_query", "plot_function", "wait", "store_data", "tuple_open", "named_and_free")


def last_name(name: str) -> str:
    """The part of a name behind the server's."""
    return name.rpartition("/")[2]


def chosen() -> list[Tool]:
    """The tools, in a fixed order; each last name stands for one tool only.

    Raises ``LookupError`` where a file no longer holds one of them.
    """
    read = read_source(str(EXAMPLES))
    sample = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    by_name = {last_name(entry["name"]): entry for entry in reversed(sample)}
    by_id = {probe["id"]: probe for probe in json.loads(PROBES.read_text(encoding="utf-8"))}
    return [
        *read.tools,
        *(Tool(by_name[name]["name"], "", by_name[name]["schema"]) for name in FROM_SAMPLE),
        *(Tool(name, by_id[name]["title"], by_id[name]["schema"]) for name in FROM_PROBES),
        *(Tool(name, description, schema) for name, (description, schema) in TRAPS.items()),
    ]
