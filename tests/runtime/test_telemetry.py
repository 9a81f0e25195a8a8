"""Spans and metrics of OpenTelemetry."""

from __future__ import annotations

import json
import subprocess
import sys

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from runtime.mcp_helpers import QUICK, config
from runtime.running import both_loops, call, runnable
from strictcall.runtime import executor as module
from strictcall.runtime.executor import Executor
from strictcall.runtime.mcp_servers import McpServers
from strictcall.runtime.telemetry import Telemetry

pytestmark = [pytest.mark.anyio, both_loops]


@pytest.fixture
def recorded(monkeypatch):
    """What is exported: a function that gives the spans by name, and one that gives the metric's points."""
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = TracerProvider(), MeterProvider([reader])
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    telemetry = Telemetry(tracers, meters)
    monkeypatch.setattr(module, "usual", lambda: telemetry)

    def points():
        (resource,) = reader.get_metrics_data().resource_metrics
        (metric,) = resource.scope_metrics[0].metrics
        assert (metric.name, metric.unit) == ("gen_ai.execute_tool.duration", "s")
        return list(metric.data.data_points)

    yield lambda: {span.name: span for span in spans.get_finished_spans()}, points, tracers
    tracers.shutdown()
    meters.shutdown()


async def works(arguments, context):
    return "s3cr3t output"


async def fails(arguments, context):
    raise RuntimeError("boom")


async def hangs(arguments, context):
    await anyio.sleep(60)


TOOLS = [runnable("works", works), runnable("fails", fails), runnable("hangs", hangs, timeout=0.02)]


async def test_a_span_and_a_duration_for_each_tool_that_ran(recorded):
    spans, points, _ = recorded
    calls = [call("works", {"n": 7}), call("fails"), call("hangs"), call("nope"), call("works", {"m": 1})]
    await Executor(TOOLS).run_batch(calls)
    found = spans()
    assert set(found) == {"execute_tool works", "execute_tool fails", "execute_tool hangs"}
    works_span = found["execute_tool works"]
    assert works_span.kind is trace.SpanKind.INTERNAL
    assert dict(works_span.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "works",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.description": "Does works",
    }
    assert works_span.status.status_code is trace.StatusCode.UNSET
    assert found["execute_tool fails"].attributes["error.type"] == "EXECUTION_ERROR"
    assert found["execute_tool fails"].status.status_code is trace.StatusCode.ERROR
    assert found["execute_tool hangs"].attributes["error.type"] == "TIMEOUT"
    by_name = {point.attributes["gen_ai.tool.name"]: point for point in points()}
    of = {"gen_ai.tool.type": "function"}
    assert {name: dict(point.attributes) for name, point in by_name.items()} == {
        "works": {"gen_ai.tool.name": "works", **of},
        "fails": {"gen_ai.tool.name": "fails", "error.type": "EXECUTION_ERROR", **of},
        "hangs": {"gen_ai.tool.name": "hangs", "error.type": "TIMEOUT", **of},
    }
    assert by_name["hangs"].sum >= 0.02
    took = {name: found[f"execute_tool {name}"].end_time - found[f"execute_tool {name}"].start_time for name in by_name}
    assert {name: round(point.sum * 1e9) for name, point in by_name.items()} == took


async def test_the_buckets_are_those_of_the_convention(recorded):
    _, points, _ = recorded
    await Executor(TOOLS).run_batch([call("works")])
    # docs/gen-ai/gen-ai-metrics.md of semantic-conventions-genai: from 10 ms, each twice the one before.
    assert points()[0].explicit_bounds == (
        *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64),
        *(1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
    )


async def test_an_aborted_tool_has_its_span_too(recorded):
    spans, points, _ = recorded
    with anyio.move_on_after(0.02):
        await Executor([runnable("hangs", hangs)]).run_batch([call("hangs")])
    assert spans()["execute_tool hangs"].attributes["error.type"] == "ABORTED"
    assert points()[0].attributes["error.type"] == "ABORTED"


async def test_a_server_is_told_which_span_calls_it(recorded):
    spans, _, tracers = recorded
    async with McpServers(config("a"), settings=QUICK) as servers:
        executor = Executor(servers.tools)
        with tracers.get_tracer("of the caller").start_as_current_span("outer"):
            (output,) = await executor.run_batch([call("meta", {})])
    trace_id = json.loads(output.text)["traceparent"].split("-")[1]
    span = spans()["execute_tool meta"]
    assert int(trace_id, 16) == span.context.trace_id == spans()["outer"].context.trace_id
    assert span.parent.span_id == spans()["outer"].context.span_id


async def test_the_result_of_a_failed_tool_is_none(recorded, monkeypatch):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    await Executor(TOOLS).run_batch([call("fails")])
    assert "gen_ai.tool.call.result" not in recorded[0]()["execute_tool fails"].attributes


@pytest.mark.parametrize("wanted", ["true", "false", None])
async def test_arguments_and_outputs_only_where_they_are_asked_for(recorded, monkeypatch, wanted):
    name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    monkeypatch.delenv(name, raising=False)
    if wanted is not None:
        monkeypatch.setenv(name, wanted)
    await Executor(TOOLS).run_batch([call("works", {"n": 7})])
    attributes = recorded[0]()["execute_tool works"].attributes
    assert attributes.get("gen_ai.tool.call.arguments") == ('{"n":7}' if wanted == "true" else None)
    assert attributes.get("gen_ai.tool.call.result") == ("s3cr3t output" if wanted == "true" else None)


async def test_what_a_tool_does_is_within_its_span_in_threads_too(recorded):
    spans, _, tracers = recorded
    tracer = tracers.get_tracer("of the tool")

    def inner(arguments, context):
        with tracer.start_as_current_span("inner"):
            return "x"

    with tracer.start_as_current_span("outer"):
        await Executor([runnable("inner_tool", inner)]).run_batch([call("inner_tool")])
    found = spans()
    assert found["inner"].parent.span_id == found["execute_tool inner_tool"].context.span_id
    assert found["execute_tool inner_tool"].parent.span_id == found["outer"].context.span_id


WITHOUT = """
import sys
sys.modules["opentelemetry"] = None
import anyio
from strictcall import Tool
from strictcall.api.answer import Call
from strictcall.runtime.executor import Executor
from strictcall.runtime.runnable import RunnableTool

async def main():
    tool = RunnableTool(Tool("f", None, {}), lambda arguments, context: "fine")
    print((await Executor([tool]).run_batch([Call("1", "f", {})]))[0].text)

anyio.run(main, backend=sys.argv[1])
"""


async def test_without_its_api_there_is_nothing(anyio_backend):
    said = subprocess.run(
        [sys.executable, "-c", WITHOUT, anyio_backend], capture_output=True, text=True, timeout=60, check=True
    )
    assert said.stdout == "fine\n"
