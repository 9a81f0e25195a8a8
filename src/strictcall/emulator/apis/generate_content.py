"""The Gemini API: ``POST /v1beta/models/MODEL:generateContent`` and ``:streamGenerateContent``.

Sources: https://ai.google.dev/api/generate-content (``GenerateContentResponse``),
https://cloud.google.com/apis/design/errors and https://ai.google.dev/gemini-api/docs/troubleshooting.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from strictcall.emulator.answer import Answer, MadeCall, tokens
from strictcall.emulator.apis.generate_content_reading import read
from strictcall.emulator.apis.generate_content_wording import word
from strictcall.emulator.apis.writing import pieces, prompt_tokens
from strictcall.emulator.interface import Api, Frame, Reply
from strictcall.emulator.refusal import Kind, Refusal

_STATUS: Final[Mapping[Kind, str]] = {
    "invalid": "INVALID_ARGUMENT",
    "authentication": "UNAUTHENTICATED",
    "billing": "FAILED_PRECONDITION",
    "permission": "PERMISSION_DENIED",
    "not_found": "NOT_FOUND",
    "timeout": "DEADLINE_EXCEEDED",
    "conflict": "ABORTED",
    "too_large": "INVALID_ARGUMENT",
    "unprocessable": "INVALID_ARGUMENT",
    "rate_limit": "RESOURCE_EXHAUSTED",
    "server": "INTERNAL",
    "overloaded": "UNAVAILABLE",
}
"""The code of google.rpc.Code that stands for each kind of refusal."""
_FINISH: Final = {"stop": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}
_PAYLOAD_PLACE: Final = re.compile(r"Invalid (?:JSON payload received\. Unknown name \"[^\"]*\"|value) ?at '([^']*)'")
_LARGEST: Final = sys.float_info.max
MOST_LEVELS: Final = 400
"""Arguments that nest deeper are no arguments: the API's own reader gives up too."""


def error(refusal: Refusal, request_id: str) -> Any:
    """An error's body. Problems of the payload are told one by one too; exhausted quota says when to come again."""
    del request_id
    body: dict[str, Any] = {
        "code": refusal.status,
        "message": refusal.message,
        "status": _STATUS[refusal.kind],
    }
    details = [*_violations(refusal), *_key(refusal), *_retry(refusal)]
    return {"error": {**body, "details": details} if details else body}


