"""An MCP server that speaks only as much of the protocol as listing takes, without any library, to start fast.

    python -S bare_server.py NAME [hang|fail|spawn]

It lists one tool, called after NAME. With ``hang`` it never answers, with ``fail`` it says what its environment holds
and exits, with ``spawn`` it first starts a process that does not care when the server ends. Where BARE_NOTES names a
folder, each process leaves a file there that is called by its number.
"""

import json
import os
import subprocess
import sys
import time

SLEEP = "import time; time.sleep(120)"


def note(number):
    folder = os.environ.get("BARE_NOTES")
    if folder:
        with open(os.path.join(folder, str(number)), "w"):  # noqa: PTH118, PTH123  no library is loaded
            pass


def main(name, mode="serve"):
    note(os.getpid())
    if mode == "fail":
        sys.stderr.write("starting\n")
        sys.exit("cannot go on with " + " ".join(os.environ.get(key, "-") for key in ("ONE", "TWO")))
    if mode == "spawn":
        child = subprocess.Popen(
            [sys.executable, "-S", "-c", SLEEP],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        note(child.pid)
    while mode == "hang":
        time.sleep(60)
    schema = {"type": "object", "properties": {"folder": {"const": os.getcwd()}}, "required": ["folder"]}  # noqa: PTH109
    schema["description"] = os.environ.get("SAID", "")
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked["method"] == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            }
        elif asked["method"] == "tools/list":
            answer["result"] = {"tools": [{"name": f"{name}_tool", "inputSchema": schema}]}
        else:
            answer["error"] = {"code": -32601, "message": "unknown"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
