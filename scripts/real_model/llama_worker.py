"""llama.cpp's own HTTP server inside this process: its address on the first line out, and an end when the input ends.

Runs in the engine's environment with the standard library and ``xllamacpp`` only. The one argument is a JSON object
with ``model``, ``threads``, ``context`` and, where the model's own chat template is not to be used, ``template``.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Serve on the loopback interface, on a free port, one request at a time."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    library = importlib.import_module("xllamacpp")
    params = library.CommonParams()
    params.model.path = asked["model"]
    params.n_ctx = asked["context"]
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.endpoint_props = True
    params.ui = False
    # A thread that spins while it waits takes the core from whoever else is at work.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = asked["threads"]
        threads.poll = 0
    if "template" in asked:
        params.chat_template = asked["template"]
    server = library.Server(params)
    print(json.dumps({"address": server.listening_address, "version": library.__version__}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
