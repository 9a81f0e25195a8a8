"""JSON texts that a schema allows: random walks through a grammar that llguidance makes of it.

The grammar runs over single bytes, so every text it allows can come up, not only the texts of some vocabulary. What is
known of llguidance 1.9.1 and seen to here: it turns integers beyond 64 bits into others, it lets some exclusive bounds
in, and it takes only some formats.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Final

import jsonschema_rs
from llguidance import LLMatcher, LLTokenizer
from llguidance._tokenizer import TokenizerWrapper

from strictcall.dialect.held import held
from strictcall.dialect.model import Dialect
from strictcall.emulator.answers.interesting import BOUNDS, Hints, is_number, near, plain_words
from strictcall.emulator.answers.layout import laid_out
from strictcall.emulator.answers.walk import END, MOODS, SHORT, Walk
from strictcall.errors import StrictCallError

FORMATS: Final = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}
)
"""The formats that llguidance holds; it refuses a schema with another one."""
OPTIONS: Final[dict[str, Any]] = {"whitespace_flexible": False, "json_allow_general_unicode_escapes": True}
LARGEST_HELD: Final = 2**53
"""Bounds beyond this are brought in: llguidance refuses some of them, and rounds others."""
_TRIES: Final = 14
_FIRST_TRIES: Final = 10
_FRESH_AFTER: Final = 2_000
"""A grammar's automaton grows while it is used; after so many samples it is made anew."""
_LONGEST_REASON: Final = 200
_OUTSIDE: Final = "outside the limits that arguments have"


class GrammarRefusedError(StrictCallError):
    """No grammar can be made of a schema; ``reason`` is one line that says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"no grammar can be made of this schema: {self.reason}"


@dataclass(frozen=True, slots=True)
class Written:
    """A text as a model wrote it; not ``complete`` where its bytes ran out first."""

    text: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """One text and the JSON value that it holds."""

    text: str
    value: Any


class _Bytes:
    """A vocabulary of the 256 bytes and an end mark."""

    eos_token_id = END
    bos_token_id = None
    tokens: ClassVar[list[bytes]] = [*(bytes([byte]) for byte in range(256)), b"\xff<end>"]
    special_token_ids: ClassVar[list[int]] = [END]

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


@cache
def _tokenizer() -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=END + 1, slices=[])


_EXCLUSIVE: Final = frozenset({"exclusiveMinimum", "exclusiveMaximum"})


def prepared(schema: Any, dialect: Dialect) -> Any:
    """What a dialect's decoder holds of a schema, formats among it as far as a grammar can hold them."""
    formats = FORMATS if dialect.formats is None else dialect.formats & FORMATS
    return held(schema, dataclasses.replace(dialect, formats=formats), formats=True)


def flawed(schema: Any) -> bool:
    """Whether llguidance may write what the schema excludes: it lets some exclusive bounds in, and means more than ECMA
    262 by a pattern's dot and by its sign for a space.
    """
    if isinstance(schema, dict):
        pattern = schema.get("pattern")
        odd = isinstance(pattern, str) and ("." in pattern or "\\s" in pattern)
        return odd or not _EXCLUSIVE.isdisjoint(schema) or any(map(flawed, schema.values()))
    return isinstance(schema, list) and any(map(flawed, schema))


def faithful(schema: Any) -> bool:
    """Whether llguidance can write every literal of a schema: it silently turns integers beyond 64 bits into others."""
    if isinstance(schema, dict):
        return all(map(faithful, schema.values()))
    if isinstance(schema, list):
        return all(map(faithful, schema))
    return not isinstance(schema, int) or -(2**63) <= schema < 2**63


