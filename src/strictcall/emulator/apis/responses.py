"""The Responses API: https://platform.openai.com/docs/api-reference/responses/create"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from strictcall.dialect import judge
from strictcall.emulator.answer import Answer, tokens
from strictcall.emulator.apis.responses_reading import read
from strictcall.emulator.apis.responses_wording import error, word
from strictcall.emulator.apis.sealing import seal
from strictcall.emulator.apis.writing import pieces, prompt_tokens
from strictcall.emulator.interface import Api, Frame, Reply

_DEFAULTS: Final[dict[str, Any]] = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "prompt_cache_retention": None,
    "safety_identifier": None,
    "store": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""Fields of a request that the response repeats, and what stands in them where the request says nothing."""
_OBFUSCATION: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_MOST_OBFUSCATION: Final = 16


# --- items ------------------------------------------------------------------------------------------------------------


def _items(reply: Reply) -> list[dict[str, Any]]:
    """The output items of an answer, each as it is when it is done."""
    answer = reply.answer
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        items.append(_reasoning_item(f"rs_{reply.id}", answer.reasoning))
    if _has_message(answer):
        items.append(_message_item(f"msg_{reply.id}", answer))
    for index, call in enumerate(answer.calls):
        items.append(
            {
                "id": f"fc_{reply.id}{index:02}",
                "type": "function_call",
                "status": "completed",
                "arguments": call.arguments,
                "call_id": call.id,
                "name": call.name,
            }
        )
    if answer.stop == "length" and items and items[-1]["type"] != "reasoning":
        items[-1]["status"] = "incomplete"
    return items


def _has_message(answer: Answer) -> bool:
    """A model that thought until its tokens ran out says nothing; else it says something, if only an empty text."""
    return bool(answer.text) or not (answer.calls or (answer.reasoning and answer.stop == "length"))


def _reasoning_item(name: str, text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}]
    return {"id": name, "type": "reasoning", "summary": summary, "encrypted_content": seal(text)}


def _message_item(name: str, answer: Answer) -> dict[str, Any]:
    content = [_refusal(answer.text) if answer.stop == "refusal" else _output_text(answer.text)]
    return {"id": name, "type": "message", "status": "completed", "content": content, "role": "assistant"}


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _refusal(text: str) -> dict[str, Any]:
    return {"type": "refusal", "refusal": text}


# --- the response -----------------------------------------------------------------------------------------------------


def whole(reply: Reply) -> dict[str, Any]:
    """A response as a body: complete, or incomplete where the tokens ran out."""
    return _ended(reply, _items(reply))


def _ended(reply: Reply, items: list[dict[str, Any]]) -> dict[str, Any]:
    cut = reply.answer.stop == "length"
    return {
        **_response(reply, "incomplete" if cut else "completed"),
        "completed_at": None if cut else reply.created,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": items,
        "service_tier": "default",
        "usage": _usage(reply),
    }


def _response(reply: Reply, status: str) -> dict[str, Any]:
    """A response without output."""
    body = reply.request.options["body"]
    said = {name: value if body.get(name) is None else body[name] for name, value in _DEFAULTS.items()}
    text = body.get("text") or {}
    reasoning = body.get("reasoning") or {}
    return {
        "id": f"resp_{reply.id}",
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": reply.request.model,
        "output": [],
        "reasoning": {"effort": reasoning.get("effort"), "summary": reasoning.get("summary")},
        "service_tier": "auto",
        "text": {"format": text.get("format") or {"type": "text"}, "verbosity": text.get("verbosity") or "medium"},
        "tools": [_echoed(tool) for tool in body.get("tools") or ()],
        "usage": None,
        **said,
    }


