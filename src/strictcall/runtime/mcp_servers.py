"""Many MCP servers at once, from an ``mcpServers`` config, their tools ready to run.

Each server has a task of its own that starts it, follows its list of tools, and starts it again when it ends; what
befalls one never touches another. Needs the ``mcp`` extra.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import anyio

from strictcall.errors import SettingsError, SourceError
from strictcall.runtime.mcp_connection import Surroundings
from strictcall.runtime.mcp_names import Owned, found, named, qualified
from strictcall.runtime.mcp_server import McpServer
from strictcall.runtime.mcp_settings import McpSettings, ServerState, ServerStatus
from strictcall.runtime.output import Output
from strictcall.runtime.runnable import Context, RunnableTool
from strictcall.source.documents import read_file
from strictcall.source.flaws import FlawedObject
from strictcall.source.mcp_config import asked_for, is_off, servers_of, unknown_server, workspace_of
from strictcall.source.mcp_server import NEEDED, Asked
from strictcall.source.reading import Reading
from strictcall.tool import Tool

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

_PLACE: Final = "mcpServers"
_LISTED: Final = frozenset({ServerState.STARTING, ServerState.UP, ServerState.RESTARTING})
"""While a server is being started again its tools are still offered: a call waits for it."""
_LOG: Final = logging.getLogger("strictcall")
_DEFAULT: Final = McpSettings()


class McpServers:
    """Many MCP servers at once; to be used with ``async with``, on asyncio or trio.

    ``config`` is the value of an ``mcpServers`` config, in the spelling of any client that ``strictcall`` reads, or the
    path of a file that holds one; ``servers`` are those of it to take, all where it is empty. ``workspace`` is the
    folder that servers run in unless their entry says otherwise: the working directory, or what the file speaks for.
    ``on_change`` is called, in the event loop, with the status of a server whenever its state or its tools change.

    Entering waits until each server is up or has failed for the first time; one that failed is started again meanwhile,
    and hides no other. A server that the config disables is off, and can be switched on. Leaving ends all servers, with
    all that they started.

    Raises ``SourceError`` for a config that is none, and one that has no such server.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | Path | None = None,
        *,
        servers: Sequence[str] = (),
        workspace: str | Path | None = None,
        settings: McpSettings = _DEFAULT,
        on_change: Callable[[ServerStatus], None] | None = None,
    ) -> None:
        self._place, value, folder = _read(config)
        self._entries = _picked(_entries(value, self._place), servers, self._place)
        self._workspace = Path(workspace) if workspace is not None else folder
        self._settings = settings
        self._on_change = on_change
        self._servers: dict[str, McpServer] = {}
        self._given: dict[Owned, str] = {}
        self._group: TaskGroup | None = None
        self._around: Surroundings | None = None
        self._life: AbstractAsyncContextManager[None] | None = None

    async def __aenter__(self) -> Self:
        """Start the servers, and wait until each is up or has failed. Raises ``SourceError`` without the MCP SDK."""
        self._life = self._lived()
        await self._life.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End the servers."""
        return await self._life.__aexit__(kind, error, trace) if self._life is not None else None

    @property
    def tools(self) -> tuple[RunnableTool, ...]:
        """The tools of all servers that are on and not down, ready to run, in the order of the servers.

        The name of a tool is its own unless another server has a tool of that name, see ``McpSettings.names``; once
        given it stays, whatever servers come later. A tool that is kept from here may be run whatever becomes of its
        server; the model is told.
        """
        return tuple(self._runnable(owned, name) for owned, name in self._names().items())

    def find(self, name: str) -> RunnableTool | None:
        """The tool that a name means: as in ``tools``, or ``server__tool``, ``server.tool``, ``server/tool``, or the
        tool's own name where only one server has it. ``None`` where that is no tool, or more than one.

        So what a configuration says of ``server.tool`` is about the tool called ``find("server.tool").name``.
        """
        names = self._names()
        owned = found(name, names)
        return self._runnable(owned, names[owned]) if owned is not None else None

    @property
    def statuses(self) -> tuple[ServerStatus, ...]:
        """What each server is about now, in the order in which they were added."""
        return tuple(server.status for server in self._servers.values())

    def status(self, name: str) -> ServerStatus:
        """What a server is about now. Raises ``SettingsError`` for a name that no server has."""
        return self._server(name).status

    async def add(self, name: str, entry: Mapping[str, Any]) -> ServerStatus:
        """Add a server, as a config entry has it, and start it; returns what came of that.

        Raises ``SettingsError`` for a name that a server has already.
        """
        if name in self._servers:
            raise SettingsError("server", f"there is one called {name!r} already; remove it first")
        return await self._add(name, entry).settled()

    async def remove(self, name: str) -> None:
        """End a server for good, and wait until it has ended. Raises ``SettingsError`` for an unknown name."""
        server = self._server(name)
        del self._servers[name]
        self._given = {owned: given for owned, given in self._given.items() if owned[0] != name}
        server.remove()
        await server.gone.wait()

    async def restart(self, name: str) -> ServerStatus:
        """End a server and start it anew, also one that was off or down; returns what came of that.

        Raises ``SettingsError`` for an unknown name.
        """
        server = self._server(name)
        server.restart()
        return await server.settled()

    async def switch_off(self, name: str) -> None:
        """End a server and take its tools away, until it is switched on.

        Raises ``SettingsError`` for an unknown name.
        """
        self._server(name).switch(on=False)

    async def switch_on(self, name: str) -> ServerStatus:
        """Start a server that was off; returns what came of that. Raises ``SettingsError`` for an unknown name."""
        server = self._server(name)
        server.switch(on=True)
        return await server.settled()

    @asynccontextmanager
    async def _lived(self) -> AsyncIterator[None]:
        try:
            import mcp  # noqa: F401, PLC0415  an extra
        except ModuleNotFoundError:
            raise SourceError(self._place, NEEDED) from None
        failure: BaseException | None = None
        async with anyio.create_task_group() as group:
            self._group = group
            self._around = Surroundings(self._settings, anyio.Semaphore(self._settings.at_once))
            try:
                for server in [self._add(name, entry) for name, entry in self._entries.items()]:
                    await server.settled()
                self._names()
                yield
            except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001  raised again, outside the group
                failure = error
            finally:
                self._group = None
            group.cancel_scope.cancel()
        # Out of the task group an error is itself, and not one of a group.
        if failure is not None:
            raise failure

    def _add(self, name: str, entry: Any) -> McpServer:
        if self._group is None or self._around is None:
            raise RuntimeError("MCP servers run only within 'async with'")
        asked, flaw = self._asked(name, entry)
        server = McpServer(name, asked, self._around, self._tell, flaw)
        if is_off(entry):
            server.switch(on=False)
        self._servers[name] = server
        self._group.start_soon(server.run, name=f"MCP server {name}")
        return server

    def _asked(self, name: str, entry: Any) -> tuple[Asked | None, str]:
        try:
            return asked_for(name, entry, self._place, self._workspace, self._settings.start_timeout), ""
        except ValueError as error:
            return None, str(error)

    def _tell(self, status: ServerStatus) -> None:
        if self._on_change is None:
            return
        try:
            self._on_change(status)
        except Exception:  # noqa: BLE001  what listens is the user's, and no server must end for it
            _LOG.exception("what was to be told of a change of the MCP server %r failed", status.name)

    def _server(self, name: str) -> McpServer:
        if name not in self._servers:
            near = get_close_matches(name, self._servers, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise SettingsError("server", f"none is called {name!r}{hint}")
        return self._servers[name]

    def _names(self) -> dict[Owned, str]:
        offered = (server for server in self._servers.values() if server.status.state in _LISTED)
        owned = [(server.name, listed.tool.name) for server in offered for listed in server.tools]
        names = named(owned, self._given, always=self._settings.names == "all")
        self._given |= names
        return names

    def _runnable(self, owned: Owned, name: str) -> RunnableTool:
        server = self._servers[owned[0]]
        listed = server.listed_as[owned[1]]

        async def run(arguments: Any, context: Context) -> Output:
            return await server.call(owned[1], arguments, context)

        return RunnableTool(
            Tool(name, listed.tool.description, listed.tool.parameters),
            run,
            timeout=self._settings.call_timeout,
            read_only=listed.read_only if self._settings.trust_hints else None,
            also=(*qualified(owned), owned[1]),
        )


def _read(config: Mapping[str, Any] | str | Path | None) -> tuple[str, Any, Path]:
    """Where a config is from, its value, and the folder that it speaks for. Raises ``SourceError``."""
    if config is None:
        return _PLACE, {"mcpServers": {}}, Path.cwd()
    if not isinstance(config, str | Path):
        return _PLACE, config, Path.cwd()
    values: list[Any] = []

    def keep(value: Any, place: str, name: str) -> Reading:
        del place, name
        values.append(value)
        return Reading()

    problems = read_file(str(config), keep).problems
    if not values:
        raise SourceError(problems[0].place, problems[0].text)
    return str(config), values[0], workspace_of(Path(config))


def _entries(value: Any, place: str) -> dict[str, Any]:
    servers = servers_of(value)
    if servers is None:
        raise SourceError(place, "is no MCP config: it has no map of servers under mcpServers")
    if isinstance(servers, FlawedObject):
        raise SourceError(place, f"two servers in it are called {servers.key!r}")
    return dict(servers)


def _picked(entries: dict[str, Any], names: Sequence[str], place: str) -> dict[str, Any]:
    """The servers of these names; all where there are none."""
    for name in names:
        if name not in entries:
            raise SourceError(place, unknown_server(name, entries))
    return {name: _wanted(entries[name]) for name in names} if names else entries


def _wanted(entry: Any) -> Any:
    """An entry of a server that was named: it is wanted, whatever the file says of it."""
    if not is_off(entry):
        return entry
    return {key: value for key, value in entry.items() if key not in ("disabled", "enabled")}
