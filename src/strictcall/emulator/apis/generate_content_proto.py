"""Protobuf's JSON as Google's servers read it: which fields each message of Gemini's API has, and what is in them.

Sources: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/caching (``Content``, ``Tool``,
``Schema``) and the types of https://github.com/googleapis/python-genai (2026-08). Names are taken in camelCase and in
snake_case, one value where a list is meant, numbers as text, and enums in any case; what is no field is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.emulator.apis.reading import Place
from strictcall.emulator.refusal import Refusal

MESSAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "GenerateContentRequest": {
        "model": "string",
        "contents": "*Content",
        "system_instruction": "Content",
        "tools": "*Tool",
        "tool_config": "ToolConfig",
        "safety_settings": "*Any",
        "generation_config": "GenerationConfig",
        "cached_content": "string",
        "labels": "Any",
        "service_tier": "Any",
        "store": "bool",
    },
    "Content": {"parts": "*Part", "role": "string"},
    "Part": {
        "text": "string",
        "inline_data": "Blob",
        "file_data": "FileData",
        "function_call": "FunctionCall",
        "function_response": "FunctionResponse",
        "executable_code": "Any",
        "code_execution_result": "Any",
        "tool_call": "Any",
        "tool_response": "Any",
        "thought": "bool",
        "thought_signature": "bytes",
        "video_metadata": "Any",
        "media_resolution": "Any",
        "part_metadata": "Struct",
    },
    "Blob": {"mime_type": "string", "data": "bytes", "display_name": "string"},
    "FileData": {"mime_type": "string", "file_uri": "string", "display_name": "string"},
    "FunctionCall": {
        "id": "string",
        "name": "string",
        "args": "Struct",
        "partial_args": "*Any",
        "will_continue": "bool",
    },
    "FunctionResponse": {
        "id": "string",
        "name": "string",
        "response": "Struct",
        "parts": "*Any",
        "will_continue": "bool",
        "scheduling": "Any",
    },
    "Tool": {
        "function_declarations": "*FunctionDeclaration",
        "code_execution": "Any",
        "computer_use": "Any",
        "enterprise_web_search": "Any",
        "file_search": "Any",
        "google_maps": "Any",
        "google_search": "Any",
        "google_search_retrieval": "Any",
        "mcp_servers": "*Any",
        "retrieval": "Any",
        "url_context": "Any",
    },
    "FunctionDeclaration": {
        "name": "string",
        "description": "string",
        "parameters": "Schema",
        "parameters_json_schema": "Any",
        "response": "Schema",
        "response_json_schema": "Any",
        "behavior": "Any",
    },
    "ToolConfig": {
        "function_calling_config": "FunctionCallingConfig",
        "retrieval_config": "Any",
        "include_server_side_tool_invocations": "bool",
    },
    "FunctionCallingConfig": {
        "mode": "FunctionCallingConfig.Mode",
        "allowed_function_names": "*string",
        "stream_function_call_arguments": "bool",
    },
    "GenerationConfig": {
        "candidate_count": "int32",
        "enable_enhanced_civic_answers": "bool",
        "frequency_penalty": "float",
        "logprobs": "int32",
        "max_output_tokens": "int32",
        "media_resolution": "Any",
        "presence_penalty": "float",
        "response_json_schema": "Any",
        "response_logprobs": "bool",
        "response_mime_type": "string",
        "response_modalities": "*string",
        "response_schema": "Schema",
        "seed": "int32",
        "speech_config": "Any",
        "stop_sequences": "*string",
        "temperature": "float",
        "thinking_config": "ThinkingConfig",
        "top_k": "float",
        "top_p": "float",
        "image_config": "Any",
    },
    "ThinkingConfig": {"include_thoughts": "bool", "thinking_budget": "int32", "thinking_level": "Any"},
}
"""The fields of each message and their types; ``*`` is before the type of a repeated field. ``Any`` is not read."""
ENUMS: Final[Mapping[str, tuple[str, ...]]] = {
    "FunctionCallingConfig.Mode": ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"),
}
"""The values of each enum, by their numbers."""
ONE_OF: Final[Mapping[str, frozenset[str]]] = {
    "Part": frozenset(
        {
            "text", "inline_data", "file_data", "function_call", "function_response", "executable_code",
            "code_execution_result", "tool_call", "tool_response",
        }
    ),
}  # fmt: skip
"""The fields of a message of which only one may be set: the oneof ``data``."""
SCHEMA_NAMES: Final[Mapping[str, str]] = {
    "any_of": "anyOf",
    "max_items": "maxItems",
    "min_items": "minItems",
    "max_length": "maxLength",
    "min_length": "minLength",
    "max_properties": "maxProperties",
    "min_properties": "minProperties",
    "property_ordering": "propertyOrdering",
    "additional_properties": "additionalProperties",
}
"""The fields of ``Schema`` whose names differ in snake_case."""
_COUNTS: Final = frozenset({"maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties"})
MOST_LEVELS: Final = 100
"""Google's reader of JSON goes no deeper."""
_PACKAGE: Final = "type.googleapis.com/google.ai.generativelanguage.v1beta"
_WHOLE: Final = re.compile(r"-?\d{1,10}")
_INT32: Final = 2**31


