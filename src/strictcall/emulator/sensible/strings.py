"""Texts that look natural: what the user named, or what a property of that name, format and description usually has."""

from __future__ import annotations

import functools
import json
import re
import uuid
from collections.abc import Iterator
from typing import Any, Final

import jsonschema_rs

from strictcall.emulator.sensible.prompt import Mention
from strictcall.emulator.sensible.schema import is_json_text
from strictcall.emulator.sensible.spoken import Field, Spoken, cut
from strictcall.emulator.sensible.words import Kind, Place, kind_of, known, stem, stems

SOURCES: Final[dict[str, tuple[str, ...]]] = {
    "city": ("city", "name"),
    "country": ("country",),
    "region": ("code",),
    "domain": ("domain",),
    "namespace": ("quoted",),
    "address": ("quoted",),
    "person": ("name",),
    "party": ("email", "city", "handle", "name"),
    "username": ("handle",),
    "email": ("email",),
    "url": ("url",),
    "ip": ("ip",),
    "uuid": ("uuid",),
    "date": ("date",),
    "datetime": ("datetime", "date"),
    "time": ("time",),
    "timezone": ("timezone",),
    "language": ("language",),
    "currency": ("currency", "symbol"),
    "color": ("color",),
    "path": ("path",),
    "repo": ("repo",),
    "sha": ("sha",),
    "expression": ("expression",),
    "symbol": ("symbol", "name"),
    "id": ("code", "uuid", "number"),
    "name": ("quoted", "name"),
    "title": ("quoted",),
    "regex": ("quoted", "symbol"),
    "command": ("quoted",),
    "code": ("quoted",),
    "sql": ("quoted",),
    "selector": ("quoted",),
    "tag": ("quoted",),
}
"""Which mentions of a prompt are values of which kind of text."""
VAGUE: Final = frozenset({"name", "quoted", "code", "symbol", "number"})
"""Mentions that may be anything: an optional property takes one only where its own name stands beside it."""
_SAID_KINDS: Final = (
    ("date", re.compile(r"\bYYYY-MM-DD\b(?!T)(?!.{0,3}HH)|\bISO date\b", re.IGNORECASE)),
    ("datetime", re.compile(r"\bISO[- ]?8601\b|\bRFC ?3339\b|YYYY-MM-DDT", re.IGNORECASE)),
    ("time", re.compile(r"\bHH:MM\b", re.IGNORECASE)),
    ("uuid", re.compile(r"\bUUID\b", re.IGNORECASE)),
    ("timezone", re.compile(r"\bIANA\b|\btime ?zone\b", re.IGNORECASE)),
    ("selector", re.compile(r"\bselectors?\b|\belement reference\b", re.IGNORECASE)),
    ("promql", re.compile(r"\bPromQL\b", re.IGNORECASE)),
    ("email", re.compile(r"\be-?mail address\b", re.IGNORECASE)),
    ("url", re.compile(r"\bURL\b|\bURI\b")),
    ("path", re.compile(r"\bpath (?:to|of)\b|\bfile ?path\b|\bdirectory\b", re.IGNORECASE)),
)
_EXAMPLE: Final = re.compile(
    r"(?:\be\.g\.?,?|\bfor example,?|\bfor instance,?|\bsuch as|\bexamples?:|\blike|\bex:)\s*:?\s*"
    r"(?:\"([^\"\n]{1,120})\"|'([^'\n]{1,120})'|`([^`\n]{1,120})`|“([^”\n]{1,120})”"
    r"|([A-Za-z0-9@#/~.+-][\w@#/~.+:=&?%-]*[\w/])(?=[\s,;).\]]|$))",
    re.IGNORECASE,
)
_OPTIONS: Final = re.compile(
    r"(?:one of|options?|either|possible values|must be|can be|allowed|valid values|values)\b[^'\"`]{0,20}"
    r"(?=['\"`])", re.IGNORECASE,
)  # fmt: skip
_OPTION: Final = re.compile(r"['\"`]([\w.-]{1,40})['\"`]")
_PLAIN: Final = (
    "main", "example", "Example", "EXAMPLE", "abc", "ABC", "A1", "1", "42", "123456", "1.0.0", "v1", "1h", "5m",
    "7d", "PT1H", "2026-06-15", "2026-06", "09:30", "2026-06-15T09:00:00Z", "en", "en-US", "EUR", "#3366cc",
    "3366cc", "665f1c2e9a7b4d0012ab34cd", "9fceb02d0ae598e95dc970b74767f19372d61af8", "example-1", "example_1",
    "ABC-123", "ABC_123", "/example", "example.com", "https://example.com/", "ana@example.com", "+351210000123",
    "0000000000", "0x52908400098527886e0f7030069857d2e4169ee7", "*", "now", "a", "",
)  # fmt: skip
"""What is tried against a pattern when nothing more fitting is."""
_CONSTRAINTS: Final = ("pattern", "format", "minLength", "maxLength")


