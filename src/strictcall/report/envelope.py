"""A compiled tool as each provider's API takes it in a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from strictcall.wire.compiled import CompiledTool


def _strict(compiled: CompiledTool) -> dict[str, bool]:
    """The strict marking: ``true``, or what the dialect says that a loose tool carries."""
    if compiled.strict:
        return {"strict": True}
    return {"strict": False} if compiled.dialect.strict_marking == "false" else {}


def _described(compiled: CompiledTool) -> dict[str, str]:
    named = {"name": compiled.name}
    return named if compiled.description is None else named | {"description": compiled.description}


def _chat_completions(compiled: CompiledTool) -> dict[str, Any]:
    function = {**_described(compiled), "parameters": compiled.parameters, **_strict(compiled)}
    return {"type": "function", "function": function}


def _responses(compiled: CompiledTool) -> dict[str, Any]:
    return {"type": "function", **_described(compiled), "parameters": compiled.parameters, **_strict(compiled)}


def _messages(compiled: CompiledTool) -> dict[str, Any]:
    return {**_described(compiled), "input_schema": compiled.parameters, **_strict(compiled)}


def _generate_content(compiled: CompiledTool) -> dict[str, Any]:
    return {**_described(compiled), "parametersJsonSchema": compiled.parameters}


_WRITERS: Mapping[str, Callable[[CompiledTool], dict[str, Any]]] = {
    "chat_completions": _chat_completions,
    "responses": _responses,
    "messages": _messages,
    "generate_content": _generate_content,
}
APIS = tuple(_WRITERS)


def tool_for(api: str, compiled: CompiledTool) -> dict[str, Any]:
    """One tool as an entry of the request's ``tools`` under this API (one of ``APIS``).

    Where the strict mark stands: https://platform.openai.com/docs/guides/function-calling for both OpenAI APIs,
    https://platform.claude.com/docs/en/agents-and-tools/tool-use/strict-tool-use for messages; generate_content marks
    no tool (https://ai.google.dev/api/caching#FunctionDeclaration) and takes its functions in one declaration list.
    """
    written = _WRITERS[api](compiled)
    return {"functionDeclarations": [written]} if api == "generate_content" else written


def tools_for(api: str, compiled: Sequence[CompiledTool]) -> list[dict[str, Any]]:
    """Several tools as the request's ``tools`` under this API."""
    written = [_WRITERS[api](tool) for tool in compiled]
    return [{"functionDeclarations": written}] if api == "generate_content" else written
