"""A client's request to the links of a configuration: what it asks for, and its bytes under another model's name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strictcall.errors import RequestError
from strictcall.json_value import compact

LONGEST_NAME: Final = 256
"""How many characters the name of a model may have."""
_SPACE: Final = " \t\n\r"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came: its bytes, and the object that they are."""

    raw: bytes
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        """What the client calls the model; empty where it does not say."""
        return self.body.get("model") or ""

    @property
    def streamed(self) -> bool:
        """Whether the answer is to be streamed."""
        return self.body.get("stream") is True

    def opening(self) -> tuple[str, bool]:
        """A name of the conversation, made from its messages up to the first of a user, and whether it has begun: the
        model had a turn already.
        """
        messages = [message for message in self.body.get("messages") or () if isinstance(message, dict)]
        roles = [message.get("role") for message in messages]
        end = roles.index("user") + 1 if "user" in roles else len(roles)
        said = json.dumps(messages[:end]).encode()
        return hashlib.sha256(said).hexdigest(), "assistant" in roles


def read_request(raw: bytes) -> Asked:
    """A request out of its bytes. Raises ``RequestError`` for what is no request of Chat Completions."""
    try:
        body = json.loads(raw.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise RequestError("body", "must be JSON") from None
    if not isinstance(body, dict):
        raise RequestError("body", "must be a JSON object")
    for name, kinds, words in _TYPES:
        if body.get(name) is not None and not isinstance(body[name], kinds):
            raise RequestError(name, f"must be {words}")
    if len(body.get("model") or "") > LONGEST_NAME:
        raise RequestError("model", f"longer than {LONGEST_NAME} characters")
    if body.get("messages") is None:
        raise RequestError("messages", "missing")
    return Asked(raw, body)


def _no_constant(name: str) -> Any:
    """Python's reader takes ``NaN`` and ``Infinity``, which JSON has not."""
    raise ValueError(name)


_TYPES: Final = (
    ("model", str, "a text"),
    ("messages", list, "a list"),
    ("stream", bool, "true or false"),
    ("tools", list, "a list"),
)


def with_model(asked: Asked, model: str) -> bytes:
    """The very bytes of a request, but for the name of the model. One without a model has it first."""
    text = asked.raw.decode()
    found = [(start, end) for name, start, end in _members(text) if name == "model"]
    if not found:
        begin = text.index("{") + 1
        comma = "," if asked.body else ""
        return as_bytes(f'{text[:begin]}"model":{json.dumps(model, ensure_ascii=False)}{comma}{text[begin:]}')
    begins = [0, *(end for _, end in found)]
    ends = [*(start for start, _ in found), len(text)]
    between = (text[begin:end] for begin, end in zip(begins, ends, strict=True))
    return as_bytes(json.dumps(model, ensure_ascii=False).join(between))


def _members(text: str) -> Iterator[tuple[str, int, int]]:
    """The names in a text that is a JSON object, each with the place of its value."""
    decoder = json.JSONDecoder()
    at = _after_space(text, text.index("{") + 1)
    while text[at] == '"':
        name, at = decoder.raw_decode(text, at)
        start = _after_space(text, _after_space(text, at) + 1)
        _, end = decoder.raw_decode(text, start)
        yield name, start, end
        at = _after_space(text, end)
        if text[at] != ",":
            return
        at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def as_bytes(value: Any) -> bytes:
    """JSON as it is sent: a value, or its text. Half a character, which UTF-8 has no bytes for, is escaped."""
    try:
        return (value if isinstance(value, str) else compact(value)).encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(value) if isinstance(value, str) else value, separators=(",", ":")).encode()