def string(node: dict[str, Any], wanted: Field, spoken: Spoken, *, needed: bool) -> str | None:
    """A text that the schema's own constraints let in; ``None`` where nothing fits, or where the user named none and
    none is needed.
    """
    fits = _fitting(node)
    as_json = is_json_text(node)
    for text in _candidates(node, wanted, spoken, needed=needed):
        written = json.dumps(text, ensure_ascii=False) if as_json else text
        for shape in (written, _within(node, written)):
            if fits(shape):
                return shape
    return None


def _within(node: dict[str, Any], text: str) -> str:
    most = node.get("maxLength")
    return cut(text, most) if isinstance(most, int) and 0 < most < len(text) else text


def _fitting(node: dict[str, Any]) -> Any:
    leaf = {keyword: node[keyword] for keyword in _CONSTRAINTS if node.get(keyword) is not None}
    if not leaf:
        return lambda text: True
    try:
        return _validator(json.dumps(leaf)).is_valid
    except ValueError:  # what is no schema says nothing
        return lambda text: True


@functools.lru_cache(maxsize=512)
def _validator(leaf: str) -> Any:
    return jsonschema_rs.Draft202012Validator(json.loads(leaf), validate_formats=True)


def _candidates(node: dict[str, Any], wanted: Field, spoken: Spoken, *, needed: bool) -> Iterator[str]:
    kind = kind_wanted(node, wanted)
    told = spoken.told(wanted)
    if told is not None:
        yield _as_kind(kind, told)
    yield from _named(kind, wanted, spoken, needed=needed)
    option = _option(wanted, spoken, needed=needed)
    if option is not None:
        yield option
    if needed:
        yield from _unnamed(node, kind, wanted, spoken)


def kind_wanted(node: dict[str, Any], wanted: Field) -> str | None:
    """The kind of text that a schema wants: by its format, its name, and what is said of it."""
    table = known()
    form = node.get("format")
    if isinstance(form, str) and form in table.formats:
        return table.formats[form]
    kind = (kind_of(wanted.about) if _is_bare(wanted) else None) or kind_of(wanted.words)
    for said, pattern in _SAID_KINDS:
        if pattern.search(wanted.said) and kind in _MAY_BE.get(said, (None,)):
            return said
    return kind


_MAY_BE: Final[dict[str, tuple[str | None, ...]]] = {
    "date": (None, "date", "datetime", "duration", "time"),
    "datetime": (None, "datetime", "time", "date"),
    "time": (None, "time", "datetime"),
    "uuid": (None, "id", "name"),
    "promql": (None, "expression", "query"),
    "path": (None, "name"),
    "url": (None, "name"),
}
"""Which kinds, by their names, a description may correct."""


def _is_bare(wanted: Field) -> bool:
    return wanted.words in ((), ("name",), ("value",), ("item",), ("key",)) and bool(wanted.about)