def brought_in(schema: Any) -> Any:
    """A schema with its bounds brought in and its literals thinned to what llguidance can hold: it admits less."""
    if isinstance(schema, list):
        return [brought_in(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in BOUNDS and is_number(value) and keyword != "multipleOf":
            kept[keyword] = max(-LARGEST_HELD, min(LARGEST_HELD, value))
        elif keyword == "enum" and isinstance(value, list):
            kept[keyword] = [item for item in value if faithful(item)] or value
        else:
            kept[keyword] = brought_in(value)
    return kept


class Grammar:
    """Samples JSON texts that a schema allows. Raises ``GrammarRefusedError`` for a schema that llguidance does not
    take, or whose literals it cannot write.

    ``lenient``: what llguidance does not know is passed over, so samples may break the schema. Safe to use from several
    threads at once, each with its own source of chance.
    """

    def __init__(self, schema: Any, *, lenient: bool = False) -> None:
        self._matcher, self._made_of, exact = _matcher_of(schema, lenient=lenient)
        self._hints = _hints(schema)
        self._used = 0
        self._check = _validator(schema) if flawed(schema) or not exact else None

    def sample(self, rng: random.Random, *, budget_bytes: int) -> Written:
        """One text within a budget; cut off where the budget ran out, which a large one rarely does.

        Where none of a few walks ended in a value that may stand, what the last one wrote is given as not complete.
        """
        mood = rng.choice(list(MOODS.values()))
        text = ""
        for attempt in range(_TRIES):
            walk = Walk(self._fresh_matcher(), rng, mood, self._hints, budget_bytes)
            ending = walk.run()
            text = bytes(walk.out[:budget_bytes]).decode(errors="ignore")
            found = read(bytes(walk.out)) if ending == "whole" and len(walk.out) <= budget_bytes else None
            if found is not None and (self._check is None or self._check.is_valid(found.value)):
                return Written(laid_out(found.text, rng, budget_bytes), complete=True)
            if ending == "cut" or attempt == _FIRST_TRIES:
                if mood is SHORT:
                    break
                mood = SHORT
        return Written(text, complete=False)

    def raw_sample(self, rng: random.Random, *, budget_bytes: int) -> Sample | None:
        """What one walk wrote, unchecked against the schema; nothing where it is not whole or outside the limits that
        arguments have. For asking whether llguidance and a validator agree.
        """
        walk = Walk(self._fresh_matcher(), rng, rng.choice(list(MOODS.values())), self._hints, budget_bytes)
        return read(bytes(walk.out)) if walk.run() == "whole" else None

    def _fresh_matcher(self) -> LLMatcher:
        self._used += 1
        if self._used % _FRESH_AFTER == 0:
            self._matcher = LLMatcher(_tokenizer(), self._made_of, log_level=0)
        return self._matcher.deep_copy()


@lru_cache(maxsize=128)
def _cached(text: str, *, lenient: bool) -> Grammar:
    return Grammar(json.loads(text), lenient=lenient)


def grammar(schema: Any, *, lenient: bool = False) -> Grammar:
    """The grammar of a schema; the last ones asked for are kept. Raises ``GrammarRefusedError``."""
    try:
        text = json.dumps(schema)
        return _cached(text, lenient=lenient)
    except RecursionError:
        raise GrammarRefusedError("it is nested too deep") from None
    except ValueError:
        raise GrammarRefusedError("it holds a number of too many digits") from None


class Sampler:
    """Samples of one schema, unchecked. Raises ``GrammarRefusedError`` for a schema that llguidance does not take; one
    whose literals it cannot write has no samples.
    """

    BUDGET: Final = 6_000

    def __init__(self, schema: Any) -> None:
        self._grammar = Grammar(schema) if faithful(schema) or faithful(brought_in(schema)) else None

    def samples(self, count: int, seed: int) -> Iterator[Sample]:
        """At most ``count`` samples from one seed: a walk that ends nowhere gives none."""
        if self._grammar is None:
            return
        rng = random.Random(seed)  # noqa: S311 - a seed, not a secret
        for _ in range(count):
            found = self._grammar.raw_sample(rng, budget_bytes=self.BUDGET)
            if found is not None:
                yield found


def read(text: bytes) -> Sample | None:
    """The sample that a text holds, or nothing where it is outside the limits that arguments have: a number beyond a
    double, a name twice in one object, half a surrogate pair, nesting too deep to read.
    """
    try:
        decoded = text.decode()
        value = json.loads(decoded, object_pairs_hook=_no_duplicates, parse_float=_finite)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return Sample(decoded, value)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(_OUTSIDE)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(_OUTSIDE)
    return number


def _matcher_of(schema: Any, *, lenient: bool) -> tuple[LLMatcher, str, bool]:
    """A matcher, the grammar it was made of, and whether that is the schema's own."""
    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        raise GrammarRefusedError("it is no object" if schema is not False else "it admits nothing")
    reason = "an integer beyond 64 bits stands among its literals"
    for exact in (True, False):
        candidate = schema if exact else brought_in(schema)
        if not faithful(candidate):
            continue
        options: Any = {**OPTIONS, "lenient": lenient}
        try:
            made_of = LLMatcher.grammar_from_json_schema(json.dumps(candidate), overrides=options)
        except ValueError as error:  # half a surrogate pair, a number that is none
            raise GrammarRefusedError(f"it is no JSON that can be read: {error}") from None
        matcher = LLMatcher(_tokenizer(), made_of, log_level=0)
        if not matcher.is_error():
            return matcher, made_of, exact
        reason = " ".join(matcher.get_error().split())[:_LONGEST_REASON]
    raise GrammarRefusedError(reason)


def _validator(schema: Any) -> Any:
    """A validator of a schema, or nothing where it cannot be made; it never fetches anything."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=False, retriever=_refuse)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return None


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema and is never fetched")


def _hints(schema: Any) -> Hints:
    names: dict[bytes, None] = {}
    numbers: dict[str, None] = {}
    runs: dict[str, None] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(reversed(node))
        elif isinstance(node, dict):
            properties = node.get("properties")
            for name in properties if isinstance(properties, dict) else ():
                names[json.dumps(name, ensure_ascii=False)[1:].encode(errors="replace")] = None
            for bound in (node.get(keyword) for keyword in BOUNDS):
                numbers.update(dict.fromkeys(near(bound) if is_number(bound) else ()))
            pattern = node.get("pattern")
            runs.update(dict.fromkeys(plain_words(pattern) if isinstance(pattern, str) else ()))
            waiting.extend(reversed(list(node.values())))
    return Hints(tuple(names), tuple(numbers), tuple(runs))
