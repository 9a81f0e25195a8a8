"""Bodies of Messages requests, as tests need them."""

from __future__ import annotations

from strictcall.emulator.apis.messages import API
from strictcall.emulator.apis.sealing import seal

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOL = {"name": "f", "description": "Does it.", "input_schema": SCHEMA, "strict": True}
USER = {"role": "user", "content": "hi"}
ASSISTANT = {"role": "assistant", "content": "ok"}


def system(content):
    return {"role": "system", "content": content}


def use(name="toolu_1", **more):
    return {"type": "tool_use", "id": name, "name": "f", "input": {}, **more}


def result(name="toolu_1", **more):
    return {"type": "tool_result", "tool_use_id": name, "content": "done", **more}


def says(role, *blocks):
    return {"role": role, "content": list(blocks)}


def text(words):
    return {"type": "text", "text": words}


def thought(words, signature=None):
    return {"type": "thinking", "thinking": words, "signature": seal(words) if signature is None else signature}


def body(**fields):
    base = {"model": "m", "max_tokens": 100, "messages": [USER], **fields}
    return {name: value for name, value in base.items() if value is not ...}


def read(value):
    return API.read(value, {}, {})


def node(schema):
    """A strict schema with one property."""
    return {"type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": False}


TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


FULL = body(
    system=[text("be short")],
    messages=[
        says("user", text("a"), {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
        says("assistant", thought("hm"), text("I will."), use(input={"a": "x"})),
        says("user", result(content=[text("y")]), text("so?")),
        system("x"),
    ],
    tools=[TOOL, {"type": "web_search_20250305", "name": "web_search"}],
    tool_choice={"type": "auto", "disable_parallel_tool_use": True},
    thinking={"type": "adaptive"},
    output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    metadata={"user_id": "u"},
    stop_sequences=["x"],
    temperature=1,
    top_p=0.5,
    top_k=5,
    service_tier="auto",
    stream=True,
)
