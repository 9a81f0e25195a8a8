"""A run: what it asks, what it runs, how it ends, and what it leaves behind."""

import asyncio
import json

import anyio
import pytest
from pydantic import BaseModel, field_validator

from agent.agents import both_loops, call, calls_then, on, results_of, said
from strictcall.api.events import TextDelta
from strictcall.errors import NameClashError, RequestError, SettingsError
from strictcall.link.turns import as_messages
from strictcall.runtime import events as running
from strictcall.runtime.abort import Abort
from strictcall.runtime.agent import Agent, AgentSettings, EndReason, RunError
from strictcall.runtime.agent.events import Answered, RepairAsked, RunCompleted, RunFailed, StepStarted, to_json
from strictcall.runtime.approval import Deny
from strictcall.runtime.executor import Limits
from strictcall.runtime.output import ToolFailed
from strictcall.runtime.python_tool import tool
from strictcall.testing.endpoint import strict_endpoint

# The HTTP clients' own generators, where a stream is closed before its end.
pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
HOW = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
WEATHER = call("weather", city="Lisbon", days=None)


@tool
async def weather(city: str, days: int | None = None) -> str:
    """The weather of a city."""
    assert days is None
    return f"22 degrees in {city}"


async def run(agent, messages, *, streamed=False, **more):
    """A run, whole or told while it goes on."""
    if not streamed:
        return await agent.run(messages, **more)
    async with agent.stream(messages, **more) as events:
        async for _ in events:
            pass
    return events.result


async def failure(agent, messages="go", **more):
    """The error that a run ends with."""
    with pytest.raises(RunError) as caught:
        await run(agent, messages, **more)
    as_messages(caught.value.messages)
    return caught.value


# --- answers ----------------------------------------------------------------------------------------------------------


@both_loops
@HOW
async def test_calls_are_run_until_there_is_an_answer(anyio_backend, streamed):
    with strict_endpoint(script=calls_then(WEATHER, WEATHER, text="Warm.")) as endpoint:
        result = await run(on(endpoint, [weather]), "weather?", streamed=streamed)
    assert (result.output, result.text, result.progress.steps) == ("Warm.", "Warm.", 3)
    assert result.progress.link == "chat_completions/m"
    assert result.usage.input == sum(r.usage.input for r in result.messages if hasattr(r, "usage"))
    assert results_of(result.progress) == ["22 degrees in Lisbon"] * 2
    assert said(endpoint.exchanges[-1].body) == ["22 degrees in Lisbon"] * 2


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", ["responses", "messages", "generate_content"])
async def test_any_api_serves(anyio_backend, api):
    with strict_endpoint(script=calls_then(WEATHER, text="Warm.")) as endpoint:
        agent = on(endpoint, [weather], api=api)
        result = await agent.run("weather?")
        again = await agent.run([*result.messages[:3], {"role": "user", "content": "and now?"}])
    assert (result.output, again.output) == ("Warm.", "Warm.")
    assert not endpoint.refused


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_conversation_is_gone_on_with_from_its_messages_also_when_they_were_kept_as_json(anyio_backend):
    with strict_endpoint(script=calls_then(WEATHER, {"text": "Warm."}, text="Cold.")) as endpoint:
        agent = on(endpoint, [weather], instructions="Be brief.")
        first = await agent.run("weather?")
        kept = json.loads(json.dumps(as_messages(first.messages)))
        for messages in (first.messages, kept):
            second = await agent.run([*messages, {"role": "user", "content": "tomorrow?"}])
            assert second.text == "Cold."
            assert second.messages[: len(messages)] == tuple(messages)
    assert [m["role"] for m in kept] == ["user", "assistant", "tool", "assistant"]
    bodies = [exchange.body["messages"] for exchange in endpoint.exchanges]
    assert all([m["content"] for m in body if m["role"] == "system"] == ["Be brief."] for body in bodies)
    # The call is said to the model as it would have written it, the optional's null included.
    replayed = bodies[-1][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(replayed) == {"city": "Lisbon", "days": None}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_demanded_call_is_demanded_of_the_first_step_only(anyio_backend):
    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        await on(endpoint, [weather]).run("weather?", tool_choice="required")
    assert [exchange.body.get("tool_choice") for exchange in endpoint.exchanges] == ["required", None]


def test_a_run_without_an_event_loop():
    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        assert on(endpoint, [weather]).run_sync("weather?").text == "Done."


# --- an output type ---------------------------------------------------------------------------------------------------


class Report(BaseModel):
    """A report."""

    city: str
    degrees: int

    @field_validator("degrees")
    @classmethod
    def _warm(cls, degrees: int) -> int:
        if degrees > 60:
            raise ValueError("nobody lives there")
        return degrees


GOOD = {"city": "Lisbon", "degrees": 22}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("strict", [True, False])
async def test_an_output_type_is_sent_or_told_and_read(anyio_backend, strict):
    with strict_endpoint(script=calls_then(WEATHER, text=json.dumps(GOOD))) as endpoint:
        agent = on(endpoint, [weather], Report, fields={"strict_tools": strict})
        result = await agent.run("weather?")
    assert result.output == Report(**GOOD)
    body = endpoint.exchanges[0].body
    assert ("response_format" in body) is strict
    assert any("JSON Schema" in m["content"] for m in body["messages"] if m["role"] == "system") is not strict


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_that_does_not_fit_is_asked_for_again(anyio_backend):
    script = {
        "replies": [
            {"text": "It is warm."},
            {"text": json.dumps({**GOOD, "degrees": 99})},
            {"text": json.dumps(GOOD)},
        ]
    }
    told = []
    with strict_endpoint(script=script) as endpoint:
        result = await on(endpoint, [], Report, on_event=told.append).run("weather?")
    assert result.output == Report(**GOOD)
    asked = [event for event in told if isinstance(event, RepairAsked)]
    assert [event.repair for event in asked] == [1, 2]
    assert "nobody lives there" in asked[1].words
    assert endpoint.exchanges[-1].body["messages"][-1] == {"role": "user", "content": asked[1].words}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_repairs_are_bounded(anyio_backend):
    with strict_endpoint(script={"replies": [{"text": "It is warm."}] * 9}) as endpoint:
        error = await failure(on(endpoint, [], Report, settings={"max_repairs": 2}))
    assert error.reason is EndReason.REPAIRS
    assert len(endpoint.exchanges) == 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(
    ("output_type", "text", "output"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, '{"a": 1}', {"a": 1}),
        (list[int], '{"value": [1, 2]}', [1, 2]),
        (str, "plain", "plain"),
    ],
)
async def test_what_an_output_type_may_be(anyio_backend, output_type, text, output):
    with strict_endpoint(script={"replies": [{"text": text}]}) as endpoint:
        assert (await on(endpoint, [], output_type).run("go")).output == output


