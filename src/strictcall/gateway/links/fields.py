"""The fields of a Chat Completions request for links of other APIs: where each goes, as data.

A field that has no place in an API, and bears on what is answered, is an error: whoever set it would wait for it in
vain. One that only keeps books is left out. ``docs/gateway.md`` has the table for people.

Sources: https://platform.openai.com/docs/api-reference/chat/create and .../responses/create,
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/generate-content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from strictcall.errors import RequestError
from strictcall.link.resolved import Api, ResolvedLink

Path = tuple[str, ...]
OURS: Final = frozenset(
    {"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "response_format", "stream", "stream_options"}
)
"""Fields that are written otherwise than by a table."""
CAPS: Final = ("max_completion_tokens", "max_tokens")
PLACES: Final[Mapping[Api, Mapping[str, Path]]] = {
    "responses": {
        "max_completion_tokens": ("max_output_tokens",),
        "max_tokens": ("max_output_tokens",),
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "presence_penalty": ("presence_penalty",),
        "frequency_penalty": ("frequency_penalty",),
        "reasoning_effort": ("reasoning", "effort"),
        "verbosity": ("text", "verbosity"),
        "user": ("user",),
        "metadata": ("metadata",),
        "store": ("store",),
        "service_tier": ("service_tier",),
        "prompt_cache_key": ("prompt_cache_key",),
        "prompt_cache_retention": ("prompt_cache_retention",),
        "safety_identifier": ("safety_identifier",),
    },
    "messages": {
        "max_completion_tokens": ("max_tokens",),
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "top_p": ("top_p",),
        "top_k": ("top_k",),
        "stop": ("stop_sequences",),
        "reasoning_effort": ("output_config", "effort"),
        "user": ("metadata", "user_id"),
    },
    "generate_content": {
        "max_completion_tokens": ("config", "max_output_tokens"),
        "max_tokens": ("config", "max_output_tokens"),
        "temperature": ("config", "temperature"),
        "top_p": ("config", "top_p"),
        "top_k": ("config", "top_k"),
        "presence_penalty": ("config", "presence_penalty"),
        "frequency_penalty": ("config", "frequency_penalty"),
        "stop": ("config", "stop_sequences"),
        "seed": ("config", "seed"),
        "reasoning_effort": ("config", "thinking_config", "thinking_level"),
    },
    "converse": {},
}
"""Where a field stands in the body of a link's client."""
LEFT_OUT: Final = frozenset(
    {
        "metadata",
        "prediction",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "service_tier",
        "store",
        "user",
    }
)
"""Fields that change nothing of what is answered: without a place in an API they are left out."""
DEFAULTS: Final[Mapping[str, Any]] = {
    "frequency_penalty": 0,
    "logit_bias": {},
    "logprobs": False,
    "modalities": ["text"],
    "n": 1,
    "presence_penalty": 0,
    "top_logprobs": 0,
}
"""Values that say no more than that the field is not set."""


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


_KINDS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "max_completion_tokens": (lambda value: _count(value) and value > 0, "a number of tokens"),
    "max_tokens": (lambda value: _count(value) and value > 0, "a number of tokens"),
    "temperature": (_number, "a number"),
    "top_p": (_number, "a number"),
    "top_k": (_count, "a whole number"),
    "presence_penalty": (_number, "a number"),
    "frequency_penalty": (_number, "a number"),
    "seed": (_count, "a whole number"),
    "stop": (_texts, "a text or a list of texts"),
    "reasoning_effort": (_text, "a text"),
    "verbosity": (_text, "a text"),
    "user": (_text, "a text"),
}
"""What a value must be: clients of other APIs would say it in other words, or not at all."""


def placed(body: Mapping[str, Any], link: ResolvedLink) -> list[tuple[Path, Any]]:
    """The fields of a request that are no words and no tools, each with its place in the body for a link.

    A cap on tokens is not above the link's own. Raises ``RequestError`` for a field that the link's API has no place
    for, and for a value that it does not take.
    """
    places = PLACES[link.api]
    made: list[tuple[Path, Any]] = []
    for name, value in body.items():
        if name in OURS or value is None or (name in DEFAULTS and _same(value, DEFAULTS[name])):
            continue
        if name not in places:
            if name in LEFT_OUT:
                continue
            raise RequestError(name, f"{link.name} speaks the API {link.api}, which has nothing of the kind")
        fits, words = _KINDS.get(name, (None, ""))
        if fits is not None and not fits(value):
            raise RequestError(name, f"must be {words}")
        if name in CAPS and link.max_output_tokens is not None:
            value = min(value, link.max_output_tokens)
        made.append((places[name], [value] if name == "stop" and isinstance(value, str) else value))
    return made


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def laid(body: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """A body with a value at a place."""
    first, *rest = path
    if not rest:
        return {**body, first: value}
    inner = body.get(first)
    return {**body, first: laid(inner if isinstance(inner, Mapping) else {}, tuple(rest), value)}
