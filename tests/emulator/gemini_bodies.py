"""Bodies of Gemini requests, as tests need them."""

from __future__ import annotations

from typing import Any

from strictcall.emulator.apis.generate_content import API
from strictcall.emulator.conversation import Request

TEXT = {"type": "string"}
CLOSED = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
USER = {"role": "user", "parts": [{"text": "hi"}]}
MODEL = {"role": "model", "parts": [{"text": "yes"}]}


def body(**fields: Any) -> dict[str, Any]:
    return {"contents": [USER], **fields}


def contents(*given: Any) -> dict[str, Any]:
    return {"contents": list(given)}


def declared(*declarations: Any, **fields: Any) -> dict[str, Any]:
    return body(tools=[{"functionDeclarations": list(declarations)}], **fields)


def function(name: str = "f", **fields: Any) -> dict[str, Any]:
    return {"name": name, **(fields or {"parametersJsonSchema": CLOSED})}


def calling(*names: str, **fields: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {"n": 1}, **fields}} for name in names]}


def answering(*names: str, **fields: Any) -> dict[str, Any]:
    parts = [{"functionResponse": {"name": name, "response": {"ok": True}, **fields}} for name in names]
    return {"role": "user", "parts": parts}


def read(value: Any, model: str = "gemini-2.5-pro", method: str = "generateContent", **query: str) -> Request:
    return API.read(value, {"model": model, "method": method}, query)


FULL = {
    "systemInstruction": {"parts": [{"text": "x"}]},
    "contents": [
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "YWJj"}}, {"text": "hi"}]},
        {
            "role": "model",
            "parts": [
                {"text": "x", "thought": True, "thoughtSignature": "YWJj"},
                {"functionCall": {"id": "1", "name": "f", "args": {"a": [1]}}, "thoughtSignature": "YWJj"},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "f", "response": {"a": None}}}]},
    ],
    "tools": [
        {
            "functionDeclarations": [
                {
                    "name": "f",
                    "description": "x",
                    "parameters": {
                        "type": "OBJECT",
                        "properties": {
                            "a": {"type": "array", "items": {"any_of": [TEXT]}, "minItems": "1"},
                        },
                        "required": ["a"],
                    },
                },
                {"name": "g", "parametersJsonSchema": CLOSED},
            ]
        },
        {"googleSearch": {}},
    ],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
    "generationConfig": {
        "temperature": 1,
        "maxOutputTokens": 5,
        "seed": 1,
        "stopSequences": ["x"],
        "responseMimeType": "application/json",
        "responseSchema": CLOSED,
        "thinkingConfig": {"includeThoughts": True},
    },
}
"""A body that has something of everything."""