# --- answers of which nothing can be used -----------------------------------------------------------------------------


@both_loops
async def test_calls_that_do_not_fit_are_told_and_count(anyio_backend):
    bad = {"calls": [{"name": "weather", "arguments": {"town": "Lisbon"}}, {"name": "wether", "arguments": {}}]}
    with strict_endpoint(script={"replies": [bad, bad, WEATHER, bad, {"text": "Done."}]}) as endpoint:
        result = await run(on(endpoint, [weather], settings={"max_repairs": 2}), "go")
    texts = results_of(result.progress)
    assert "INVALID_ARGUMENTS" in texts[0]
    assert "did you mean 'weather'" in texts[1]
    assert texts.count("22 degrees in Lisbon") == 1
    with strict_endpoint(script={"replies": [bad] * 4}) as endpoint:
        error = await failure(on(endpoint, [weather], settings={"max_repairs": 2}))
    assert (error.reason, len(endpoint.exchanges)) == (EndReason.REPAIRS, 3)
    assert len(results_of(error.progress)) == 6


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@HOW
async def test_nothing_of_an_answer_that_was_cut_off_is_run(anyio_backend, streamed):
    cut = {"calls": [{"name": "weather", "arguments": {"city": "Lisbon", "days": None}}] * 2, "stop": "length"}
    ran = []

    @tool(name="weather")
    def counted(city: str, days: int | None = None) -> str:
        ran.append(city)
        return "fine"

    with strict_endpoint(script=calls_then(cut, WEATHER)) as endpoint:
        result = await run(on(endpoint, [counted]), "go", streamed=streamed)
    assert ran == ["Lisbon"]
    first, second, third = results_of(result.progress)
    assert "cut off" in first
    assert "cut off" in second
    assert third == "fine"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_that_says_nothing_is_asked_for_again(anyio_backend):
    with strict_endpoint(script={"replies": [{"reasoning": "Hm."}]}) as endpoint:
        error = await failure(on(endpoint, settings={"max_repairs": 1}))
    assert (error.reason, len(endpoint.exchanges)) == (EndReason.REPAIRS, 2)
    assert [m["role"] for m in endpoint.exchanges[1].body["messages"]] == ["user", "user"]


# --- how runs end -----------------------------------------------------------------------------------------------------