def _violations(refusal: Refusal) -> Iterator[dict[str, Any]]:
    lines = [line for line in refusal.message.split("\n") if line.startswith(("Invalid JSON payload", "Invalid value"))]
    if lines and refusal.kind == "invalid":
        told = []
        for line in lines:
            place = _PAYLOAD_PLACE.match(line)
            told.append({**({"field": place[1]} if place else {}), "description": line})
        yield {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": told}


def _key(refusal: Refusal) -> Iterator[dict[str, Any]]:
    if refusal.code == "invalid_api_key":
        yield {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        }


def _retry(refusal: Refusal) -> Iterator[dict[str, Any]]:
    if refusal.kind == "rate_limit":
        seconds = refusal.headers.get("retry-after", "1")
        yield {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds}s"}


# --- answers ----------------------------------------------------------------------------------------------------------


def whole(reply: Reply) -> Any:
    """A whole answer, with one candidate."""
    said = _Said(reply)
    return said.response([*said.thoughts, *said.texts, *said.calls], last=True)


def frames(reply: Reply) -> Iterator[Frame]:
    """A stream's events, each a response of its own: thoughts and text in pieces, calls whole, why it ends at last."""
    said = _Said(reply)
    rng = reply.rng
    steps: list[list[dict[str, Any]]] = []
    for part in (*said.thoughts, *said.texts):
        steps += [[{**part, "text": piece}] for piece in pieces(part["text"], rng)]
    if rng.random() < 0.5:
        steps += [[part] for part in said.calls]
    elif said.calls:
        steps.append(said.calls)
    if not steps or rng.random() < 0.5:
        # The end may come with the last of the content, or after it with an empty text.
        steps.append([{"text": ""}] if said.finish in ("STOP", "MAX_TOKENS") else [])
    for number, parts in enumerate(steps, 1):
        yield Frame(said.response(parts, last=number == len(steps)))


class _Said:
    """An answer as Gemini's parts, and why it ends.

    Arguments are objects here, not text: a call cut off for length is not there at all, and one whose arguments are no
    JSON object ends the answer as a malformed call, whose text is told in ``finishMessage`` and with no call made.
    """

    def __init__(self, reply: Reply) -> None:
        answer = reply.answer
        self._reply = reply
        self.finish = _FINISH[answer.stop]
        self.message: str | None = None
        self.thoughts: list[dict[str, Any]] = []
        self.texts: list[dict[str, Any]] = []
        self.calls: list[dict[str, Any]] = []
        if answer.reasoning and reply.request.options["thoughts"]:
            self.thoughts.append({"text": answer.reasoning, "thought": True})
        if answer.stop == "refusal":
            return
        if answer.text or not answer.calls:
            self.texts.append({"text": _bare(answer.text) if reply.request.options["enum"] else answer.text})
        self._read_calls(answer)

    def _read_calls(self, answer: Answer) -> None:
        for call in answer.calls:
            args = _arguments(call.arguments)
            if args is None:
                if answer.stop != "length":
                    self.finish = "MALFORMED_FUNCTION_CALL"
                    self.message = f"Malformed function call: call:{call.name}{call.arguments}"
                    self.calls = []
                return
            self.calls.append(self._call(call, args))

    def _call(self, call: MadeCall, args: dict[str, Any]) -> dict[str, Any]:
        part: dict[str, Any] = {"functionCall": {"id": call.id, "name": call.name, "args": args}}
        if not self.calls:
            # What the model thought before it called: it must come back with the call.
            part["thoughtSignature"] = base64.b64encode(f"{self._reply.id}:{call.id}".encode()).decode()
        return part

    def response(self, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
        """A response with some of the parts."""
        content: dict[str, Any] = {"parts": parts, "role": "model"} if parts else {"role": "model"}
        candidate: dict[str, Any] = {"content": content}
        if last:
            candidate["finishReason"] = self.finish
            if self.message is not None:
                candidate["finishMessage"] = self.message
            if self.finish == "SAFETY":
                blocked = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
                candidate["safetyRatings"] = [blocked]
        return {
            "candidates": [{**candidate, "index": 0}],
            "usageMetadata": _usage(self._reply),
            "modelVersion": self._reply.request.model,
            "responseId": self._reply.id,
        }


def _usage(reply: Reply) -> dict[str, Any]:
    prompt = prompt_tokens(reply.request)
    total = reply.answer.tokens
    thoughts = min(tokens(reply.answer.reasoning), total)
    usage = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": total - thoughts,
        "totalTokenCount": prompt + total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }
    return {**usage, "thoughtsTokenCount": thoughts} if thoughts else usage


def _bare(text: str) -> str:
    """The value that a JSON text is, where it is a text: ``text/x.enum`` has no quotes."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _arguments(text: str) -> dict[str, Any] | None:
    """Arguments as an object; ``None`` where the text is not one. Whole numbers of any length stay exact."""
    try:
        value = json.loads(text, parse_float=_finite, parse_constant=_no_number, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not _is_deep(value) else None


def _finite(text: str) -> float:
    """A number as binary floating point has it; one that is beyond its range becomes the largest in it."""
    return max(-_LARGEST, min(_LARGEST, float(text)))


def _whole(text: str) -> int | float:
    """A whole number; one with more digits than Python reads is none that a message could hold either."""
    return int(text) if len(text) <= sys.get_int_max_str_digits() else _finite(text)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            item
            for held in level
            for item in (held.values() if isinstance(held, dict) else held)
            if isinstance(item, dict | list)
        ]
        if not level:
            return False
    return True


API: Final = Api(
    name="generate_content",
    dialect="gemini-json",
    routes=(
        "/v1beta/models/{model}:{method}",
        "/v1/models/{model}:{method}",
        "/v1beta1/publishers/google/models/{model}:{method}",
        "/v1beta1/projects/{project}/locations/{location}/publishers/google/models/{model}:{method}",
    ),
    read=read,
    word=word,
    error=error,
    whole=whole,
    frames=frames,
    call_prefix="",
)
"""Gemini's generateContent."""
