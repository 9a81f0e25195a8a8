"""What an API is to the emulator: five functions over the neutral request and answer, and where it is served."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from strictcall.emulator.answer import Answer
from strictcall.emulator.conversation import Request
from strictcall.emulator.refusal import Breach, Refusal


@dataclass(frozen=True, slots=True)
class Frame:
    """One server-sent event: its data, a JSON value or a bare text such as ``[DONE]``, and its name if it has one."""

    data: Any
    event: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer about to be written: the request that it answers, and what an envelope needs besides.

    ``id`` is unique, made of letters and digits, and without the API's prefix. ``created`` is a Unix time in seconds.
    ``rng`` chooses where text is cut into deltas; it is seeded, so a stream is cut the same way each time.
    """

    request: Request
    answer: Answer
    id: str
    created: int
    rng: random.Random


@dataclass(frozen=True, slots=True)
class Api:
    """One API, both directions.

    - ``dialect``: the dialect of the API's own provider, by which requests are judged where no other is asked for.
    - ``routes``: paths under which it answers POST, in starlette's syntax.
    - ``read(body, path, query)``: the JSON body, parsed, with the path's and the query's parameters, as a request.
      Raises ``Refusal`` for a body that the API's specification does not allow and for a history whose results do not
      match its calls. The body may be any JSON value.
    - ``read_styled``: ``read`` where calls of the history stand in texts, so that results answer no call that is read;
      ``None`` for an API that no such servers speak.
    - ``word(breach, dialect)``: what the provider would say to a breach of its rules.
    - ``error(refusal, request_id)``: the error's JSON body.
    - ``whole(reply)``: the JSON body of an answer that is not streamed.
    - ``frames(reply)``: the events of one that is.
    - ``stream_end``: what follows the last event, if anything.
    - ``call_prefix``: how the ids of its calls begin.
    - ``id_header``: the response header that carries the request's id.
    - ``needed_header``: a header that every request must have.
    """

    name: str
    dialect: str
    routes: tuple[str, ...]
    read: Callable[[Any, Mapping[str, str], Mapping[str, str]], Request]
    word: Callable[[Breach, str], Refusal]
    error: Callable[[Refusal, str], Any]
    whole: Callable[[Reply], Any]
    frames: Callable[[Reply], Iterable[Frame]]
    stream_end: Frame | None = None
    call_prefix: str = "call_"
    id_header: str = "x-request-id"
    needed_header: str | None = None
    read_styled: Callable[[Any, Mapping[str, str], Mapping[str, str]], Request] | None = None
