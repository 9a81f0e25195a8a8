"""An MCP server over stdio, written without any library: it starts fast, and does whatever a test needs of it.

    python -S plain_server.py NAME [REVISION]

REVISION is the protocol's; since 2026-07-28 there is no handshake. Where PLAIN_NOTES names a folder, the server leaves
a file there for each process (``pid-NUMBER``) and for each tool of which a call was cancelled (``cancelled-TOOL``).
Each tool's name says what calling it does; some servers' names say how they list their tools.
"""

import json
import os
import subprocess
import sys
import threading
import time

OBJECT = {"type": "object"}
TYPED = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1},
        "within": {"type": "object", "properties": {"days": {"type": "integer"}}, "additionalProperties": False},
    },
    "required": ["query"],
    "additionalProperties": False,
}
NULLABLE = {
    "type": "object",
    "properties": {"until": {"type": ["string", "null"]}, "size": {"type": "integer"}},
    "required": ["until"],
    "additionalProperties": False,
}
LOOSE = {
    "type": "object",
    "properties": {"labels": {"type": "object", "additionalProperties": {"type": ["string", "null"]}}},
}
SCHEMAS = {"typed": TYPED, "nullable": NULLABLE, "loose": LOOSE}
PLAIN = "echo pid hang stall slow die fail refuse mute progress contents odd spawn flood change forget meta".split()
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CONTENTS = [
    {"type": "text", "text": "one"},
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "two"}},
    {"type": "resource_link", "uri": "file:///b.txt", "name": "b", "description": "the other"},
    {"type": "video", "url": "https://example.org/v"},
    {"type": "text", "text": "for people", "annotations": {"audience": ["user"]}},
]

modern = sys.argv[2:] > ["2026"]
out = threading.Lock()
cancelled = {}
added = []
listening = []


def note(name):
    folder = os.environ.get("PLAIN_NOTES")
    if folder:
        with open(os.path.join(folder, name), "w"):  # noqa: PTH118, PTH123  no library is loaded
            pass


def send(message):
    with out:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tools():
    readers = {"echo", "pid"}
    found = [
        {
            "name": name,
            "description": f"does {name}",
            "inputSchema": SCHEMAS.get(name, OBJECT),
            "annotations": {"readOnlyHint": name in readers},
            "x-own": True,
        }
        for name in [*SCHEMAS, *PLAIN, *added]
    ]
    found[0]["outputSchema"] = {"type": "object", "required": ["never"]}
    return [*found, {"name": 7}, {"name": "echo", "inputSchema": OBJECT}]


def text(value):
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def failed(words):
    return {**text(words), "isError": True}


def strictly(arguments):
    """What a typed tool does with what it does not declare, and with nulls."""
    for name, value in arguments.items():
        if name not in TYPED["properties"]:
            return failed(f"unknown argument {name}")
        if value is None:
            return failed(f"{name} must not be null")
    return {**text(arguments), "structuredContent": arguments}


def spawned():
    code = "import time; time.sleep(120)"
    child = subprocess.Popen([sys.executable, "-S", "-c", code], stdin=-3, stdout=-3, stderr=-3, start_new_session=True)
    note(f"pid-{child.pid}")
    return text(str(child.pid))


def die():
    sys.stderr.write(f"giving up, {os.environ.get('PLAIN_SECRET', 'no secret')}\n")
    sys.stderr.flush()
    os._exit(3)


def change():
    added.append(f"added_{len(added) + 1}")
    said = {"method": "notifications/tools/list_changed"}
    for number in listening:
        said["params"] = {"_meta": {"io.modelcontextprotocol/subscriptionId": number}}
    send(said)
    return text("changed")


def progress(params):
    token = params.get("_meta", {}).get("progressToken")
    for step in (1, 2):
        told = {"progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}
        send({"method": "notifications/progress", "params": told})
    time.sleep(0.2)
    return text("done")


def slow(number, name):
    if cancelled[number].wait(20):
        note(f"cancelled-{name}")
        return None
    return text("not cancelled")


def stall():
    """The whole server stops: nothing is read any more."""
    out.acquire()
    time.sleep(120)


def call(number, params):
    name, arguments = params["name"], params.get("arguments") or {}
    results = {
        "typed": lambda: strictly(arguments),
        "pid": lambda: text(str(os.getpid())),
        "slow": lambda: slow(number, name),
        "hang": lambda: slow(number, name),
        "stall": stall,
        "die": die,
        "fail": lambda: failed("no such town"),
        "mute": lambda: {"content": [], "isError": True},
        "progress": lambda: progress(params),
        "contents": lambda: {"content": CONTENTS, "structuredContent": {"rows": [1, None]}, "_meta": {"kept": True}},
        "odd": lambda: {"structuredContent": [1, 2], "isError": "no"},
        "spawn": spawned,
        "flood": lambda: text(str(sys.stderr.write("x" * arguments.get("much", 100) + "\n"))),
        "change": change,
        "meta": lambda: text(params.get("_meta", {})),
    }
    if name == "refuse":
        secret = os.environ.get("PLAIN_SECRET", "")
        send({"id": number, "error": {"code": -32602, "message": f"not today {secret}".strip(), "data": {"why": 1}}})
        return
    if name == "forget":
        send({"id": number, "result": {"nothing": True}})
        return
    result = results.get(name, lambda: text(arguments))()
    if result is not None:
        answer(number, result)


def answer(number, result):
    if modern:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    send({"id": number, "result": result})


def listed(number, name, cursor):
    """List the tools, each server in its own way."""
    if name == "toolless":
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    elif name == "listless":
        answer(number, {"nothing": True})
    elif name == "endless":
        answer(number, {"tools": tools(), "nextCursor": "again"})
    elif name == "paged" and cursor is None:
        answer(number, {"tools": tools()[:3], "nextCursor": "rest"})
    elif name == "paged":
        answer(number, {"tools": tools()[3:], "nextCursor": ""})
    else:
        answer(number, {"tools": tools()})


def about(name):
    return {"capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": name, "version": "1"}}


def handle(asked, name, revision):
    method, number, params = asked["method"], asked.get("id"), asked.get("params") or {}
    if method == "notifications/cancelled":
        if params["requestId"] in cancelled:
            cancelled[params["requestId"]].set()
    elif number is None:
        pass
    elif method == "initialize" and not modern:
        answer(number, {"protocolVersion": revision, **about(name)})
    elif method == "server/discover" and modern:
        answer(number, {"supportedVersions": [revision], **about(name)})
    elif method == "subscriptions/listen" and modern:
        listening.append(number)
        meta = {"io.modelcontextprotocol/subscriptionId": number}
        told = {"_meta": meta, "notifications": params["notifications"]}
        send({"method": "notifications/subscriptions/acknowledged", "params": told})
    elif method == "tools/list":
        listed(number, name, params.get("cursor"))
    elif method == "tools/call":
        cancelled[number] = threading.Event()
        threading.Thread(target=call, args=(number, params), daemon=True).start()
    else:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def main(name, revision="2025-11-25"):
    note(f"pid-{os.getpid()}")
    if name == "broken":
        die()
    for line in sys.stdin:
        # A server that stalls holds the lock.
        with out:
            pass
        handle(json.loads(line), name, revision)


if __name__ == "__main__":
    main(*sys.argv[1:])
