"""What the tests of the executor share: calls, tools, and a listener."""

from __future__ import annotations

import pytest

from strictcall import Tool
from strictcall.api.answer import Call
from strictcall.json_value import compact
from strictcall.runtime.runnable import RunnableTool

both_loops = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
"""Runs a test on asyncio and on trio; where trio is not installed, it fails and does not pass unseen."""


def an_object(properties=None, required=()):
    properties = properties or {}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


NUMBER = an_object({"n": {"type": "number"}})


def call(name, arguments=None, call_id="c1", **more):
    arguments = {} if arguments is None else arguments
    return Call(call_id, name, arguments, raw=compact(arguments), wire_name=name, **more)


def runnable(name, run, parameters=None, **more):
    return RunnableTool(Tool(name, f"Does {name}", parameters or NUMBER), run, **more)


class Heard(list):
    """A listener that keeps what it hears."""

    def __call__(self, event):
        self.append(event)

    def of(self, kind):
        return [event for event in self if isinstance(event, kind)]

    def kinds(self):
        return [type(event).__name__ for event in self]


def codes(outputs):
    """What outputs are, in a word each."""
    return [str(output.error.code) if hasattr(output, "error") else "ok" for output in outputs]
