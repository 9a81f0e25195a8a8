"""One MCP server under its name: started, called, restarted when it ends, switched off and on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from strictcall.json_value import json_type
from strictcall.runtime.mcp_connection import Connection, EndedError, ForgottenError, Surroundings, live
from strictcall.runtime.mcp_listing import ListedTool, Listing
from strictcall.runtime.mcp_output import result_output
from strictcall.runtime.mcp_settings import ServerState, ServerStatus
from strictcall.runtime.output import ErrorCode, Output, RespondToModel, ToolError
from strictcall.runtime.runnable import Context
from strictcall.source.mcp_server import Asked
from strictcall.source.secrets import hidden

if TYPE_CHECKING:
    from anyio import CancelScope
    from mcp import MCPError

_TRIES: Final = 2
_WORKING: Final = frozenset({ServerState.STARTING, ServerState.RESTARTING})
_CODES: Final = {
    -32601: ErrorCode.TOOL_NOT_FOUND,
    -32602: ErrorCode.INVALID_ARGUMENTS,
    -32001: ErrorCode.TIMEOUT,
}
_NOT_UP: Final = {
    ServerState.UP: "has just ended; it is being started again",
    ServerState.STARTING: "is still being started; try again later",
    ServerState.RESTARTING: "is not running; it is being started again",
    ServerState.DOWN: "is not running and could not be started again",
    ServerState.OFF: "was switched off",
    ServerState.REMOVED: "was removed",
}


class McpServer:
    """An MCP server under its name.

    ``run`` keeps it as it is wanted; everything else may be called from any other task of the same event loop.
    ``flaw`` says why the server cannot be used at all, where its config entry is none.
    """

    def __init__(
        self,
        name: str,
        asked: Asked | None,
        around: Surroundings,
        told: Callable[[ServerStatus], None],
        flaw: str = "",
    ) -> None:
        self.name = name
        self.tools: tuple[ListedTool, ...] = ()
        self.listed_as: Mapping[str, ListedTool] = {}
        self.status = ServerStatus(name, ServerState.STARTING)
        self.gone = anyio.Event()
        self._asked = asked
        self._flaw = flaw
        self._around = around
        self._told = told
        self._connection: Connection | None = None
        self._on = True
        self._removed = False
        self._scope: CancelScope | None = None
        self._changed = anyio.Event()
        self._reached_at = float("-inf")
        self._loop: EventLoopToken | None = None

    async def run(self) -> None:
        """Keep the server as it is wanted, until it is removed. Never raises for what the server does."""
        self._loop = current_token()
        try:
            while not self._removed:
                with anyio.CancelScope() as self._scope:
                    await self._keep()
        finally:
            self.gone.set()

    def switch(self, *, on: bool) -> None:
        """Switch the server on or off. Its tools are listed only while it is on."""
        if self._on is on:
            return
        self._on = on
        self._turn(ServerState.STARTING if on else ServerState.OFF)

    def restart(self) -> None:
        """End the server and start it anew; one that was off is on afterwards, one that was down gets new chances."""
        self._on = True
        self._turn(ServerState.STARTING)

    def remove(self) -> None:
        """End the server for good."""
        self._removed = True
        self._turn(ServerState.REMOVED)

    async def settled(self) -> ServerStatus:
        """Wait until a start of the server has come to something; returns the status then."""
        while self.status.state is ServerState.STARTING:
            await self._changed.wait()
        return self.status

    async def call(self, tool: str, arguments: Any, context: Context) -> Output:
        """Call one of the server's tools; whatever becomes of it is an output.

        While the server is being started the call waits for a while. A call is made again only where the server did not
        look at it: what one did before the server ended is not known.
        """
        if not isinstance(arguments, dict):
            said = f"the tool takes its arguments as an object, not as {json_type(arguments)}"
            return RespondToModel(ToolError(ErrorCode.INVALID_ARGUMENTS, said))
        if self._loop is not None and current_token() != self._loop:
            # There it would wait for ever, and spoil the connection for the loop that it belongs to.
            return self._failed("can be called in the event loop only in which it was started")
        for _ in range(_TRIES):
            connection = await self._reach()
            if connection is None:
                break
            with suppress(ForgottenError):
                return await self._called(connection, tool, arguments, context)
        return self._failed(_NOT_UP[self.status.state])

    async def _called(self, connection: Connection, tool: str, arguments: dict[str, Any], context: Context) -> Output:
        from mcp import MCPError  # noqa: PLC0415  an extra

        try:
            result = await connection.call(tool, arguments, context.report)
        except ForgottenError:
            raise
        except EndedError:
            return self._failed("ended before it answered; whether the call did anything is not known")
        except MCPError as error:
            return self._refused(error)
        except Exception as error:  # noqa: BLE001  whatever a stranger's server makes of the SDK, the model is told
            return self._failed("answered with what is no result of a call", self._hidden(error))
        return result_output(result)

    def _failed(self, how: str, details: Any = None) -> Output:
        said = f"the MCP server {self.name!r} {how}"
        return RespondToModel(ToolError(ErrorCode.EXECUTION_ERROR, said), details or self.status.to_json())

    def _refused(self, error: MCPError) -> Output:
        code = _CODES.get(error.code, ErrorCode.EXECUTION_ERROR)
        details = {"server": self.name, "code": error.code, "message": error.message, "data": error.data}
        return RespondToModel(ToolError(code, self._hidden(error) or "the server refused and did not say why"), details)

    def _hidden(self, error: Exception) -> str:
        return hidden(str(error), self._asked.secrets if self._asked is not None else ()).strip()

    async def _reach(self) -> Connection | None:
        with anyio.move_on_after(self._around.settings.patience):
            while self.status.state in _WORKING or self._is_ending():
                await self._changed.wait()
        return None if self._is_ending() else self._connection

    def _is_ending(self) -> bool:
        """Whether the server is known to have ended, and what is left of it is being cleared away."""
        return self._connection is not None and self._connection.ended

    async def _keep(self) -> None:
        """Start the server, and again whenever it ended, until that was too often. Ends only by being cancelled."""
        if self._on and self._asked is None:
            self._become(ServerState.DOWN, self._flaw)
        elif self._on:
            await self._keep_up(self._asked)
        else:
            self._become(ServerState.OFF)
        await anyio.sleep_forever()

    async def _keep_up(self, asked: Asked | None) -> None:
        settings, failures = self._around.settings, 0
        while asked is not None:
            self.status = replace(self.status, starts=self.status.starts + 1)
            began = anyio.current_time()
            try:
                why = await live(asked, self._around, self)
            finally:
                self._connection = None
            # What was wanted meanwhile goes first, also where ending the server made an error of being cancelled.
            await anyio.lowlevel.checkpoint_if_cancelled()
            was_stable = self._reached_at >= began and anyio.current_time() - self._reached_at >= settings.stable
            failures = 1 if was_stable else failures + 1
            if failures > settings.restarts:
                self._become(ServerState.DOWN, why)
                return
            self._become(ServerState.RESTARTING, why)
            await anyio.sleep(settings.delay(failures))

    def reached(self, connection: Connection, listing: Listing) -> None:
        """As ``Listener``."""
        self._connection = connection
        self._reached_at = anyio.current_time()
        self.status = replace(self.status, protocol=connection.protocol, version=connection.version)
        self._take(listing)
        self._become(ServerState.UP)

    def listed(self, listing: Listing) -> None:
        """As ``Listener``."""
        self._take(listing)
        self._become(self.status.state, self.status.reason)

    def trouble(self, text: str) -> None:
        """As ``Listener``."""
        self.status = replace(self.status, problems=(*self.status.problems, text))
        self._become(self.status.state, self.status.reason)

    def _take(self, listing: Listing) -> None:
        self.tools = listing.tools
        self.listed_as = {listed.tool.name: listed for listed in listing.tools}
        self.status = replace(self.status, tools=tuple(self.listed_as), problems=listing.problems)

    def _turn(self, state: ServerState) -> None:
        """Something else is wanted of the server than what is under way."""
        self._connection = None
        self._become(state)
        if self._scope is not None:
            self._scope.cancel()

    def _become(self, state: ServerState, why: str = "") -> None:
        self.status = replace(self.status, state=state, reason=why)
        self._changed.set()
        self._changed = anyio.Event()
        self._told(self.status)