def snake(name: str) -> str:
    """A field's name as the messages write it."""
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)


def written(place: Place) -> str:
    """A place as Google's errors write it: ``contents[0].parts[1]``."""
    text = "".join(f"[{token}]" if isinstance(token, int) else f".{token}" for token in place)
    return text.removeprefix(".")


@dataclass
class Reader:
    """Reads messages; every complaint is noted, and all are told at once.

    ``unknown`` are the fields of the request itself that there are not.
    """

    problems: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def request(self, body: Any) -> dict[str, Any]:
        """A request's body with its names in snake_case. Raises ``Refusal`` for what is not in the specification."""
        read: dict[str, Any] = self.value(body, "GenerateContentRequest", ()) or {}
        if self.problems:
            raise Refusal("\n".join(self.problems))
        return read

    def value(self, value: Any, kind: str, place: Place) -> Any:
        """A value of a type; ``None`` where it is null or refused."""
        if value is None:
            return None
        if len(place) > MOST_LEVELS:
            raise Refusal(f"Message too deep. Max recursion depth reached for key '{place[-1]}'")
        if kind in MESSAGES:
            return self._message(value, kind, place)
        if kind in ENUMS:
            return self._enum(value, kind, place)
        if kind == "Schema":
            return self._schema(value, place)
        if kind == "Struct" and not isinstance(value, dict):
            self._invalid(value, "type.googleapis.com/google.protobuf.Struct", place)
            return None
        return self._scalar(value, kind, place) if kind in _SCALARS else value

    def _message(self, value: Any, kind: str, place: Place) -> dict[str, Any] | None:
        if not isinstance(value, dict):
            self._invalid(value, f"{_PACKAGE}.{kind}", place)
            return None
        read: dict[str, Any] = {}
        for given, item in value.items():
            name = snake(given)
            found = MESSAGES[kind].get(name)
            if found is None:
                self._no_field(given, place)
            elif item is not None:
                one_of = ONE_OF.get(kind, frozenset())
                if name in one_of and not one_of.isdisjoint(read):
                    where = f"Invalid value at '{written(place)}' (oneof)"
                    self.problems.append(f"{where}, oneof field 'data' is already set. Cannot set '{given}'")
                    continue
                read[name] = self._field(item, found, given, (*place, name))
        return read

    def _field(self, value: Any, kind: str, given: str, place: Place) -> Any:
        if kind.startswith("*"):
            if not isinstance(value, list):
                return [self.value(value, kind[1:], place)]
            return [self._item(item, kind[1:], (*place, index)) for index, item in enumerate(value)]
        if isinstance(value, list) and kind not in ("Any", "Schema"):
            where = f" at '{written(place[:-1])}'" if place[:-1] else ""
            problem = f'Invalid JSON payload received. Unknown name "{given}"{where}: '
            self.problems.append(problem + "Proto field is not repeating, cannot start list.")
            return None
        return self.value(value, kind, place)

    def _item(self, value: Any, kind: str, place: Place) -> Any:
        """An item of a repeated field, which may not be null."""
        if value is None:
            self._invalid(value, kind if kind not in MESSAGES else f"{_PACKAGE}.{kind}", place)
        return self.value(value, kind, place)

    def _enum(self, value: Any, kind: str, place: Place) -> str | None:
        names = ENUMS[kind]
        if isinstance(value, str) and value.upper() in names:
            return value.upper()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
            return names[value]
        self._invalid(value, f"{_PACKAGE}.{kind}", place)
        return None

    def _scalar(self, value: Any, kind: str, place: Place) -> Any:
        read = _SCALARS[kind](value)
        if read is None and kind == "bytes" and isinstance(value, str):
            problem = f"Invalid value at '{written(place)}' (TYPE_BYTES), Base64 decoding failed for {_shown(value)}"
            self.problems.append(problem)
        elif read is None:
            self._invalid(value, f"TYPE_{kind.upper()}", place)
        return read

    def _schema(self, value: Any, place: Place, levels: int = 0) -> Any:
        """A schema with the names of its fields in camelCase, as the dialect has them; it is judged afterwards."""
        if not isinstance(value, dict):
            return value
        if levels > MOST_LEVELS:
            raise Refusal("Message too deep. Max recursion depth reached for key 'parameters'")
        return dict(self._schema_fields(value, place, levels + 1))

    def _schema_fields(self, value: dict[str, Any], place: Place, levels: int) -> Iterator[tuple[str, Any]]:
        for given, item in value.items():
            if item is None:
                continue
            name = SCHEMA_NAMES.get(given, given)
            if name in ("items", "additionalProperties"):
                yield name, self._schema(item, place, levels)
            elif name == "anyOf" and isinstance(item, list):
                yield name, [self._schema(branch, place, levels) for branch in item]
            elif name == "properties" and isinstance(item, dict):
                yield name, {key: self._schema(held, place, levels) for key, held in item.items()}
            elif name in _COUNTS and isinstance(item, str) and _WHOLE.fullmatch(item):
                yield name, int(item)
            else:
                yield name, item

    def _no_field(self, given: str, place: Place) -> None:
        if not place:
            self.unknown.append(given)
        else:
            self.problems.append(no_field(given, written(place)))

    def _invalid(self, value: Any, kind: str, place: Place) -> None:
        where = f" at '{written(place)}'" if place else ""
        self.problems.append(f"Invalid value{where} ({kind}), {_shown(value)}")


def no_field(name: str, where: str) -> str:
    """What is said to a name that is no field of the message at a place."""
    at = f" at '{where}'" if where else ""
    return f'Invalid JSON payload received. Unknown name "{name}"{at}: Cannot find field.'


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> Any:
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else _only(value, bool)


def _only(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else None


def _whole(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and -_INT32 <= value < _INT32 else None


def _number(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bytes(value: Any) -> Any:
    """Base64, of either alphabet, its padding complete or not there."""
    if not isinstance(value, str):
        return None
    text = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return value


_SCALARS: Final = {
    "string": _text,
    "bool": _flag,
    "int32": _whole,
    "float": _number,
    "bytes": _bytes,
}
"""How each scalar type is read; ``None`` is what is not of the type."""
_MOST_SHOWN: Final = 100


def _shown(value: Any) -> str:
    """A value within a message; containers are only named, however deep they are."""
    if isinstance(value, dict | list):
        return "{...}" if isinstance(value, dict) else "[...]"
    text = json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "..."
