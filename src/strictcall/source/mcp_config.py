"""MCP config files as they lie on disk: the servers of Claude Code, Claude Desktop, Cursor, VS Code and their like.

``mcpServers`` (https://code.claude.com/docs/en/mcp, https://cursor.com/docs/context/mcp) and VS Code's ``servers``
(https://code.visualstudio.com/docs/copilot/reference/mcp-configuration, also under ``mcp`` in its settings) map names
to a command with arguments and environment, or to a URL with headers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from strictcall.json_value import excerpt
from strictcall.source.expand import Expander
from strictcall.source.flaws import FlawedObject, first_flaw
from strictcall.source.mcp_server import Asked, check_headers, read_servers, shown_url, url_secrets
from strictcall.source.mcp_transport import HttpServer, StdioServer
from strictcall.source.options import ReadOptions
from strictcall.source.reading import Problem, Reading, failed, joined
from strictcall.source.secrets import known_secrets

_URLS = ("url", "serverUrl", "httpUrl")
_TRANSPORTS = {
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
    "sse": "sse",
}
_HIDDEN_FOLDERS = frozenset({".vscode", ".cursor"})


class _EntryError(ValueError):
    """A server's entry that cannot be used; the text says why and never repeats a value that may be secret."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A server as its config file has it."""

    name: str
    place: str
    value: Mapping[str, Any]


def is_config(value: Any) -> bool:
    """Whether a JSON value is an MCP config file: told by the map of servers that it holds."""
    return servers_of(value) is not None


def servers_of(value: Any) -> dict[str, Any] | None:
    """The map of servers in an MCP config of any client's dialect, ``None`` where there is none."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("mcpServers"), dict):
        return value["mcpServers"]  # type: ignore[no-any-return]
    inner = value.get("mcp")
    if isinstance(inner, dict) and isinstance(inner.get("servers"), dict):
        return inner["servers"]  # type: ignore[no-any-return]
    found = value.get("servers")
    return found if isinstance(found, dict) and all(map(_is_server, found.values())) else None


def _is_server(entry: Any) -> bool:
    return isinstance(entry, dict) and any(key in entry for key in ("command", *_URLS))


def workspace_of(path: Path) -> Path:
    """The folder that a config file speaks for: its own, or the one above ``.vscode`` and ``.cursor``."""
    folder = path.absolute().parent
    return folder.parent if folder.name in _HIDDEN_FOLDERS else folder


def read_config(value: Any, place: str, workspace: Path, options: ReadOptions) -> Reading:
    """The tools of the servers that an MCP config names, all of them or those that ``options.servers`` picks.

    Servers run in ``workspace`` unless their entry says otherwise, with this process's environment and their own. Where
    several are read, each tool's name gets its server's before it: ``server/tool``. A server that the file disables is
    left out with a note, unless it is picked by name. Never raises: a server that cannot be read is a problem, the
    others are read.
    """
    servers = servers_of(value) or {}
    if not servers:
        return failed(place, "there are no servers in it")
    if isinstance(servers, FlawedObject):
        return failed(place, f"two servers in it are called {servers.key!r}")
    unknown = [name for name in options.servers if name not in servers]
    if unknown:
        return joined(failed(place, unknown_server(name, servers)) for name in dict.fromkeys(unknown))
    picked = [name for name in servers if not options.servers or name in options.servers]
    off = [name for name in picked if is_off(servers[name]) and name not in options.servers]
    used = [_Entry(name, f"{place}: server {name!r}", servers[name]) for name in picked if name not in off]
    notes = tuple(Problem(f"{place}: server {name!r}", "disabled in the file, left out") for name in off)
    if not used:
        return Reading(problems=failed(place, "every server in it is disabled").problems, notes=notes)
    readings = _read_entries(used, workspace, options)
    if len(used) > 1:
        pairs = zip(used, readings, strict=True)
        readings = [_prefixed(reading, entry.name) for entry, reading in pairs]
    return joined([Reading(notes=notes), *readings])


def unknown_server(name: str, servers: Mapping[str, Any]) -> str:
    """Words for a server that a config does not name, with the names nearest to it."""
    near = get_close_matches(name, servers, n=3, cutoff=0.5)
    if near:
        return f"no server is called {name!r}; did you mean {' or '.join(map(repr, near))}?"
    return f"no server is called {name!r}; there are {', '.join(list(servers)[:10])}"


def is_off(entry: Any) -> bool:
    """Whether a server's entry says that it is switched off."""
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)


def _prefixed(reading: Reading, server: str) -> Reading:
    return replace(reading, tools=tuple(replace(tool, name=f"{server}/{tool.name}") for tool in reading.tools))


def _read_entries(entries: list[_Entry], workspace: Path, options: ReadOptions) -> list[Reading]:
    """A reading for each entry: what can be asked is asked together with the others."""
    asked: dict[str, Asked] = {}
    readings: dict[str, Reading] = {}
    for entry in entries:
        try:
            asked[entry.name] = _asked(entry, workspace, options.timeout)
        except ValueError as error:
            readings[entry.name] = failed(entry.place, str(error))
    readings |= zip(asked, read_servers(list(asked.values()), options), strict=True)
    return [readings[entry.name] for entry in entries]


