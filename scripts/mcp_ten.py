"""Ten real MCP servers from PyPI at once. One is killed and one stopped while all are at work: the others go on, the
model is told, both are started again, and in the end no process and no task is left. On asyncio, then on trio.

    python scripts/mcp_ten.py [FOLDER]

Everything is installed into FOLDER (``.servers``), which is kept: a virtual environment for servers on the SDK of today
and one for those that need the SDK before it, which speak an older revision. No server needs a token or a network: what
it cannot do it says, and that is an answer. Exits with 1 where something is not as it should be, with 2 where the
servers cannot be installed or looked at here.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp_at_once import Member, Party, on_each_loop

HERE = Path(__file__).resolve().parents[1]
DUMMY = "dummy-token-for-listing"
KILLED, STOPPED = "git", "time"


@dataclass(frozen=True)
class Server:
    """A server from PyPI: its package, its command line, one of its tools with arguments, its environment, and which
    SDK it needs.
    """

    package: str
    command: str
    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    sdk: str = "new"


NOWHERE = "http://127.0.0.1:9/"
DOCUMENTS = {"directory": "{folder}"}
HOME_ASSISTANT = {"HOMEASSISTANT_URL": NOWHERE, "HOMEASSISTANT_TOKEN": DUMMY}
GOOGLE = {"GOOGLE_OAUTH_CLIENT_ID": DUMMY, "GOOGLE_OAUTH_CLIENT_SECRET": DUMMY}
MAIL = {"user_google_email": "nobody@example.org"}
SUM = {"expression": "6*7"}
DATABASE = "mcp-server-sqlite --db-path {folder}/data.db"
SERVERS = {
    "time": Server("mcp-server-time", "mcp-server-time", "get_current_time", {"timezone": "Europe/Paris"}),
    "git": Server("mcp-server-git", "mcp-server-git", "git_status", {"repo_path": "{folder}"}),
    "fetch": Server("mcp-server-fetch", "mcp-server-fetch", "fetch", {"url": NOWHERE}),
    "excel": Server("excel-mcp-server", "excel-mcp-server stdio", "list_workbooks", DOCUMENTS),
    "word": Server("office-word-mcp-server", "word_mcp_server", "list_available_documents", DOCUMENTS),
    "home": Server("ha-mcp", "ha-mcp", "ha_get_domain_docs", {"domain": "light"}, HOME_ASSISTANT),
    "google": Server("workspace-mcp", "workspace-mcp", "list_calendars", MAIL, GOOGLE),
    "sqlite": Server("mcp-server-sqlite", DATABASE, "list_tables", sdk="old"),
    "powerpoint": Server("office-powerpoint-mcp-server", "ppt_mcp_server", "create_presentation", sdk="old"),
    "calculator": Server(
        "mcp-server-calculator", "mcp-server-calculator", "calculate", {"expression": "6*7"}, sdk="old"
    ),
}
SDKS = {"new": "mcp>=2", "old": "mcp<2"}


def main() -> int:
    """Both loops; returns the exit code."""
    if not sys.platform.startswith("linux") or shutil.which("git") is None:
        print("servers: needs Linux, where processes are looked up in /proc, and git", file=sys.stderr)
        return 2
    home = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / ".servers"
    if not all(install(home / sdk, sdk) for sdk in SDKS):
        return 2
    with tempfile.TemporaryDirectory(prefix="servers-") as folder:
        subprocess.run(["git", "init", "--quiet", folder], check=True)  # noqa: S603, S607  whichever git there is
        members = {name: member(home, Path(folder), server) for name, server in SERVERS.items()}
        failures = on_each_loop(Party(members, home, KILLED, STOPPED))
    print(f"\n{len(failures)} failures" + "".join(f"\n  {failure}" for failure in failures))
    return 1 if failures else 0


def install(folder: Path, sdk: str) -> bool:
    """Install the servers for one SDK into a virtual environment, once; says what is wrong where that fails."""
    done = folder / "installed.txt"
    packages = [SDKS[sdk], *sorted(server.package for server in SERVERS.values() if server.sdk == sdk)]
    if done.exists() and done.read_text().split() == packages:
        return True
    print(f"installing {' '.join(packages[1:])}", flush=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)  # noqa: S603
        if run.returncode:
            print(f"servers: the installation failed:\n{run.stdout[-2000:]}", file=sys.stderr)
            return False
    done.write_text("\n".join(packages))
    return True


def member(home: Path, folder: Path, server: Server) -> Member:
    """A server as it takes part; the folder is what it works on."""
    program, *arguments = server.command.format(folder=folder).split()
    command = str(home / server.sdk / "bin" / program)
    given = {
        name: value.format(folder=folder) if isinstance(value, str) else value
        for name, value in server.arguments.items()
    }
    entry = {"command": command, "args": arguments, "env": server.environment, "cwd": str(folder)}
    return Member(entry, server.tool, given)


if __name__ == "__main__":
    sys.exit(main())
