"""Many conversations with an endpoint that fails in one way, and what must hold of each whatever happens."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import anyio

from strictcall.api.answer import Answer, StopReason
from strictcall.dialect import load
from strictcall.link.inference import FixedLinks, Habits
from strictcall.link.resolved import ResolvedLink, Retries, Timeouts
from strictcall.link.turns import Results, Turn, as_messages
from strictcall.runtime.agent import Agent, AgentSettings, RunError
from strictcall.runtime.agent.events import AgentEvent, Answered
from strictcall.runtime.python_tool import tool
from strictcall.runtime.runnable import Context
from strictcall.testing.endpoint import StrictEndpoint

CUT_OFF = {StopReason.LENGTH, StopReason.CONTENT_FILTER, StopReason.ERROR, StopReason.INCOMPLETE}
AT_ONCE = 16


@dataclass
class Tally:
    """What the conversations came to."""

    ended: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    wrong: list[str] = field(default_factory=list)


async def storm(endpoint: StrictEndpoint, conversations: int, *, streamed: bool, most_wrong: int = 10) -> Tally:
    """Hold conversations with an endpoint, some at once, and look at what each leaves behind."""
    tally = Tally()
    ran: Counter[str | None] = Counter()
    answers: list[Answer] = []

    @tool
    async def get_weather(city: str, context: Context, days: int | None = None) -> str:
        """The weather of a city."""
        ran[context.call_id] += 1
        await anyio.lowlevel.checkpoint()
        return f"22 degrees in {city}"

    def listen(event: AgentEvent) -> None:
        if isinstance(event, Answered):
            answers.append(event.answer)

    limiter = anyio.CapacityLimiter(AT_ONCE)
    settings = AgentSettings(max_steps=8)
    habits = Habits(sleep=_no_wait)
    async with (
        Agent(tools=[get_weather], links=_links(endpoint), settings=settings, on_event=listen, habits=habits) as agent,
        anyio.create_task_group() as group,
    ):
        for number in range(conversations):
            group.start_soon(_conversation, agent, number, streamed, tally, limiter)
    tally.calls = sum(ran.values())
    tally.wrong += _wrong_calls(answers, ran)
    del tally.wrong[most_wrong:]
    return tally


async def _no_wait(seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


def _links(endpoint: StrictEndpoint) -> FixedLinks:
    link = ResolvedLink(
        "emulator",
        "m",
        "chat_completions",
        load("openai"),
        base_url=endpoint.base_url,
        supports_tools="strict",
        strict_tools=True,
        timeouts=Timeouts(connect=5, read=10, total=30),
    )
    return FixedLinks([link], Retries(attempts=2))


async def _conversation(
    agent: Agent, number: int, streamed: bool, tally: Tally, limiter: anyio.CapacityLimiter
) -> None:
    question = f"{number}: what is the weather in Lisbon?"
    async with limiter:
        try:
            if streamed:
                async with agent.stream(question) as events:
                    async for _ in events:
                        pass
                progress = events.result.progress
            else:
                progress = (await agent.run(question)).progress
            tally.ended["answer"] += 1
        except RunError as error:
            progress = error.progress
            tally.ended[str(error.reason)] += 1
        except Exception as error:  # noqa: BLE001 - this is what must not be
            tally.ended[type(error).__name__] += 1
            tally.wrong.append(f"{number}: raised {error!r}")
            return
    tally.wrong += [f"{number}: {wrong}" for wrong in _wrong_turns(progress.messages)]


def _wrong_calls(answers: Sequence[Answer], ran: Counter[str | None]) -> Iterator[str]:
    """What does not hold of all calls that were run: each was asked for, none twice, and by no answer that was cut."""
    cut = {call.id for answer in answers if answer.stop_reason in CUT_OFF for call in answer.calls}
    asked = {call.id for answer in answers for call in answer.calls}
    twice = {call_id for call_id, times in ran.items() if times > 1}
    for what, ids in (
        ("run twice", twice),
        ("run though the answer was cut off", cut & ran.keys()),
        ("run though no answer asked for it", ran.keys() - asked),
    ):
        if ids:
            yield f"{what}: {ids}"


def _wrong_turns(messages: Sequence[Turn]) -> Iterator[str]:
    """What does not hold of a conversation: every call in it has its result."""
    for position, turn in enumerate(messages):
        if isinstance(turn, Answer) and turn.calls:
            results = messages[position + 1] if position + 1 < len(messages) else None
            if not isinstance(results, Results) or results.calls != turn.calls or not all(results.outputs):
                yield f"a call without a result: {turn.calls}"
    waiting: set[str] = set()
    for message in json.loads(json.dumps(as_messages(messages))):
        if message["role"] == "tool":
            waiting.discard(message["tool_call_id"])
        elif waiting:
            yield f"as messages, calls without results: {waiting}"
        waiting |= {call["id"] for call in message.get("tool_calls", ())}
    if waiting:
        yield f"as messages, calls without results at the end: {waiting}"
