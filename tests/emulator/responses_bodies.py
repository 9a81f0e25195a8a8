"""Bodies of Responses requests, as tests need them."""

from __future__ import annotations

from strictcall.emulator.apis.responses import API
from strictcall.emulator.apis.sealing import seal

PATTERN = "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
TOOL = {"type": "function", "name": "f", "parameters": SCHEMA, "strict": True}
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "done"}
USER = {"role": "user", "content": "hi"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": seal("")}


def body(**fields):
    return {name: value for name, value in {"model": "m", "input": "hi", **fields}.items() if value is not ...}


def read(value):
    return API.read(value, {}, {})


OPEN = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {}}},
    "required": ["a"],
    "additionalProperties": False,
}
OPTIONAL = {**SCHEMA, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
FULL = body(
    instructions="be short",
    input=[
        {"role": "developer", "content": "and kind"},
        {"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image"}]},
        REASONING,
        {**CALL, "id": "fc_1", "status": "completed"},
        {**RESULT, "output": [{"type": "input_text", "text": "x"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "id": "msg_1"},
        {"type": "web_search_call", "id": "ws_1"},
    ],
    tools=[TOOL, {"type": "web_search"}],
    tool_choice={"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    text={"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}, "verbosity": "low"},
    reasoning={"effort": "low", "summary": "auto"},
    include=["reasoning.encrypted_content"],
    stream_options={"include_obfuscation": True},
    metadata={"a": "b"},
    temperature=1,
    top_p=0.5,
    max_output_tokens=100,
    max_tool_calls=3,
    parallel_tool_calls=True,
    truncation="auto",
    service_tier="auto",
    user="u",
    store=True,
    stream=True,
)
