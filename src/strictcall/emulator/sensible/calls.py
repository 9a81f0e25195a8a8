"""Answers that look natural: tools, arguments and texts that go with the user's words.

What a sensible answer sends as a strict tool's arguments is always valid: a value that looks natural and is not what
the schema wants gives way to a plainer one, and that to whatever the decoder's grammar allows.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

import jsonschema_rs

from strictcall.emulator.answers.grammar import GrammarRefusedError, Written, grammar
from strictcall.emulator.conversation import Message, OfferedTool, Request
from strictcall.emulator.sensible.choice import Wish, wishes
from strictcall.emulator.sensible.prompt import read
from strictcall.emulator.sensible.schema import Schema, may_be_null, properties_of, required_of
from strictcall.emulator.sensible.spoken import Field, Spoken, cut, named
from strictcall.emulator.sensible.values import TooMuch, Writer
from strictcall.emulator.sensible.words import split, stems

__all__ = ["Wish", "arguments", "output", "preamble", "text", "thought", "wishes"]

MOST_REPEATED: Final = 400
"""How much of each result a text repeats."""
MOST_RIVALS: Final = 60
_SAMPLES: Final = 4
_SAMPLE_BYTES: Final = 4_000
_MOST_MENDED: Final = 20
_MOST_SCHEMA: Final = 200_000
"""A schema longer than this is not compiled into a grammar for a plain fallback."""
_OPENINGS: Final = ("Let me look into that.", "One moment, please.", "I'll check that for you.", "Let me see.")
_FOUND: Final = ("Here is what I found:", "This is what came back:", "Here is the result:")
_PLAIN: Final = (
    "You asked about “{topic}”. I am a stand-in for a model, so take this as a sample answer.",
    "Thank you for your question about “{topic}”. This is a sample answer from an emulated model.",
    "Here is a sample answer about “{topic}”: an emulated model wrote it, and it knows nothing of its own.",
)


def preamble(chosen: Sequence[OfferedTool], rng: random.Random) -> str:
    """What is said beside calls."""
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(tool.name for tool in chosen))
    return f"{rng.choice(_OPENINGS)} I'm calling {names}." if names else rng.choice(_OPENINGS)


def thought(chosen: Sequence[OfferedTool]) -> str:
    """What is thought before calls, or before words."""
    names = " and ".join(dict.fromkeys(tool.name for tool in chosen))
    return f"The user's request needs {names}." if names else "No tool is needed here. I will answer in words."


def arguments(tool: OfferedTool, prompt: str, rng: random.Random, *, schema: Any = None) -> str:
    """JSON text for a call's arguments.

    ``schema`` is what the decoder holds of the tool's schema, in the words of draft 2020-12; where none is given the
    tool's own is taken. The text is valid under it, unless no valid text could be found at all: then it is as near as
    a natural one comes.
    """
    own = tool.schema if isinstance(tool.schema, dict) else {}
    says = (own.get(keyword) for keyword in ("type", "$ref", "allOf", "anyOf", "oneOf"))
    if not any(isinstance(value, str | list) for value in says):
        own = {**own, "type": "object"}  # arguments are an object where nothing else is said
    return _written(tool.name, own, own if schema is None else schema, prompt, rng)


def output(schema: Any, prompt: str, rng: random.Random, *, held: Any = None) -> str:
    """JSON text for an answer that must have a schema; ``held`` is as ``schema`` is for ``arguments``."""
    own = schema if isinstance(schema, dict) else {"type": "object", "properties": {"answer": {"type": "string"}}}
    return _written("", own, own if held is None else held, prompt, rng)


def text(request: Request, rng: random.Random) -> str:
    """A last word: what the tools said, or an answer that is plainly a stand-in."""
    results = [message.text for message in _last_results(request.messages) if message.text.strip()]
    if results:
        parts = [cut(result, MOST_REPEATED).encode("utf-8", "replace").decode() for result in results]
        opening = rng.choice(_FOUND)
        return f"{opening} {parts[0]}" if len(parts) == 1 else "\n".join([opening, *(f"- {part}" for part in parts)])
    topic = Spoken(read(request.prompt), rng).topic()
    return rng.choice(_PLAIN).format(topic=topic) if topic else "Hello! I am a stand-in for a model. What can I do?"


def _last_results(messages: Sequence[Message]) -> list[Message]:
    """What tools answered since the user last spoke."""
    found: list[Message] = []
    for message in reversed(messages):
        if message.role == "user":
            break
        if message.role == "tool":
            found.append(message)
    return found[::-1]


def _written(name: str, own: dict[str, Any], held: Any, prompt: str, rng: random.Random) -> str:
    check = _check(held)
    nearest = "{}"
    for value in _natural(name, own, prompt, rng):
        mended = value if check is None else _mended(Schema(own), check, value)
        if mended is not None:
            return _as_text(mended)
        nearest = _as_text(value) if nearest == "{}" else nearest
    return _sampled(held, rng) or nearest


def _mended(schema: Schema, check: Any, value: Any) -> Any:
    """A value that is valid: without those of its optional properties that are not; ``None`` where that is too few."""
    plain, _ = schema.plain(schema.root)
    properties, required = properties_of(plain), required_of(plain)
    for _ in range(_MOST_MENDED):
        place = _fault(check, value)
        if place is None:
            return value
        name = next(iter(place), None)
        if not isinstance(value, dict) or name not in value or value[name] is None:
            return None
        value = {key: kept for key, kept in value.items() if key != name}
        if name in required:
            if not may_be_null(schema, properties.get(name)):
                return None
            value = {key: value.get(key) for key in properties if key in value or key == name}
    return None


def _fault(check: Any, value: Any) -> list[Any] | None:
    """Where a value is first invalid, as a path into it; ``None`` where it is valid."""
    try:
        error = next(iter(check.iter_errors(value)), None)
    except (ValueError, TypeError):  # numbers or texts that the validator cannot take over
        return []
    return None if error is None else list(error.instance_path)


def _natural(name: str, own: dict[str, Any], prompt: str, rng: random.Random) -> Iterator[Any]:
    """Values that look natural, and then one that passes over what the user said."""
    schema = Schema(own)
    rivals = _fields(schema)
    lone = _texts_needed(schema) == 1
    for words in (prompt, ""):
        spoken = Spoken(read(words), rng, rivals, stems(split(name)), lone)
        writer = Writer(schema, spoken, lambda leaf: _text_of(leaf, rng))
        try:
            yield writer.value(own, Field(()), needed=True)
        except (TooMuch, RecursionError):
            continue


def _fields(schema: Schema) -> tuple[Field, ...]:
    """The fields at the top of a schema and one level below."""
    plain, _ = schema.plain(schema.root)
    found: list[Field] = []
    for name, child in list(properties_of(plain).items())[:MOST_RIVALS]:
        found.append(named(name))
        inner, _ = schema.plain(child)
        item, _ = schema.plain(inner.get("items"))
        found.extend(named(below) for below in [*properties_of(inner), *properties_of(item)][:MOST_RIVALS])
    return tuple(field for field in found[:MOST_RIVALS] if field.words and field.words != split("key"))


def _texts_needed(schema: Schema) -> int:
    """How many texts a call must carry."""
    plain, _ = schema.plain(schema.root)
    properties = properties_of(plain)
    needed = (
        schema.plain(properties[name])[0] for name in list(required_of(plain))[:MOST_RIVALS] if name in properties
    )
    return sum(child.get("type") == "string" and "enum" not in child for child in needed)


def _check(schema: Any) -> Any:
    """A validator, or ``None`` where a schema is none; it never fetches anything."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=False, retriever=_refuse)
    except (ValueError, TypeError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return None


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema and is never fetched")


def _as_text(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return written if written.isprintable() else json.dumps(value)


def _sampled(schema: Any, rng: random.Random) -> str | None:
    """The plainest of a few texts that the grammar of a schema allows; ``None`` where there is none."""
    try:
        if len(json.dumps(schema)) > _MOST_SCHEMA:
            return None
        source = grammar(schema)
    except (GrammarRefusedError, ValueError, RecursionError):
        return None
    whole: list[Written] = []
    for _ in range(_SAMPLES):
        written = source.sample(rng, budget_bytes=_SAMPLE_BYTES)
        if not written.complete:
            break
        whole.append(written)
    return min(whole, key=_strangeness).text if whole else None


def _strangeness(written: Written) -> tuple[int, int]:
    return sum(not (32 <= ord(sign) < 127 and sign != "\\") for sign in written.text), len(written.text)


def _text_of(leaf: dict[str, Any], rng: random.Random) -> str | None:
    """Any text that the schema of a text lets in."""
    wanted = {key: leaf[key] for key in ("pattern", "minLength", "maxLength", "format") if key in leaf}
    written = _sampled({"type": "string", **wanted}, rng)
    return json.loads(written) if written is not None else None
