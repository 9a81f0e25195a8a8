"""The emulator as an ASGI application."""

from __future__ import annotations

import json
import random
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio.to_thread
from anyio import CapacityLimiter
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from strictcall.dialect import load
from strictcall.dialect.model import Dialect
from strictcall.emulator import models, rules
from strictcall.emulator.answer import Answer, MadeCall
from strictcall.emulator.answers.answering import answer
from strictcall.emulator.apis import chat_completions, generate_content, messages, responses
from strictcall.emulator.conversation import Request
from strictcall.emulator.faults import FAULTS, Fault
from strictcall.emulator.interface import Api, Frame, Reply
from strictcall.emulator.memory import Memory, digest
from strictcall.emulator.refusal import Refusal
from strictcall.emulator.sending import compact, response, sse
from strictcall.emulator.settings import Settings, check_fault
from strictcall.emulator.styles import Style, as_text, style
from strictcall.errors import SettingsError

APIS: Final = (chat_completions.API, responses.API, messages.API, generate_content.API)
FAULT_HEADER: Final = "x-emulate-fault"
"""A request with this header has the fault that it names, or with an empty value none."""
MOST_BYTES: Final = 32 * 1024 * 1024
WORKERS: Final = 4
"""How many answers are made at once: making one keeps a processor busy."""
REMEMBERED: Final = 10_000
"""Of so many different requests it is remembered how many times they came."""
_NO_FAULT: Final = Fault("nothing goes wrong")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as it came, and the status that it was answered with. ``body`` is ``None`` where it was no JSON."""

    api: str
    path: str
    body: Any
    status: int


Observer = Callable[[Exchange], None]


def create_app(settings: Settings | None = None, *, observe: Observer | None = None, **fields: Any) -> Starlette:
    """An emulator, ready to be served, or to be called within a process.

    ``fields`` are those of ``Settings``, for who has no settings at hand: ``create_app(dialect="anthropic")``.
    ``observe`` is told of every exchange, on the event loop, before the response is sent.

    Raises ``SettingsError`` for a setting with a value that it does not take, ``DialectError`` for an unknown dialect.
    """
    emulator = _Emulator(settings or Settings(**fields), observe)
    routes = [
        Route(path, emulator.endpoint(api), methods=["POST"], name=f"{api.name}:{path}")
        for api in APIS
        for path in api.routes
    ]
    routes += models.routes(emulator.settings.models)
    return Starlette(routes=routes, exception_handlers={404: _no_such_url, 405: _no_such_url})


async def _no_such_url(request: HttpRequest, error: Exception) -> Response:
    refusal = Refusal(
        f"Unknown request URL: {request.method} {request.url.path}",
        getattr(error, "status_code", 404),
        code="unknown_url",
    )
    body = chat_completions.API.error(refusal, _new_id())
    return Response(compact(body), refusal.status, media_type="application/json")


class _Emulator:
    """Takes a request through reading, judging, answering and writing."""

    def __init__(self, settings: Settings, observe: Observer | None) -> None:
        self.settings = settings
        self.observe = observe
        self.fixed = None if settings.dialect is None else load(settings.dialect)
        self.style = None if self.settings.style is None else style(self.settings.style)
        self.times: Memory[int] = Memory(REMEMBERED)
        self.limiter: CapacityLimiter | None = None

    def endpoint(self, api: Api) -> Callable[[HttpRequest], Any]:
        """What starlette calls for a POST to one of the API's paths."""

        async def answered(http: HttpRequest) -> Response:
            return await self.respond(api, http)

        return answered

    async def respond(self, api: Api, http: HttpRequest) -> Response:
        request_id = f"req_{_new_id()}"
        body: Any = None
        try:
            raw = await _read_body(http)
            fault = self.fault(http, raw)
            refusal = fault.refusal()
            if refusal is not None:
                raise refusal
            self.check_key(api, http)
            body = _parsed(raw)
            result = await self.answered(api, http, body, raw, fault)
        except Refusal as refused:
            headers = {**refused.headers, api.id_header: request_id}
            self.tell(api, http, body, refused.status)
            return Response(compact(api.error(refused, request_id)), refused.status, headers, "application/json")
        except ClientDisconnect:
            return Response(status_code=499)
        self.tell(api, http, body, 200)
        result.headers[api.id_header] = request_id
        return result

    async def answered(self, api: Api, http: HttpRequest, body: Any, raw: bytes, fault: Fault) -> Response:
        read = api.read if self.style_of(api) is None else api.read_styled or api.read
        request = read(body, http.path_params, http.query_params)
        self.check_model(request)
        dialect = self.dialect(api, request)
        if self.limiter is None:
            self.limiter = CapacityLimiter(WORKERS)
        reply, fault = await anyio.to_thread.run_sync(
            self.reply, api, request, dialect, raw, fault, limiter=self.limiter
        )
        return self.written(api, reply, fault)

    def reply(self, api: Api, request: Request, dialect: Dialect, raw: bytes, fault: Fault) -> tuple[Reply, Fault]:
        """The answer to a request, refused where the dialect does not take it, and the fault that befalls it."""
        found = rules.breach(request, dialect)
        if found is not None:
            raise api.word(found, dialect.name)
        rng = self.chance(api.name, raw)
        written = self.style_of(api)
        scripted = None if self.settings.script is None else self.settings.script.reply(request)
        if scripted is not None:
            if scripted.fault is not None and fault is _NO_FAULT:
                fault = FAULTS[scripted.fault]
            refusal = fault.refusal()
            if refusal is not None:
                raise refusal
            said = _with_ids(scripted.answer, api.call_prefix, rng)
            said = said if written is None else as_text(said, written, rng)
        elif self.settings.answers == "scripted":
            raise Refusal(f"the script has no reply for turn {request.turn + 1} of this conversation", 500)
        else:
            said = answer(request, dialect, self.settings, rng, api.call_prefix, written)
        if fault.answer is not None:
            said = fault.answer(said)
        return Reply(request, said, f"{rng.getrandbits(96):024x}", int(time.time()), rng), fault

    def written(self, api: Api, reply: Reply, fault: Fault) -> Response:
        if reply.request.stream:
            parts, media_type = self.streamed(api, reply, fault)
        else:
            whole = api.whole(reply)
            parts = [compact(whole if fault.body is None else fault.body(whole))]
            media_type = "application/json"
        steps: Any = parts
        headers = {}
        if fault.steps is not None:
            steps = fault.steps(parts, reply.rng)
        elif not reply.request.stream:
            headers = {"content-length": str(len(parts[0]))}
        return response(steps, media_type, headers, self.settings.delay)

    def streamed(self, api: Api, reply: Reply, fault: Fault) -> tuple[list[bytes], str]:
        frames = list(api.frames(reply))
        if fault.frames is not None:
            frames = list(fault.frames(frames))
        if reply.request.options.get("array"):
            return _array(frames), "application/json"
        if api.stream_end is not None:
            frames.append(api.stream_end)
        return [sse(frame) for frame in frames], "text/event-stream"

    def dialect(self, api: Api, request: Request) -> Dialect:
        return self.fixed or load(request.options.get("dialect", api.dialect))

    def style_of(self, api: Api) -> Style | None:
        """The style in which an API's calls are written as text."""
        return None if api.read_styled is None else self.style

    def fault(self, http: HttpRequest, raw: bytes) -> Fault:
        """The fault of a request: the one that it asks for, or one of those set."""
        asked = http.headers.get(FAULT_HEADER)
        if asked is not None:
            if asked:
                _checked(asked)
            return FAULTS.get(asked, _NO_FAULT)
        if not self.settings.faults:
            return _NO_FAULT
        rng = self.chance("fault", raw)
        return FAULTS[rng.choice(self.settings.faults)] if rng.random() < self.settings.fault_rate else _NO_FAULT

    def chance(self, purpose: str, raw: bytes) -> random.Random:
        """The choices for one request: by the seed, what it says, and how many times it came before."""
        key = digest(purpose, raw.decode("utf-8", "replace"))
        times = self.times.get(key, lambda: 0)
        self.times.put(key, times + 1)
        return random.Random(f"{self.settings.seed}:{key.hex()}:{times}")  # noqa: S311 - repeatable, not secret

    def check_key(self, api: Api, http: HttpRequest) -> None:
        if api.needed_header is not None and api.needed_header not in http.headers:
            raise Refusal(f"{api.needed_header}: header is required")
        wanted = self.settings.api_key
        if wanted is not None and not secrets.compare_digest(_key(http.headers, http.query_params), wanted):
            raise Refusal("Incorrect API key provided.", 401, code="invalid_api_key")

    def check_model(self, request: Request) -> None:
        known = self.settings.models
        if known and request.model not in known:
            message = f"The model '{request.model}' does not exist or you do not have access to it."
            raise Refusal(message, 404, param="model", code="model_not_found")

    def tell(self, api: Api, http: HttpRequest, body: Any, status: int) -> None:
        if self.observe is not None:
            self.observe(Exchange(api.name, http.url.path, body, status))


async def _read_body(http: HttpRequest) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in http.stream():
        size += len(part)
        if size > MOST_BYTES:
            raise Refusal(f"The request is larger than {MOST_BYTES:,} bytes.", 413)
        parts.append(part)
    return b"".join(parts)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refusal(f"We could not parse the JSON body of your request: {said}") from None


def _checked(kind: str) -> None:
    try:
        check_fault(kind)
    except SettingsError as error:
        raise Refusal(f"{FAULT_HEADER}: {error.problem}") from None


def _key(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The key of a request, wherever its API puts it."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or query.get("key") or bearer


def _with_ids(said: Answer, prefix: str, rng: random.Random) -> Answer:
    calls = tuple(
        MadeCall(call.id or f"{prefix}{rng.getrandbits(96):024x}", call.name, call.arguments) for call in said.calls
    )
    return Answer(said.text, said.reasoning, calls, said.stop)


def _array(frames: list[Frame]) -> list[bytes]:
    """A stream as one JSON array, sent item by item."""
    parts: list[bytes] = []
    for index, frame in enumerate(frames):
        parts.append((b"[" if index == 0 else b",\r\n") + compact(frame.data))
    return [*parts, b"]"]


def _new_id() -> str:
    return secrets.token_hex(12)
