"""One life of an MCP server: it is started or reached, lists its tools, answers calls, and ends."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, Protocol

import anyio

from strictcall.runtime.mcp_listing import Listing, ListingError, list_tools
from strictcall.runtime.mcp_raw import raw, whole
from strictcall.runtime.mcp_settings import McpSettings
from strictcall.source.mcp_server import Asked, last_words, quiet_sdk, reason
from strictcall.source.mcp_transport import HttpServer
from strictcall.source.processes import MARK, marked

if TYPE_CHECKING:
    from anyio import Semaphore
    from mcp import Client, MCPError

Report = Callable[[float | None, float | None, str | None], None]
"""Takes how far a call has come, out of how much, and words for people."""

_CHANGED: Final = "notifications/tools/list_changed"
_CONNECTION_CLOSED: Final = -32000
_ENDED: Final = "it ended"
_FORGOTTEN: Final = "it forgot the session"
_HUNG: Final = "it no longer answered"
_MOST_WRITTEN: Final = 8 * 1024 * 1024
_LISTEN_AGAIN_SECONDS: Final = 1.0


class EndedError(Exception):
    """The server ended while a call was under way."""


class ForgottenError(Exception):
    """The server, behind a URL, no longer knows who calls, and has not looked at the call."""


class Listener(Protocol):
    """Who is told what becomes of a server."""

    def reached(self, connection: Connection, listing: Listing) -> None:
        """The server is up and lists these tools."""

    def listed(self, listing: Listing) -> None:
        """It lists other tools now."""

    def trouble(self, text: str) -> None:
        """It is up, but something about it is wrong."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the lives of all servers share: the settings, and who may start now."""

    settings: McpSettings
    gate: Semaphore


async def live(asked: Asked, around: Surroundings, listener: Listener) -> str:
    """Start or reach a server, and see to it until it ends; returns why it did, in words for people.

    Never raises for what the server does. However it ends, also when cancelled, all that it started is ended.
    """
    # What the server writes is appended, so that reading and cutting it does not move where it writes.
    with quiet_sdk(), tempfile.TemporaryFile("a+b") as errors:
        try:
            with marked() as mark:
                why = await _connect(asked, around, listener, errors, {MARK: mark})
        except Exception as error:  # noqa: BLE001  whatever a stranger's server makes of the SDK, it is why this one ended
            why = reason(error, around.settings.start_timeout, asked.secrets)
        return why + last_words(errors, asked.secrets)


async def _connect(
    asked: Asked, around: Surroundings, listener: Listener, errors: IO[bytes], mark: Mapping[str, str]
) -> str:
    from mcp import Client, Implementation  # noqa: PLC0415  an extra

    signals = _Signals()
    server = asked.server
    if isinstance(server, HttpServer):
        server = replace(server, patient=True, forgotten=partial(signals.end, _FORGOTTEN))
    async with AsyncExitStack() as starting:
        await starting.enter_async_context(around.gate)
        with anyio.fail_after(around.settings.start_timeout) as limit:
            client = Client(
                whole(server.opened(errors, mark), signals.end),
                cache=None,
                message_handler=signals.heard,
                client_info=Implementation(name="strictcall", version=version("strictcall")),
            )
            async with client:
                listing = await list_tools(client)
                limit.deadline = math.inf
                await starting.aclose()
                connection = Connection(client, signals, around.settings, errors)
                listener.reached(connection, listing)
                return await connection.attend(listener)


class _Signals:
    """What there is to do about a server."""

    def __init__(self) -> None:
        self.ended = ""
        self.changed = False
        self.doubtful = False
        self._event = anyio.Event()

    def end(self, why: str = _ENDED) -> None:
        self.ended = self.ended or why
        self.wake()

    def change(self) -> None:
        self.changed = True
        self.wake()

    def doubt(self) -> None:
        self.doubtful = True
        self.wake()

    def wake(self) -> None:
        self._event.set()

    async def heard(self, message: Any) -> None:
        """Take a notification of the server's."""
        if getattr(message, "method", None) == _CHANGED:
            self.change()

    async def wait(self) -> None:
        await self._event.wait()
        self._event = anyio.Event()


