"""Faults on demand: what goes wrong with endpoints, as a table.

A fault strikes at one of four places: the request is refused with a status; the answer is another one; an envelope
(the whole body, or a stream's events) is bent; or the bytes on their way to the client are.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.interface import Frame
from strictcall.emulator.refusal import Refusal

Step = bytes | Literal["wait", "cut"]
"""What a response does next: bytes are sent, it waits for the delay that is set, or the connection is cut."""
_EMPTIED: Final = frozenset({"choices", "candidates", "output", "content"})
_INDICES: Final = frozenset({"index", "output_index", "content_index", "summary_index"})


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault; what it does not touch is ``None``.

    ``status`` and ``headers`` are those of the refusal. ``answer`` changes the answer before an envelope is put
    around it, ``body`` a whole answer's body, ``frames`` a stream's events, ``steps`` what is sent.
    """

    summary: str
    status: int | None = None
    headers: Mapping[str, str] | None = None
    answer: Callable[[Answer], Answer] | None = None
    body: Callable[[Any], Any] | None = None
    frames: Callable[[list[Frame]], Iterable[Frame]] | None = None
    steps: Callable[[list[bytes], random.Random], Iterator[Step]] | None = None

    def refusal(self) -> Refusal | None:
        """The refusal that this fault is, if it is one."""
        if self.status is None:
            return None
        return Refusal(
            _MESSAGES[self.status], self.status, code=_CODES.get(self.status), headers=dict(self.headers or {})
        )


_MESSAGES: Final = {
    400: "The request is invalid (an emulated fault).",
    401: "Incorrect API key provided.",
    402: "Your credit balance is too low to access this API.",
    404: "The model does not exist or you do not have access to it.",
    408: "The request timed out while its body was read.",
    409: "The resource was changed by another request; try again.",
    413: "The request is larger than is taken.",
    429: "Rate limit reached for requests. Please try again in 1s.",
    500: "The server had an error while processing your request.",
    502: "Bad gateway.",
    503: "The engine is currently overloaded, please try again later.",
    504: "The model did not answer in time.",
    529: "Overloaded",
}
_CODES: Final = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


# --- answers --------------------------------------------------------------------------------------------------------


def _reasoning_only(answer: Answer) -> Answer:
    return Answer(reasoning=answer.reasoning or answer.text or "The user wants something done.", stop="stop")