@both_loops
@HOW
async def test_a_fatal_tool_ends_the_run_and_the_model_is_told_nothing(anyio_backend, streamed):
    @tool(name="weather")
    def broken(city: str, days: int | None = None) -> str:
        raise ToolFailed("DISK_FULL", "a secret path is full", fatal=True)

    with strict_endpoint(script=calls_then({"calls": WEATHER["calls"] * 2})) as endpoint:
        error = await failure(on(endpoint, [broken]), streamed=streamed)
    assert (error.reason, len(endpoint.exchanges)) == (EndReason.FATAL, 1)
    assert "a secret path" in error.words
    assert len(results_of(error.progress)) == 2
    assert not any("secret" in text for text in results_of(error.progress))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_steps_are_bounded(anyio_backend):
    with strict_endpoint(script={"replies": [WEATHER] * 9}) as endpoint:
        error = await failure(on(endpoint, [weather], settings={"max_steps": 2}))
    assert (error.reason, error.progress.steps, len(endpoint.exchanges)) == (EndReason.STEPS, 2, 2)
    assert len(results_of(error.progress)) == 2


@both_loops
@HOW
async def test_an_abort_ends_a_run_while_a_tool_is_at_work(anyio_backend, streamed):
    abort = Abort()

    @tool(name="weather")
    async def slow(city: str, days: int | None = None) -> str:
        abort.set("enough")
        await anyio.sleep_forever()

    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        error = await failure(on(endpoint, [slow]), streamed=streamed, abort=abort)
    assert (error.reason, error.words) == (EndReason.ABORTED, "enough")
    assert "ABORTED" in results_of(error.progress)[0]


@both_loops
@HOW
async def test_an_abort_ends_a_run_while_the_model_is_asked(anyio_backend, streamed):
    abort = Abort()

    async def soon():
        await anyio.sleep(0.2)
        abort.set()

    with strict_endpoint(script=calls_then(), faults=("slow-first-byte",), delay=2) as endpoint:
        async with anyio.create_task_group() as group:
            group.start_soon(soon)
            error = await failure(on(endpoint), streamed=streamed, abort=abort)
    assert (error.reason, error.progress.steps) == (EndReason.ABORTED, 0)


@both_loops
async def test_the_time_of_a_run_holds_for_the_model_and_for_tools(anyio_backend):
    with strict_endpoint(script=calls_then(), faults=("slow-first-byte",), delay=2) as endpoint:
        error = await failure(on(endpoint, settings={"limits": Limits(run_timeout=0.2)}))
    assert error.reason is EndReason.TIMEOUT

    @tool(name="weather")
    async def slow(city: str, days: int | None = None) -> str:
        await anyio.sleep_forever()

    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        error = await failure(on(endpoint, [slow], settings={"limits": Limits(run_timeout=1)}))
    assert error.reason is EndReason.TIMEOUT
    assert "TIMEOUT" in results_of(error.progress)[0]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_refusal_is_no_answer(anyio_backend):
    with strict_endpoint(script={"replies": [{"text": "I will not.", "stop": "refusal"}]}) as endpoint:
        error = await failure(on(endpoint))
    assert (error.reason, error.words) == (EndReason.REFUSED, "I will not.")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@HOW
async def test_a_link_that_fails_leaves_the_conversation_to_be_gone_on_with(anyio_backend, streamed):
    broken = {"text": "never", "fault": "500"}
    with strict_endpoint(script=calls_then(WEATHER, broken, text="Warm.")) as endpoint:
        error = await failure(on(endpoint, [weather]), streamed=streamed)
    assert error.reason is EndReason.LINK
    assert error.__cause__ is not None
    assert results_of(error.progress) == ["22 degrees in Lisbon"]
    ran = []

    @tool(name="weather")
    def again(city: str, days: int | None = None) -> str:
        ran.append(city)
        return ""

    with strict_endpoint(script=calls_then(WEATHER, text="Warm.")) as endpoint:
        result = await run(on(endpoint, [again]), error.messages, streamed=streamed)
    assert (result.text, ran) == ("Warm.", [])


# --- while it goes on -------------------------------------------------------------------------------------------------


@both_loops
async def test_the_events_of_a_run_are_told_in_order_and_are_json(anyio_backend):
    with strict_endpoint(script=calls_then(WEATHER, text="It is warm.")) as endpoint:
        async with on(endpoint, [weather]).stream("weather?") as events:
            told = [event async for event in events]
    kinds = [type(event) for event in told]
    order = [StepStarted, Answered, running.CallReceived, running.CallEnded, StepStarted, Answered, RunCompleted]
    assert [kind for kind in kinds if kind in order] == order
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "It is warm."
    assert kinds.index(TextDelta) < len(kinds) - 2
    assert [json.loads(to_json(event))["event"] for event in told][-1] == "run_completed"
    assert told[-1].result is events.result