class Connection:
    """A server that is up."""

    def __init__(self, client: Client, signals: _Signals, settings: McpSettings, errors: IO[bytes]) -> None:
        self._client = client
        self._signals = signals
        self._settings = settings
        self._errors = errors
        self._under_way = 0

    @property
    def protocol(self) -> str:
        """The revision of the protocol that was agreed on."""
        return self._client.protocol_version

    @property
    def version(self) -> str | None:
        """The server's own name and version, where it says them."""
        info = self._client.server_info
        return f"{info.name} {info.version}".strip() if info is not None else None

    @property
    def ended(self) -> bool:
        """Whether the server is known to have ended."""
        return bool(self._signals.ended)

    async def call(self, tool: str, arguments: dict[str, Any], report: Report) -> Mapping[str, Any]:
        """The raw result of a call. A call that is cancelled is cancelled at the server too.

        Raises ``EndedError`` where the server ended meanwhile, ``ForgottenError`` where it is to be connected to anew
        and the call made again, else what the SDK raises.
        """
        from mcp import MCPError  # noqa: PLC0415  an extra

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            if not over:
                report(progress, total, message)

        over = False
        self._under_way += 1
        try:
            result = await self._client.call_tool(tool, arguments, progress_callback=heard)
        except anyio.get_cancelled_exc_class():
            self._signals.doubt()
            raise
        except MCPError as error:
            self._explain(error)
        finally:
            over = True
            self._under_way -= 1
            self._signals.wake()
        kept = raw(result)
        return kept if kept is not None else result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def _explain(self, error: MCPError) -> NoReturn:
        """Raise what an error of the protocol means."""
        # A call that was under way when another one found the session forgotten may have done something.
        if self._signals.ended == _FORGOTTEN and error.code != _CONNECTION_CLOSED:
            raise ForgottenError from error
        if self._signals.ended or (error.code, error.message) == (_CONNECTION_CLOSED, "Connection closed"):
            raise EndedError from error
        raise error

    async def attend(self, listener: Listener) -> str:
        """See to the server until it ends or hangs; returns why."""
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS  # noqa: PLC0415  an extra

        async with anyio.create_task_group() as group:
            tools = self._client.server_capabilities.tools
            if self.protocol in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                group.start_soon(self._listen)
            why = await self._attend(listener)
            group.cancel_scope.cancel()
        return why

    async def _attend(self, listener: Listener) -> str:
        signals = self._signals
        while True:
            await signals.wait()
            if signals.ended:
                return signals.ended
            self._cut()
            if signals.changed:
                signals.changed = False
                await self._list_again(listener)
            # A server that works at another call may be too busy to answer, and would lose that call.
            if signals.doubtful and not self._under_way:
                signals.doubtful = False
                if not await self._answers():
                    return _HUNG

    async def _list_again(self, listener: Listener) -> None:
        from mcp import MCPError  # noqa: PLC0415  an extra

        try:
            with anyio.fail_after(self._settings.start_timeout):
                listener.listed(await list_tools(self._client))
        except TimeoutError:
            self._signals.doubt()
        except (MCPError, ListingError, ValueError) as error:
            if not self._signals.ended:
                listener.trouble(f"its tools changed, and it could not list them: {error}")

    async def _answers(self) -> bool:
        """Whether the server answers at all; what it says does not matter."""
        from mcp import MCPError  # noqa: PLC0415  an extra

        with anyio.move_on_after(self._settings.health_timeout):
            with suppress(MCPError, ValueError):
                await self._client.list_tools()
            return True
        return False

    async def _listen(self) -> None:
        """Follow changes as the protocol has it since 2026-07-28: on a stream that the client asks for."""
        from mcp import MCPError  # noqa: PLC0415  an extra
        from mcp.client.subscriptions import SubscriptionLost  # noqa: PLC0415  an extra

        while True:
            try:
                async with self._client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._signals.change()
            except SubscriptionLost:
                pass
            except MCPError:
                return  # it does not tell of changes after all
            await anyio.sleep(_LISTEN_AGAIN_SECONDS)
            # What changed while nobody listened is not told again.
            self._signals.change()

    def _cut(self) -> None:
        """Forget what the server wrote to standard error where it is too much to keep."""
        if self._errors.seek(0, 2) > _MOST_WRITTEN:
            self._errors.truncate(0)