def _as_kind(kind: str | None, text: str) -> str:
    tables = {"language": known().languages, "currency": known().currencies}
    table = tables.get(kind or "")
    return table.get(stem(text) if kind == "currency" else text.lower(), text) if table else text


def _named(kind: str | None, wanted: Field, spoken: Spoken, *, needed: bool) -> Iterator[str]:
    """Values that the prompt names: those beside the field's own name first."""
    sources = SOURCES.get(kind or "", ())
    said = _usual_said(kind, spoken)
    if said is not None:
        yield said
    for source in dict.fromkeys((*sources, *(() if kind in _EXACT else ("quoted",)))):
        mention = spoken.near((source,), wanted)
        if mention is not None and _suits(kind, mention, spoken):
            yield _written(kind, spoken.use(mention), mention, spoken)
    for source in sources:
        mention = spoken.any((source,), wanted) if needed or source not in VAGUE else None
        if mention is not None and _suits(kind, mention, spoken):
            yield _written(kind, spoken.use(mention), mention, spoken)
    derived = _derived(kind, wanted, spoken) if needed or (kind in ("field", "operand") and _is_term(wanted)) else None
    if derived is not None:
        yield derived


def _usual_said(kind: str | None, spoken: Spoken) -> str | None:
    """A usual value of the kind that the prompt has as a word: "critical" for a severity."""
    row = known().kinds.get(kind or "")
    if row is None or row.free or kind not in _WORDS_KINDS:
        return None
    own = (value for value in row.values if stems((value.lower(),)) - spoken.own_words)
    return next((value for value in own if stem(value) in spoken.prompt.stems), None)


_WORDS_KINDS: Final = frozenset({"status", "severity", "format", "unit", "weekday", "month"})
_EXACT: Final = frozenset(
    {"date", "datetime", "time", "timezone", "email", "url", "uuid", "ip", "city", "id", "domain"}
)
"""Kinds that not just anything quoted is."""
_AT: Final = frozenset({"in", "to", "from", "near", "at"})


def _suits(kind: str | None, mention: Mention, spoken: Spoken) -> bool:
    """Whether a name may be a city's: beside known cities, only where a word says so."""
    if kind != "city" or mention.kind == "city" or next(spoken.prompt.of("city"), None) is None:
        return True
    return bool(_AT.intersection(mention.before[:1]))


def _written(kind: str | None, value: str, mention: Mention, spoken: Spoken) -> str:
    if kind == "datetime" and mention.kind == "date":
        time = next((item for item in spoken.prompt.of("time") if item.start not in spoken.used), None)
        return f"{value}T{spoken.use(time) if time else '09:00'}:00Z"
    return value


def _is_term(wanted: Field) -> bool:
    """Whether a field is a side of a comparison, and not a column to sort by."""
    return wanted.words[-1:] in (("field",), ("equals",), ("operand",), ("eq",))


def _place(kind: str, wanted: Field, spoken: Spoken) -> Place | None:
    """The city from which a value of this kind follows: the one beside which the field's name or cue stands, and each
    for one field only as long as there are others.
    """
    cities = list(spoken.prompt.of("city"))
    free = [mention for mention in cities if (kind, mention.start) not in spoken.derived] or cities
    mention = max(free, key=lambda mention: (wanted.nearness(mention), -mention.start), default=None)
    if mention is None:
        return None
    spoken.derived.add((kind, mention.start))
    return known().cities[mention.value.lower()]


def _derived(kind: str | None, wanted: Field, spoken: Spoken) -> str | None:
    """What follows from a city or an address that the prompt names."""
    if kind in ("timezone", "country", "country_code"):
        place = _place(kind, wanted, spoken)
        if place is not None:
            return {"timezone": place.timezone, "country": place.country}.get(kind, place.code)
    if kind in ("field", "operand") and spoken.prompt.pairs:
        return spoken.prompt.pairs[0][0 if kind == "field" else 1]
    if kind == "domain":
        url = next(spoken.prompt.of("url"), None)
        return re.sub(r"^\w+://([^/:?#]+).*$", r"\1", url.value) if url else None
    return None


