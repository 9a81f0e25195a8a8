"""What MCP servers say, kept whole on its way through the SDK.

The SDK's models refuse a whole answer for one part that they do not know, drop what they have no field for, and check a
result against its tool's output schema, where the model is better served with the result. So they are given answers
cut down to what they need, with the whole one under a key of ``_meta``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Final, Self

import anyio

from strictcall.source.mcp_transport import tapped

_KEY: Final = "strictcall/raw"
_UNREAD: Final = frozenset({"$schema", "required"})
_WRITING_SECONDS: Final = 0.5


def kept_whole(item: Any) -> Any:
    """A message as a server sent it, cut down for the SDK where it answers ``tools/list`` or ``tools/call``."""
    message = getattr(item, "message", None)
    result = getattr(message, "result", None)
    if message is None or not isinstance(result, dict):
        return item
    if isinstance(result.get("tools"), list):
        plain = _plain_page(result)
    elif _is_call_result(result):
        plain = _plain_result(result)
    else:
        return item
    return replace(item, message=message.model_copy(update={"result": plain}))


def raw(result: Any) -> dict[str, Any] | None:
    """The whole answer that was kept with one of the SDK's results; ``None`` where there is none."""
    kept = (result.meta or {}).get(_KEY)
    return kept if isinstance(kept, dict) else None


def _is_call_result(result: dict[str, Any]) -> bool:
    if result.get("resultType", "complete") != "complete":
        return False
    return "content" in result or "structuredContent" in result


def _plain_result(result: dict[str, Any]) -> dict[str, Any]:
    rest = {key: item for key, item in result.items() if key not in {"structuredContent", "isError"}}
    return {**rest, "content": [], "isError": result.get("isError") is True, "_meta": {_KEY: result}}


def _plain_page(result: dict[str, Any]) -> dict[str, Any]:
    tools = [_plain_tool(tool) for tool in result["tools"] if isinstance(tool, dict) and _is_named(tool)]
    cursor = result.get("nextCursor")
    rest = {key: item for key, item in result.items() if key != "nextCursor"}
    following = {"nextCursor": cursor} if isinstance(cursor, str) and cursor else {}
    return {**rest, **following, "tools": tools, "_meta": {_KEY: result}}


def _is_named(tool: dict[str, Any]) -> bool:
    return isinstance(tool.get("name"), str)


def _plain_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """The SDK reads from a schema only which arguments are repeated in HTTP headers; the rest must be to its liking."""
    given = tool.get("inputSchema")
    schema = {key: item for key, item in given.items() if key not in _UNREAD} if isinstance(given, dict) else {}
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not all(isinstance(item, dict | bool) for item in properties.values()):
        schema.pop("properties", None)
    return {"name": tool["name"], "inputSchema": {**schema, "type": "object"}}


@asynccontextmanager
async def whole(transport: AbstractAsyncContextManager[Any], ended: Callable[[], None]) -> AsyncIterator[Any]:
    """The streams of a transport for a client whose results are to be kept whole.

    ``ended`` is called when the server has no more to say.
    """
    async with tapped(transport, kept_whole, ended) as (read, write):
        yield read, _Bounded(write)


class _Bounded:
    """A write stream on which saying that a call was given up never takes long.

    The SDK waits up to five seconds for it, and cannot be cancelled meanwhile: a server that reads nothing any more
    would hold up whoever gave up on it.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def send(self, item: Any) -> None:
        if getattr(item.message, "method", None) != "notifications/cancelled":
            await self._stream.send(item)
            return
        with anyio.move_on_after(_WRITING_SECONDS):
            await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> Any:
        return await self._stream.__aexit__(*details)
