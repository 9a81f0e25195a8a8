"""A request's body for the API of a link: the model, the conversation, the caps and the fields that the configuration
lays over it. ``strictcall.api`` writes the tools into it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

from strictcall.api import chat_completions, converse, generate_content, messages, responses
from strictcall.api.answer import Answer
from strictcall.link.resolved import Api, ResolvedLink
from strictcall.link.turns import Item, Results, Said, Turn, neutral

MODULES: Final[Mapping[Api, ModuleType]] = {
    "chat_completions": chat_completions,
    "responses": responses,
    "messages": messages,
    "generate_content": generate_content,
    "converse": converse,
}
"""The envelope of each API."""
MESSAGES_MAX_TOKENS: Final = 8192
"""Anthropic's API insists on a cap; this one is that of its models which have the least, but for the oldest."""
_OPENAI_S_OWN: Final = frozenset({"azure-openai", "openai", "openai-finetuned"})
"""Dialects whose servers call the cap ``max_completion_tokens``: newer models refuse ``max_tokens``. Elsewhere that is
the name which all know.
"""
_NO_STREAM_OPTIONS: Final = frozenset({"mistral"})
"""Dialects whose servers refuse ``stream_options``; usage comes without being asked for."""


def body_of(link: ResolvedLink, turns: Sequence[Turn], *, streamed: bool = False) -> dict[str, Any]:
    """The body, ready for ``write`` of the link's API; answers stand in it as they are.

    Raises ``RequestError`` for a turn that the link's API cannot be told of.
    """
    if link.api == "chat_completions":
        return _chat(link, turns, streamed=streamed)
    return _OTHERS[link.api](link, list(neutral(turns)))


def _chat(link: ResolvedLink, turns: Sequence[Turn], *, streamed: bool) -> dict[str, Any]:
    made: list[Any] = []
    for turn in turns:
        if isinstance(turn, Results):
            made += chat_completions.results(turn.calls, turn.outputs)
        else:
            made.append(turn)
    dialect = link.dialect.name.rstrip("*")
    body: dict[str, Any] = {"model": link.model, "messages": made}
    if link.max_output_tokens is not None:
        cap = "max_completion_tokens" if dialect in _OPENAI_S_OWN else "max_tokens"
        body[cap] = link.max_output_tokens
    if streamed and dialect not in _NO_STREAM_OPTIONS:
        body["stream_options"] = {"include_usage": True}
    return _with_extra(body, link)


def _responses(link: ResolvedLink, items: Sequence[Item]) -> dict[str, Any]:
    def said(item: Said) -> Any:
        if len(item.texts) == 1:
            return {"role": item.role, "content": item.texts[0]}
        return {"role": item.role, "content": [{"type": "input_text", "text": text} for text in item.texts]}

    body: dict[str, Any] = {"model": link.model, "input": _told(items, responses, said)}
    if link.max_output_tokens is not None:
        body["max_output_tokens"] = link.max_output_tokens
    return _with_extra(body, link)


def _messages(link: ResolvedLink, items: Sequence[Item]) -> dict[str, Any]:
    def said(item: Said) -> Any:
        if len(item.texts) == 1:
            return {"role": "user", "content": item.texts[0]}
        return {"role": "user", "content": [{"type": "text", "text": text} for text in item.texts]}

    system, others = _apart(items)
    cap = link.max_output_tokens or MESSAGES_MAX_TOKENS
    body: dict[str, Any] = {"model": link.model, "max_tokens": cap}
    if system:
        body["system"] = system
    return _with_extra({**body, "messages": _told(others, messages, said)}, link)


def _generate_content(link: ResolvedLink, items: Sequence[Item]) -> dict[str, Any]:
    system, others = _apart(items)
    config: dict[str, Any] = {}
    if system:
        config["system_instruction"] = system
    if link.max_output_tokens is not None:
        config["max_output_tokens"] = link.max_output_tokens
    if link.extra_body:
        config["http_options"] = {"extra_body": dict(link.extra_body)}
    contents = _told(
        others,
        generate_content,
        lambda item: {"role": "user", "parts": [{"text": text} for text in item.texts]},
    )
    return {"model": link.model, "contents": contents, "config": config}


def _converse(link: ResolvedLink, items: Sequence[Item]) -> dict[str, Any]:
    system, others = _apart(items)
    said = _told(others, converse, lambda item: {"role": "user", "content": [{"text": text} for text in item.texts]})
    body: dict[str, Any] = {"modelId": link.model, "messages": said}
    if system:
        body["system"] = [{"text": system}]
    if link.max_output_tokens is not None:
        body["inferenceConfig"] = {"maxTokens": link.max_output_tokens}
    return {**body, **({"additionalModelRequestFields": dict(link.extra_body)} if link.extra_body else {})}


_OTHERS: Final[Mapping[Api, Callable[[ResolvedLink, Sequence[Item]], dict[str, Any]]]] = {
    "responses": _responses,
    "messages": _messages,
    "generate_content": _generate_content,
    "converse": _converse,
}


def _with_extra(body: dict[str, Any], link: ResolvedLink) -> dict[str, Any]:
    return {**body, "extra_body": dict(link.extra_body)} if link.extra_body else body


def _apart(items: Sequence[Item]) -> tuple[str, list[Item]]:
    """What the system says, which has a place of its own, and everything else."""
    system = [text for item in items if _is_system(item) for text in item.texts]  # type: ignore[union-attr]
    return "\n\n".join(system), [item for item in items if not _is_system(item)]


def _is_system(item: Item) -> bool:
    return isinstance(item, Said) and item.role != "user"


def _told(items: Sequence[Item], module: ModuleType, said: Callable[[Said], Any]) -> list[Any]:
    return [made for item in items for made in _each(item, module, said)]


def _each(item: Item, module: ModuleType, said: Callable[[Said], Any]) -> Iterator[Any]:
    if isinstance(item, Results):
        calls = item.calls
        if module is generate_content:
            # Its results hold the tool's name, and another link's wire name would be no name here.
            calls = tuple(dataclasses.replace(call, wire_name="") for call in calls)
        yield from module.results(calls, item.outputs)
    elif isinstance(item, Answer):
        yield item
    else:
        yield said(item)