def _option(wanted: Field, spoken: Spoken, *, needed: bool) -> str | None:
    """One of the values that the description lists: the one that the prompt names, or the first."""
    found = _OPTIONS.search(wanted.said)
    options = _OPTION.findall(wanted.said, found.end())[:20] if found else []
    for option in _OPTION.findall(wanted.said)[:20]:
        if stems((option.lower(),)) - spoken.own_words & spoken.prompt.stems:
            return str(option)
    return str(options[0]) if options and needed else None


def _unnamed(node: dict[str, Any], kind: str | None, wanted: Field, spoken: Spoken) -> Iterator[str]:
    """What a text is where the user named none: most fitting first."""
    examples = node.get("examples")
    for value in (node.get("default"), node.get("example"), *(examples[:5] if isinstance(examples, list) else ())):
        if isinstance(value, str):
            yield value
    table = known()
    form = node.get("format")
    yield from table.format_values.get(form, ()) if isinstance(form, str) else ()
    if kind == "uuid":
        yield str(uuid.UUID(int=spoken.rng.getrandbits(128), version=4))
    row = table.kinds.get(kind or "")
    if row is not None and row.free:
        yield from _free(kind, spoken)
    yield from _examples_said(wanted.said)
    if kind == "datetime":
        yield from _later(spoken)
    yield from _usual(row, spoken) if row else ()
    yield from _made_up(kind, wanted, spoken)
    yield from _PLAIN
    yield _long_enough(node, spoken)


def _later(spoken: Spoken) -> Iterator[str]:
    """An hour after what the prompt names: a second moment beside the one that it speaks of."""
    date, time = next(spoken.prompt.of("date"), None), next(spoken.prompt.of("time"), None)
    if date is not None and time is not None and time.value < "23":
        yield f"{date.value}T{int(time.value[:2]) + 1:02d}{time.value[2:]}:00Z"


def _usual(row: Kind, spoken: Spoken) -> tuple[str, ...]:
    """The usual values of a kind, beginning with another one each time."""
    start = spoken.turns[row.name] % max(len(row.values), 1)
    spoken.turns[row.name] += 1
    return (*row.values[start:], *row.values[:start])


def _free(kind: str | None, spoken: Spoken) -> Iterator[str]:
    topic = spoken.topic()
    if kind == "message":
        yield spoken.message() or "Hello!"
    elif kind == "title":
        short = cut(topic, 60)
        yield (short[:1].upper() + short[1:]) or "A short note"
    else:
        yield topic or "latest news"


def _examples_said(description: str) -> Iterator[str]:
    for match in _EXAMPLE.finditer(description[:1_000]):
        quoted = match[1] or match[2] or match[3] or match[4]
        bare = match[5]
        if quoted:
            yield quoted
        elif bare and not bare.islower():
            yield bare


def _made_up(kind: str | None, wanted: Field, spoken: Spoken) -> Iterator[str]:
    words = [word for word in (*wanted.about[-1:], *wanted.words) if word not in ("name", "id", "ids", "value", "key")]
    noun = " ".join(words[-2:]) or "item"
    if kind == "id":
        yield f"{noun.replace(' ', '-')}-{spoken.rng.randint(1000, 9999)}"
    elif kind == "name":
        yield f"Example {noun}"
    else:
        topic = spoken.topic() if spoken.lone else ""
        yield topic or f"example {noun}"


def _long_enough(node: dict[str, Any], spoken: Spoken) -> str:
    """The user's words, said as often as it takes to be long enough; bounded."""
    least = node.get("minLength")
    words = spoken.topic() or "example"
    least = min(least, 20_000) if isinstance(least, int) else 1
    return ((words + " ") * (least // (len(words) + 1) + 1))[: max(least, 1)]
