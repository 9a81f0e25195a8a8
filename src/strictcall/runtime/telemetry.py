"""Spans and metrics of OpenTelemetry, by its conventions for generative AI; nothing where its API is not installed.

A tool that runs is a span ``execute_tool NAME``, and a value of the histogram ``gen_ai.execute_tool.duration``. Source:
https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/execute-tool.md, release 0.1.0 (status:
development). What the tool is given and says is recorded only where
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``.

A call to an MCP server is a span of the MCP SDK's within the tool's, and the SDK hands the context on to the server in
``params._meta`` (``traceparent``), as docs/gen-ai/mcp.md of the same conventions has it.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from strictcall.json_value import compact, sound
from strictcall.runtime.invoke import Outcome
from strictcall.runtime.output import ErrorCode, Success, model_text
from strictcall.runtime.runnable import RunnableTool

_NAME: Final = "strictcall.runtime"
_CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_BOUNDARIES: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)

_TYPE: Final = "function"
"""The client executes the logic, as the convention has it: so does whoever calls an MCP server."""

Record = Callable[[Outcome], None]


@functools.cache
def usual() -> Telemetry:
    """To the providers that the process has set up, or will have."""
    return Telemetry()


class Telemetry:
    """Where spans and metrics go: to the providers that the process has, or those given."""

    def __init__(self, tracer_provider: Any = None, meter_provider: Any = None) -> None:
        self._tracer: Any = None
        try:
            from opentelemetry import metrics, trace  # noqa: PLC0415  not ours to need
        except ImportError:
            return
        self._tracer = trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        self._error = trace.StatusCode.ERROR
        self._durations = metrics.get_meter(_NAME, meter_provider=meter_provider).create_histogram(
            "gen_ai.execute_tool.duration",
            unit="s",
            description="The duration of a single tool execution.",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )

    @contextmanager
    def running(self, tool: RunnableTool, call_id: str | None, arguments: Any) -> Iterator[Record]:
        """A span around a tool that runs; what is yielded takes the outcome. Without one the tool was aborted."""
        if self._tracer is None:
            yield _nowhere
            return
        outcomes: list[Outcome] = []
        started, began = time.time_ns(), time.perf_counter_ns()
        with self._tracer.start_as_current_span(
            f"execute_tool {tool.name}",
            attributes=_attributes(tool, call_id, arguments),
            start_time=started,
            record_exception=False,
            set_status_on_exception=False,
            end_on_exit=False,
        ) as span:
            try:
                yield outcomes.append
            finally:
                took = time.perf_counter_ns() - began
                known = {"gen_ai.tool.name": tool.name, "gen_ai.tool.type": _TYPE}
                outcome = outcomes[0] if outcomes else None
                code = _code(outcome)
                if code is not None:
                    span.set_attribute("error.type", code)
                    span.set_status(self._error)
                    known["error.type"] = code
                if outcome is not None and code is None and _captures():
                    span.set_attribute("gen_ai.tool.call.result", sound(model_text(outcome.output) or ""))
                # The convention wants the metric to be the span's own duration.
                self._durations.record(took / 1e9, known)
                span.end(started + took)


def _nowhere(_: Outcome) -> None:
    """There is nobody to be told."""


def _attributes(tool: RunnableTool, call_id: str | None, arguments: Any) -> dict[str, str]:
    found = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool.name, "gen_ai.tool.type": _TYPE}
    if call_id:
        found["gen_ai.tool.call.id"] = call_id
    if tool.tool.description:
        found["gen_ai.tool.description"] = tool.tool.description
    if _captures():
        found["gen_ai.tool.call.arguments"] = compact(arguments)
    return found


def _code(outcome: Outcome | None) -> str | None:
    if outcome is None:
        return ErrorCode.ABORTED.value
    return None if isinstance(outcome.output, Success) else str(outcome.output.error.code)


def _captures() -> bool:
    return os.environ.get(_CAPTURE, "").lower() == "true"