def _truncated(stop: Literal["calls", "length"]) -> Callable[[Answer], Answer]:
    def cut(answer: Answer) -> Answer:
        if not answer.calls:
            return replace(
                answer, text=answer.text[: len(answer.text) // 2], stop="length" if stop == "length" else "stop"
            )
        last = answer.calls[-1]
        arguments = last.arguments[: max(1, len(last.arguments) * 2 // 3)]
        if len(arguments) == len(last.arguments):
            arguments = ""
        return replace(answer, calls=(*answer.calls[:-1], MadeCall(last.id, last.name, arguments)), stop=stop)

    return cut


# --- envelopes ------------------------------------------------------------------------------------------------------


def _without_indices(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_indices(item) for name, item in value.items() if name not in _INDICES}
    return [_without_indices(item) for item in value] if isinstance(value, list) else value


def _emptied(body: Any) -> Any:
    if not isinstance(body, dict):
        return body
    return {name: [] if name in _EMPTIED and isinstance(item, list) else item for name, item in body.items()}


def _all_without_indices(frames: list[Frame]) -> Iterator[Frame]:
    return (Frame(_without_indices(frame.data), frame.event) for frame in frames)


def _empty_choices_first(frames: list[Frame]) -> Iterator[Frame]:
    """As endpoints do that report on the prompt first: an event of the usual kind with nothing in it."""
    if frames and _emptied(frames[0].data) != frames[0].data:
        yield Frame(_emptied(frames[0].data), frames[0].event)
    yield from frames


def _final_twice(frames: list[Frame]) -> Iterator[Frame]:
    last = max((index for index, frame in enumerate(frames) if not isinstance(frame.data, str)), default=-1)
    for index, frame in enumerate(frames):
        yield frame
        if index == last:
            yield frame


def _names_repeated(frames: list[Frame]) -> Iterator[Frame]:
    """Every delta of a call in Chat Completions has the call's id and whole name again."""
    known: dict[int, dict[str, Any]] = {}
    for frame in frames:
        yield Frame(_with_names(frame.data, known), frame.event)


def _with_names(value: Any, known: dict[int, dict[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_with_names(item, known) for item in value]
    if not isinstance(value, dict):
        return value
    function = value.get("function")
    if "index" not in value or not isinstance(function, dict):
        return {name: _with_names(item, known) for name, item in value.items()}
    if "name" in function:
        known[value["index"]] = {"id": value.get("id"), "type": "function", "name": function["name"]}
    first = known.get(value["index"], {})
    named = {**function, **({"name": first["name"]} if first else {})}
    return {**value, **{name: item for name, item in first.items() if name != "name"}, "function": named}


# --- bytes ----------------------------------------------------------------------------------------------------------


def _slow(parts: list[bytes], rng: random.Random) -> Iterator[Step]:
    del rng
    yield "wait"
    yield from parts


def _stall(parts: list[bytes], rng: random.Random) -> Iterator[Step]:
    place = _within(parts, rng)
    yield from parts[:place]
    yield "wait"
    yield from parts[place:]


def _cut(parts: list[bytes], rng: random.Random) -> Iterator[Step]:
    place = _within(parts, rng)
    yield from parts[:place]
    half = parts[place] if place < len(parts) else b""
    yield half[: len(half) // 2]
    yield "cut"


def _malformed(parts: list[bytes], rng: random.Random) -> Iterator[Step]:
    place = _within(parts, rng)
    yield from parts[:place]
    broken = parts[place] if place < len(parts) else b"{}"
    yield broken[: len(broken) // 2].rstrip(b"\n") + b"\n\n"
    yield from parts[place + 1 :]


def _not_utf8(parts: list[bytes], rng: random.Random) -> Iterator[Step]:
    place = _within(parts, rng)
    for index, part in enumerate(parts):
        yield _with_bad_bytes(part) if index == place else part


def _with_bad_bytes(part: bytes) -> bytes:
    """Bytes that are no UTF-8, put into the last text of a part."""
    before, quote, after = part.rpartition(b'"')
    return before + b"\xff\xfe" + quote + after


def _within(parts: list[bytes], rng: random.Random) -> int:
    """A place after the first part and before the last, where there are three."""
    return rng.randrange(1, len(parts) - 1) if len(parts) > 2 else 0


def _status(status: int, summary: str, headers: Mapping[str, str] | None = None) -> tuple[str, Fault]:
    return str(status), Fault(f"HTTP {status}: {summary}", status=status, headers=headers)


FAULTS: Final[Mapping[str, Fault]] = dict(
    [
        _status(400, "the request is invalid"),
        _status(401, "the key is wrong"),
        _status(402, "nothing is left to pay with"),
        _status(404, "the model is not there"),
        _status(408, "the request took too long"),
        _status(409, "a conflict"),
        _status(413, "the request is too large"),
        _status(429, "too many requests, with Retry-After", {"retry-after": "1"}),
        _status(500, "the server failed"),
        _status(502, "a gateway failed"),
        _status(503, "the server is overloaded, with Retry-After", {"retry-after": "1"}),
        _status(504, "a gateway waited too long"),
        _status(529, "the server is overloaded, in Anthropic's manner"),
        ("slow-first-byte", Fault("the first byte comes after the delay", steps=_slow)),
        ("stall", Fault("the answer pauses midway for the delay, then goes on", steps=_stall)),
        ("cut", Fault("the connection is cut midway", steps=_cut)),
        (
            "truncated-json",
            Fault("a call's arguments end early, with the stop reason of a call", answer=_truncated("calls")),
        ),
        ("truncated-length", Fault("a call's arguments end early, for length", answer=_truncated("length"))),
        ("no-index", Fault("deltas carry no index", frames=_all_without_indices)),
        ("repeated-names", Fault("every delta of a call repeats its id and name", frames=_names_repeated)),
        ("duplicate-final", Fault("the last event of a stream comes twice", frames=_final_twice)),
        (
            "empty-choices",
            Fault("no choice, or an event without one first", body=_emptied, frames=_empty_choices_first),
        ),
        ("reasoning-only", Fault("the model thinks and says nothing", answer=_reasoning_only)),
        ("malformed-sse", Fault("an event is broken off in its middle", steps=_malformed)),
        ("invalid-utf8", Fault("bytes that are no UTF-8 within a text", steps=_not_utf8)),
    ]
)
"""Every kind of fault by its name."""
