"""Bodies of Chat Completions requests, as tests need them."""

from __future__ import annotations

from typing import Any

from strictcall.emulator.apis.chat_completions import API

CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
USER = {"role": "user", "content": "hi"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def tool(name: str = "f", schema: Any = CLOSED, **function: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema, **function}}


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [USER], **fields}


def messages(*given: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(given)}


def read(value: Any) -> Any:
    return API.read(value, {}, {})


FULL = {
    "model": "m",
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "as JSON"}]},
        {
            "role": "user",
            "name": "ann",
            "content": [
                {"type": "image_url", "image_url": {"url": "x"}},
                {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
                {"type": "file", "file": {"file_id": "x"}},
            ],
        },
        {"role": "assistant", "content": None, "refusal": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "developer", "content": "x"},
    ],
    "tools": [tool(description="x", strict=True)],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
    },
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": CLOSED, "strict": True}},
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "temperature": 1,
    "max_tokens": 5,
    "stop": ["x"],
    "seed": 1,
    "n": 2,
    "metadata": {},
    "reasoning_effort": "low",
}
"""A body that has something of everything."""