def _echoed(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as the response repeats it. A function that does not say so is strict where its schema can be held."""
    if tool["type"] != "function":
        return tool
    schema = tool.get("parameters")
    strict = tool.get("strict")
    return {
        "type": "function",
        "name": tool["name"],
        "description": tool.get("description"),
        "parameters": schema,
        "strict": schema is not None and not judge(schema, "openai") if strict is None else strict,
    }


def _usage(reply: Reply) -> dict[str, Any]:
    used = prompt_tokens(reply.request)
    made = reply.answer.tokens
    return {
        "input_tokens": used,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": tokens(reply.answer.reasoning)},
        "total_tokens": used + made,
    }


# --- events -----------------------------------------------------------------------------------------------------------


@dataclass
class _Stream:
    """Writes events, numbered in their order."""

    reply: Reply
    number: int = field(default=0)

    def event(self, kind: str, **data: Any) -> Frame:
        frame = Frame({"type": kind, **data, "sequence_number": self.number}, kind)
        self.number += 1
        return frame

    def deltas(self, kind: str, text: str, **place: Any) -> Iterator[Frame]:
        rng = self.reply.rng
        hidden = self.reply.request.options["obfuscation"]
        for piece in pieces(text, rng):
            more = {"obfuscation": "".join(rng.choices(_OBFUSCATION, k=rng.randint(1, _MOST_OBFUSCATION)))}
            yield self.event(f"{kind}.delta", **place, delta=piece, **(more if hidden else {}))

    def item(self, index: int, item: dict[str, Any]) -> Iterator[Frame]:
        writers = {"reasoning": self.reasoning, "message": self.message, "function_call": self.call}
        yield from writers[item["type"]](index, item)
        yield self.event("response.output_item.done", output_index=index, item=item)

    def added(self, index: int, item: dict[str, Any], **empty: Any) -> Frame:
        started = {**item, **empty}
        if "status" in item:
            started["status"] = "in_progress"
        return self.event("response.output_item.added", output_index=index, item=started)

    def reasoning(self, index: int, item: dict[str, Any]) -> Iterator[Frame]:
        yield self.added(index, item, summary=[], encrypted_content=seal(""))
        for number, part in enumerate(item["summary"]):
            place = {"item_id": item["id"], "output_index": index, "summary_index": number}
            empty = {"type": "summary_text", "text": ""}
            yield self.event("response.reasoning_summary_part.added", **place, part=empty)
            yield from self.deltas("response.reasoning_summary_text", part["text"], **place)
            yield self.event("response.reasoning_summary_text.done", **place, text=part["text"])
            yield self.event("response.reasoning_summary_part.done", **place, part=part)

    def message(self, index: int, item: dict[str, Any]) -> Iterator[Frame]:
        yield self.added(index, item, content=[])
        for number, part in enumerate(item["content"]):
            place = {"item_id": item["id"], "output_index": index, "content_index": number}
            refused = part["type"] == "refusal"
            empty = _refusal("") if refused else _output_text("")
            yield self.event("response.content_part.added", **place, part=empty)
            if refused:
                yield from self.deltas("response.refusal", part["refusal"], **place)
                yield self.event("response.refusal.done", **place, refusal=part["refusal"])
            else:
                yield from self.deltas("response.output_text", part["text"], **place, logprobs=[])
                yield self.event("response.output_text.done", **place, logprobs=[], text=part["text"])
            yield self.event("response.content_part.done", **place, part=part)

    def call(self, index: int, item: dict[str, Any]) -> Iterator[Frame]:
        place = {"item_id": item["id"], "output_index": index}
        kind = "response.function_call_arguments"
        yield self.added(index, item, arguments="")
        yield from self.deltas(kind, item["arguments"], **place)
        yield self.event(f"{kind}.done", **place, arguments=item["arguments"])


def frames(reply: Reply) -> Iterator[Frame]:
    """A response as events: it is created, its items come one after the other, it is completed or incomplete."""
    stream = _Stream(reply)
    started = _response(reply, "in_progress")
    yield stream.event("response.created", response=started)
    yield stream.event("response.in_progress", response=started)
    items = _items(reply)
    for index, item in enumerate(items):
        yield from stream.item(index, item)
    ended = _ended(reply, items)
    yield stream.event(f"response.{ended['status']}", response=ended)


API: Final = Api(
    name="responses",
    dialect="openai",
    routes=("/v1/responses", "/responses"),
    read=read,
    word=word,
    error=error,
    whole=whole,
    frames=frames,
)