def asked_for(name: str, entry: Any, place: str, workspace: Path, timeout: float) -> Asked:
    """How the server of one config entry is reached, with its variables filled in.

    Raises ``ValueError``, in words that may be shown, for an entry that cannot be used.
    """
    return _asked(_Entry(name, f"{place}: server {name!r}", entry), workspace, timeout)


def _asked(entry: _Entry, workspace: Path, timeout: float) -> Asked:
    """How a server is reached, with its variables filled in. Raises ``ValueError``, in words that may be shown."""
    if not isinstance(entry.value, dict):
        raise _EntryError("is no object with a command or a url")
    flaw = first_flaw(entry.value)
    if flaw is not None:
        raise _EntryError(flaw)
    kind = entry.value.get("type", entry.value.get("transport"))
    if kind is not None and (not isinstance(kind, str) or kind not in {"stdio", *_TRANSPORTS}):
        raise _EntryError(f"its type is {excerpt(kind)}; known are stdio, http and sse")
    expander = Expander(workspace)
    url = next((entry.value[key] for key in _URLS if key in entry.value), None)
    if kind == "stdio" or (url is None and kind is None):
        return _stdio(entry, expander)
    return _http(entry, expander, url, kind or "http", timeout)


def _http(entry: _Entry, expander: Expander, url: Any, kind: str, timeout: float) -> Asked:
    if not isinstance(url, str):
        raise _EntryError("has no url")
    headers = {name: expander.text(text) for name, text in _texts(entry, "headers").items()}
    full = expander.text(url)
    if not full.startswith(("http://", "https://")):
        raise _EntryError("its url does not start with http:// or https://")
    shown_url(full)
    check_headers(headers)
    secrets = known_secrets(url_secrets(full, headers), expander.taken)
    server = HttpServer(full, headers, "sse" if _TRANSPORTS[kind] == "sse" else "http", timeout)
    return Asked(entry.place, server, secrets)


def _stdio(entry: _Entry, expander: Expander) -> Asked:
    command = entry.value.get("command")
    if not isinstance(command, str) or not command:
        raise _EntryError("has neither a command nor a url")
    arguments = entry.value.get("args") or []
    if not isinstance(arguments, list) or not all(isinstance(item, str | int | float) for item in arguments):
        raise _EntryError("its args are no list of texts")
    folder = Path(os.path.join(expander.folder, expander.text(str(entry.value.get("cwd") or "."))))  # noqa: PTH118
    if not folder.is_dir():
        raise _EntryError(f"its cwd {excerpt(entry.value.get('cwd'))} is no folder")
    own = _environment_file(entry, expander) | _environment(entry, expander)
    words = [expander.text(command), *(expander.text(str(item)) for item in arguments)]
    if any("\0" in word for word in (*words, *own, *own.values())):
        raise _EntryError("a text in it holds a null character, which no command can be given")
    removed = {name for name, value in (entry.value.get("env") or {}).items() if value is None}
    environment = {name: value for name, value in {**expander.environment, **own}.items() if name not in removed}
    secrets = known_secrets(own.values(), expander.taken)
    return Asked(entry.place, StdioServer(words, environment, str(folder)), secrets)


def _environment(entry: _Entry, expander: Expander) -> dict[str, str]:
    return {name: expander.text(value) for name, value in _texts(entry, "env").items()}


def _environment_file(entry: _Entry, expander: Expander) -> dict[str, str]:
    """What ``envFile`` holds (VS Code, Cursor). Raises ``_EntryError`` where it cannot be read."""
    given = entry.value.get("envFile")
    if given is None:
        return {}
    if not isinstance(given, str):
        raise _EntryError("its envFile is no text")
    try:
        from dotenv import dotenv_values  # noqa: PLC0415  an extra
    except ModuleNotFoundError:
        raise _EntryError("reading its envFile needs python-dotenv: pip install 'strictcall[mcp]'") from None
    path = expander.folder / expander.text(given)
    if not path.is_file():
        raise _EntryError(f"its envFile {excerpt(given)} is no file")
    try:
        found = dotenv_values(path, interpolate=False)
    except (OSError, ValueError):
        raise _EntryError(f"its envFile {excerpt(given)} cannot be read") from None
    return {name: value for name, value in found.items() if value is not None}


def _texts(entry: _Entry, key: str) -> dict[str, str]:
    """A map of texts in an entry; numbers and booleans are written out, what is null is left out."""
    given = entry.value.get(key) or {}
    if not isinstance(given, dict):
        raise _EntryError(f"its {key} is no object")
    found: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, dict | list):
            raise _EntryError(f"{name!r} in its {key} is no text")
        if value is not None:
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return found
