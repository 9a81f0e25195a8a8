"""What the user listed: members of an enum, pairs for a map, rows for a chart, things one after another."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any, Final

from strictcall.emulator.sensible.prompt import NEAR_AFTER, NEAR_BEFORE, Mention
from strictcall.emulator.sensible.schema import Schema, is_json_text, may_be_null, properties_of, required_of
from strictcall.emulator.sensible.spoken import Field, Spoken, cut
from strictcall.emulator.sensible.words import kind_of, known, split, stem

MISSING: Final = object()
"""The user named nothing for it."""
MOST_ITEMS: Final = 8
_MOST_MEMBERS: Final = 1_000
_EXACT_KINDS: Final = ("language", "currency", "country", "timezone", "symbol", "number")
_ROW: Final = re.compile(
    r"(?:^|[:,;]|\band\b)\s*([^\W\d][\w .-]{0,30}?)\s*[ :=]\s*(\d{1,15}(?:\.\d+)?)\s*(?=[,;.]|\band\b|$)"
)
_AMOUNT: Final = re.compile(r"(\d{1,15}(?:\.\d+)?) ?(?:[^\W\d]+ |€ ?)?(?:for|on) ([^\W\d]{3,40})")
_LIST: Final = re.compile(r"\s*(?::|=|are|is|as|of|to|with)?\s*([^.?!\n;:]{2,200})")
_BETWEEN: Final = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+")
_ENTRY: Final = re.compile(
    r"(?:\bsuch as|\be\.g\.?,?|\bfor example,?|\blike)\s+['\"`]?(\w{2,30})['\"`]?(?:\s*[:=]\s*['\"`]?(\w{1,30}))?"
)


def mentioned(members: list[Any], wanted: Field, spoken: Spoken) -> Iterator[tuple[Any, Mention]]:
    """The members of an enum that the prompt names, and where; unused ones only."""
    members = members[:_MOST_MEMBERS]
    found = itertools.chain(_mentioned_exactly(members, wanted, spoken), _mentioned_in_words(members, wanted, spoken))
    return (pair for pair in found if not spoken.is_for_a_rival(pair[1], wanted))


def _mentioned_exactly(members: list[Any], wanted: Field, spoken: Spoken) -> Iterator[tuple[Any, Mention]]:
    """What the prompt means by its words: "euros" is EUR. A number counts only beside the field's name."""
    texts = [(member, str(member).lower()) for member in members if not isinstance(member, bool)]
    for mention in spoken.prompt.of(*_EXACT_KINDS):
        if mention.start in spoken.used or (mention.kind == "number" and not wanted.nearness(mention)):
            continue
        yield from ((member, mention) for member, text in texts if text == mention.value.lower())


def _mentioned_in_words(members: list[Any], wanted: Field, spoken: Spoken) -> Iterator[tuple[Any, Mention]]:
    prompt = spoken.prompt
    backwards = [(word, index) for index, (word, _) in enumerate(prompt.words)][::-1]
    places = {stem(word): index for word, index in backwards}
    letters = {word: index for word, index in backwards if word not in ("a", "A", "I")}
    for member in members:
        if not isinstance(member, str):
            continue
        parts = [stem(word) for word in split(member) if word not in known().stop_words]
        if len(member) == 1:
            index = letters.get(member)
        else:
            named = parts and all(part in places and part not in prompt.negated for part in parts)
            index = places[parts[0]] if named else None
        mention = None if index is None else _word_at(index, spoken)
        if mention is None or mention.start in spoken.used:
            continue
        if wanted.nearness(mention) or not {*parts} <= spoken.own_words:
            yield member, mention


def _word_at(index: int, spoken: Spoken) -> Mention:
    """A word of the prompt as a mention."""
    words = spoken.prompt.words
    word, start = words[index]
    before = tuple(stem(other) for other, _ in reversed(words[max(0, index - NEAR_BEFORE) : index]))
    after = tuple(stem(other) for other, _ in words[index + 1 : index + 1 + NEAR_AFTER])
    return Mention("word", word, start, start + len(word), before, after)


def pairs(spoken: Spoken) -> list[tuple[str, str]]:
    """The pairs of the prompt that are no property's own, or "200 euros for food"; for the first map that asks."""
    if spoken.paired:
        return []
    own = {"".join(rival.words) for rival in spoken.rivals}
    found = [(key, value) for key, value in spoken.prompt.pairs if "".join(split(key)) not in own]
    amounts = ((match[2], match[1]) for match in _AMOUNT.finditer(spoken.prompt.text))
    return (found or [pair for pair in amounts if pair[0].lower() not in known().stop_words])[:MOST_ITEMS]