@both_loops
async def test_stopping_a_call_does_not_end_the_run(anyio_backend):
    @tool(name="weather")
    async def slow(city: str, days: int | None = None) -> str:
        if city == "Lisbon":
            await anyio.sleep_forever()
        return "fine"

    calls = {"calls": [{"name": "weather", "arguments": {"city": city, "days": None}} for city in ("Lisbon", "Rome")]}
    with strict_endpoint(script=calls_then(calls)) as endpoint:
        agent = on(endpoint, [slow], settings={"limits": Limits(max_parallel_tool_calls=1)})
        async with agent.stream("go") as events:
            async for event in events:
                if isinstance(event, running.ToolStarted) and event.arguments["city"] == "Lisbon":
                    assert events.interrupt("not this one") == 1
    assert events.result.text == "Done."
    stopped, fine = results_of(events.result.progress)
    assert stopped.startswith("Error [ABORTED]")
    assert "not this one" in stopped
    assert fine == "fine"


@both_loops
async def test_leaving_a_stream_early_ends_the_run(anyio_backend):
    ended = []

    @tool(name="weather")
    async def slow(city: str, days: int | None = None) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(city)

    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        async with on(endpoint, [slow]).stream("go") as events:
            async for event in events:
                if isinstance(event, running.ToolStarted):
                    break
        with pytest.raises(RequestError):
            _ = events.result
    assert ended == ["Lisbon"]
    assert results_of(events.progress)[0].startswith("Error [ABORTED]")


@both_loops
async def test_an_error_of_whoever_listens_is_itself(anyio_backend):
    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        agent = on(endpoint, [weather])
        with pytest.raises(KeyError, match="mine"):
            await _raising(agent, KeyError("mine"))


async def _raising(agent, error):
    async with agent.stream("go") as events:
        async for _ in events:
            raise error


@both_loops
async def test_runs_at_once_share_what_an_agent_holds(anyio_backend):
    results = []

    async def one(agent):
        results.append(await agent.run("go"))

    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        async with on(endpoint, [weather]) as agent, anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(one, agent)
        with pytest.raises(RuntimeError):
            async with agent, agent:
                pass
    assert [result.text for result in results] == ["Done."] * 8


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_was_run_is_kept_where_the_task_is_cancelled(anyio_backend):
    begun = asyncio.Event()

    @tool(name="weather")
    async def slow(city: str, days: int | None = None) -> str:
        if city == "Rome":
            return "fine"
        begun.set()
        await anyio.sleep_forever()
        return "never"

    calls = {"calls": [{"name": "weather", "arguments": {"city": city, "days": None}} for city in ("Rome", "Lisbon")]}
    with strict_endpoint(script=calls_then(calls)) as endpoint:
        agent = on(endpoint, [slow])
        kept = []

        async def run():
            async with agent.stream("go") as events:
                kept.append(events)
                async for _ in events:
                    pass

        task = asyncio.create_task(run())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    first, second = results_of(kept[0].progress)
    assert first == "fine"
    assert second.startswith("Error [ABORTED]")
    assert as_messages(kept[0].progress.messages)[-1]["role"] == "tool"


@both_loops
async def test_a_stream_that_fails_ends_with_the_event_and_the_error(anyio_backend):
    with strict_endpoint(script={"replies": []}) as endpoint:
        async with on(endpoint).stream("go") as events:
            told = [event async for event in events]
    assert isinstance(told[-1], RunFailed)
    with pytest.raises(RunError):
        _ = events.result


# --- what an agent is given -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_link_says_how_many_calls_run_at_once_and_how_much_of_an_output_is_told(anyio_backend):
    at_once, most = 0, 0

    @tool(name="weather")
    async def counted(city: str, days: int | None = None) -> str:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await anyio.sleep(0.01)
        at_once -= 1
        return "x" * 9000

    with strict_endpoint(script=calls_then({"calls": WEATHER["calls"] * 6})) as endpoint:
        fields = {"max_parallel_tool_calls": 2, "max_tool_output": 300}
        result = await on(endpoint, [counted], fields=fields).run("go")
    assert most == 2
    assert all(len(text) < 500 for text in results_of(result.progress))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_tools_run_after_approval(anyio_backend):
    with strict_endpoint(script=calls_then(WEATHER)) as endpoint:
        result = await on(endpoint, [weather], approve=lambda request: Deny("not today")).run("go")
    assert results_of(result.progress) == ["Error [APPROVAL_DENIED]: not today"]


def test_what_is_wrong_with_an_agent_is_said_when_it_is_made():
    def other():
        """Another."""

    with strict_endpoint(script=calls_then()) as endpoint:
        for tools, error in (([weather, weather], NameClashError), (["weather"], SettingsError)):
            with pytest.raises(error):
                on(endpoint, tools)
        on(endpoint, [other, weather])
        for fields in ({"max_steps": 0}, {"max_repairs": -1}):
            with pytest.raises(SettingsError):
                AgentSettings(**fields)
        with pytest.raises(RequestError):
            on(endpoint).run_sync([])
    with pytest.raises(SettingsError):
        Agent("a/b", output_type=object())
