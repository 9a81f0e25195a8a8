"""Values as a constrained model could write them: random walks through a grammar that llguidance makes of a schema.

The walk runs over single bytes, so every text the grammar allows can come up, not only the texts of some vocabulary.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from llguidance import LLMatcher, LLTokenizer
from llguidance._tokenizer import TokenizerWrapper

SOFT_LIMIT = 160
"""After so many bytes the walk prefers to close what is open."""
HARD_LIMIT = 6_000
END = 256
OPTIONS = {"whitespace_flexible": False, "json_allow_general_unicode_escapes": True}
OUTSIDE = "outside the limits that arguments have"


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
    return LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=257, slices=[])


@dataclass(frozen=True)
class Sample:
    """One text and the JSON value that it holds."""

    text: str
    value: Any


def flawed(schema: Any) -> bool:
    """Whether llguidance may write a number that the schema excludes: it lets some exclusive bounds in."""
    if isinstance(schema, dict):
        return "exclusiveMinimum" in schema or "exclusiveMaximum" in schema or any(map(flawed, schema.values()))
    return isinstance(schema, list) and any(map(flawed, schema))


class RefusedError(Exception):
    """llguidance does not take the schema."""


def faithful(schema: Any) -> bool:
    """Whether llguidance can write every literal of a schema: it silently turns integers beyond 64 bits into others."""
    if isinstance(schema, dict):
        return all(map(faithful, schema.values()))
    if isinstance(schema, list):
        return all(map(faithful, schema))
    return not isinstance(schema, int) or -(2**63) <= schema < 2**63


class Sampler:
    """Samples JSON texts that a schema allows. Raises ``RefusedError`` for a schema that llguidance does not take."""

    def __init__(self, schema: Any) -> None:
        self._faithful = faithful(schema)
        grammar = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=OPTIONS)
        self._matcher = LLMatcher(_tokenizer(), grammar, log_level=0)
        if self._matcher.is_error():
            raise RefusedError(self._matcher.get_error().splitlines()[0])

    def sample(self, rng: random.Random) -> Sample | None:
        """One sample, or nothing where the walk found no end or left the limits that arguments have."""
        matcher = self._matcher.deep_copy()
        walk = _Walk(rng)
        while len(walk.out) < HARD_LIMIT:
            if matcher.is_stopped():
                break
            token = walk.choose(_allowed(matcher.compute_bitmask()))
            if token == END:
                break
            if not matcher.consume_token(token):
                return None
        else:
            return None
        return read(bytes(walk.out))

    def samples(self, count: int, seed: int) -> Iterator[Sample]:
        """At most ``count`` samples from one seed; none of a schema that the grammar does not hold."""
        if not self._faithful:
            return
        rng = random.Random(seed)  # noqa: S311 - a seed, not a secret
        for _ in range(count):
            found = self.sample(rng)
            if found is not None:
                yield found


def _allowed(mask: bytes) -> list[int]:
    bits = int.from_bytes(mask, "little")
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


class _Walk:
    """Chooses the next byte; knows only whether it stands inside a JSON string, and how long the text is."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.out = bytearray()
        self.in_string = False
        self.escaped = False
        self.ending = rng.choice([0.08, 0.25, 0.6])

    def choose(self, allowed: list[int]) -> int:
        token = allowed[0] if len(allowed) == 1 else self._pick(allowed)
        if token == END:
            return token
        self.out.append(token)
        self._follow(token)
        return token

    def _follow(self, byte: int) -> None:
        if not self.in_string:
            self.in_string = byte == 0x22
        elif self.escaped:
            self.escaped = False
        elif byte == 0x5C:
            self.escaped = True
        elif byte == 0x22:
            self.in_string = False

    def _pick(self, allowed: list[int]) -> int:
        late = len(self.out) > SOFT_LIMIT
        if self.in_string and not self.escaped:
            return self._in_string(allowed, late)
        if self.in_string:
            return self.rng.choice(allowed)
        if late:
            for byte in (END, *b'}]n",'):
                if byte in allowed:
                    return byte
        if END in allowed and self.rng.random() < 0.7:
            return END
        closing = [byte for byte in allowed if byte in b"}],"]
        if closing and self.rng.random() < self.ending:
            return self.rng.choice(closing)
        return self.rng.choice(allowed)

    def _in_string(self, allowed: list[int], late: bool) -> int:
        if 0x22 in allowed and (late or self.rng.random() < self.ending):
            return 0x22
        plain = [byte for byte in allowed if 0x20 <= byte < 0x7F and byte not in b'"\\']
        if plain and (late or self.rng.random() < 0.8):
            return self.rng.choice(plain)
        return self.rng.choice(allowed)


def read(text: bytes) -> Sample | None:
    """The sample that a text holds, or nothing where it is outside the limits that arguments have."""
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
        raise ValueError(OUTSIDE)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(OUTSIDE)
    return number