def typed(schema: Schema, child: Any, text: str) -> Any:
    """A text as a value of a schema; ``MISSING`` if it cannot be one."""
    plain, _ = schema.plain(child)
    if is_json_text(plain):
        return json.dumps(text, ensure_ascii=False)
    alternatives = [schema.plain(branch)[0] for branch in schema.branches(plain)] or [plain]
    if any(text in (item.get("const"), *_members(item)) for item in alternatives):
        return text
    kinds = {item.get("type") for item in alternatives if "const" not in item and "enum" not in item}
    if kinds & {"integer", "number"} and re.fullmatch(r"-?\d{1,15}(?:\.\d+)?", text):
        return float(text) if "." in text else int(text)
    if "boolean" in kinds and text.lower() in ("true", "false", "on", "off", "yes", "no"):
        return text.lower() in ("true", "on", "yes")
    return text if kinds & {"string", None} else MISSING


def _members(plain: dict[str, Any]) -> list[Any]:
    members = plain.get("enum")
    return members if isinstance(members, list) else []


def is_entry(plain: dict[str, Any]) -> bool:
    """Whether a record is an entry of a map that is written as a list."""
    return {*properties_of(plain)} == {"key", "value"}


def entries(schema: Schema, child: Any, spoken: Spoken) -> dict[str, Any]:
    """The entries of a map whose values have a schema."""
    found = {key: typed(schema, child, text) for key, text in pairs(spoken)}
    kept = {key: value for key, value in found.items() if value is not MISSING}
    spoken.paired = spoken.paired or bool(kept)
    return kept


def example_entry(wanted: Field) -> tuple[str, str | None] | None:
    """The key of a map, and its value where one is told, that a description gives as an example."""
    match = _ENTRY.search(wanted.said)
    return (match[1], match[2]) if match else None


def columns(schema: Schema, plain: dict[str, Any]) -> tuple[str, str] | None:
    """The text and the number of a record that needs just these: a row of a chart."""
    properties = properties_of(plain)
    needed = [name for name in required_of(plain) if name in properties and not may_be_null(schema, properties[name])]
    if len(needed) != 2:
        return None
    children = {name: schema.plain(properties[name])[0] for name in needed}
    texts = (name for name, child in children.items() if child.get("type") == "string" and "enum" not in child)
    text = next(texts, None)
    figure = next((name for name, child in children.items() if child.get("type") in ("integer", "number")), None)
    return (text, figure) if text is not None and figure is not None else None


def rows(schema: Schema, plain: dict[str, Any], spoken: Spoken) -> list[Any]:
    """Rows of a name and a number: ``Lisbon 20, Porto 15``; at least two, or none."""
    names = columns(schema, plain)
    if names is None:
        return []
    properties, required = properties_of(plain), required_of(plain)
    made = []
    for text, figure in _ROW.findall(spoken.prompt.text)[:MOST_ITEMS]:
        value = typed(schema, properties[names[1]], figure)
        if value is not MISSING:
            row = {names[0]: text.strip(), names[1]: value}
            made.append({name: row.get(name) for name in properties if name in row or name in required})
    return made if len(made) > 1 else []


def enumerated(wanted: Field, spoken: Spoken) -> list[str]:
    """What follows the field's name as a list: ``tags a, b and c``; or else all that is quoted."""
    prompt = spoken.prompt
    last = stem(wanted.words[-1]) if wanted.words else None
    for word, start in prompt.words:
        end = start + len(word)
        rest = _LIST.match(prompt.text, end) if stem(word) == last else None
        parts = [part.strip(" \"'`“”") for part in _BETWEEN.split(rest[1])] if rest else []
        if rest and len(parts) > 1 and all(0 < len(part.split()) <= 3 for part in parts):
            spoken.used.update(mention.start for mention in prompt.mentions if end <= mention.start < rest.end())
            return parts
    quoted = [mention for mention in prompt.of("quoted") if mention.start not in spoken.used]
    if kind_of(wanted.words) in ("tag", "name", None, "query", "path") and len(quoted) > 1:
        return [cut(spoken.use(mention)) for mention in quoted]
    return []


def distinct(items: list[Any]) -> list[Any]:
    """The items without those that are there already."""
    return list({json.dumps(item, sort_keys=True): item for item in items}.values())
