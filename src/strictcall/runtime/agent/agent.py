"""An agent: a link, tools, and what is wanted of them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, cast

import anyio
from anyio.lowlevel import EventLoopToken, current_token

from strictcall.api.writing import ToolChoice
from strictcall.errors import SettingsError
from strictcall.link.configured import ConfiguredLinks, find_config
from strictcall.link.inference import FixedLinks, Habits, Inference
from strictcall.link.resolved import Links, ResolvedLink
from strictcall.runtime.abort import Abort
from strictcall.runtime.agent.events import AgentEvent
from strictcall.runtime.agent.loop import Asked, Loop
from strictcall.runtime.agent.messages import Messages, turns_of
from strictcall.runtime.agent.result import RunResult
from strictcall.runtime.agent.settings import AgentSettings
from strictcall.runtime.agent.stream import Running, RunStream
from strictcall.runtime.agent.tools import AgentTools, RuledLinks, ToolLike
from strictcall.runtime.agent.wanted import wanted
from strictcall.runtime.approval import Approver
from strictcall.runtime.executor import Executor
from strictcall.runtime.turn import Telling

Listener = Callable[[AgentEvent], None]


class Agent:
    """A model with tools.

    - ``link``: the name of a link (``provider/model``), which alone is asked; ``None`` for the fallback chain of the
      configuration; or a ``ResolvedLink``, for who has no configuration.
    - ``tools``: functions, ``@tool`` functions, any ``RunnableTool``, and ``McpServers``, whose tools may come and go.
      Without ``approve`` each tool may run; ``AskUnlessReadOnly`` is the shipped policy.
    - ``output_type``: what the answer has to be, any type that pydantic reads, or a JSON Schema; text without it.
    - ``instructions``: what the system says before each conversation. They are not kept among its messages.
    - ``links``: where links come from; without it, the configuration that ``find_config`` finds, which is read again
      whenever it changed.
    - ``settings``: how often the model is asked, and what tools may take.
    - ``on_event`` hears of each event of every run, in the thread of its event loop, and must not wait for anything.
      One that raises is logged, and does no harm.
    - ``state``: what tools find in their ``Context``.
    - ``habits``: what each kind of a link's error asks for, how waiting is done, and who makes clients.

    An agent has no state of its own: runs do not know of each other, and may go on at once, in several threads too.
    Within ``async with`` those in the same event loop share connections to providers, and know of a link that failed;
    any other run opens its own. The tools of ``McpServers`` can be called in the loop only in which those were entered.

    Raises ``NameClashError``, ``SettingsError``, ``SourceError``, and ``ConfigError`` for a configuration that is not
    right.
    """

    def __init__(
        self,
        link: str | ResolvedLink | None = None,
        tools: Iterable[ToolLike] = (),
        output_type: Any = None,
        *,
        instructions: str | None = None,
        links: Links | None = None,
        settings: AgentSettings | None = None,
        approve: Approver | None = None,
        on_event: Listener | None = None,
        state: Any = None,
        habits: Habits | None = None,
    ) -> None:
        if isinstance(link, ResolvedLink):
            if links is not None:
                raise SettingsError("links", "none can be given beside a link that is resolved already")
            links, link = FixedLinks([link]), link.name
        elif link is not None and not isinstance(link, str):
            raise SettingsError("link", f"must be provider/model, or a ResolvedLink, not {type(link).__name__}")
        if links is not None and not callable(getattr(links, "resolve", None)):
            raise SettingsError("links", f"must be links, such as ConfiguredLinks, not {type(links).__name__}")
        if instructions is not None and not isinstance(instructions, str):
            raise SettingsError("instructions", f"must be a text, not {type(instructions).__name__}")
        self._link = link
        self._tools = AgentTools(tools)
        self._links = RuledLinks(links or ConfiguredLinks(find_config()), self._tools)
        self._wanted = wanted(output_type)
        self._instructions = instructions
        self._settings = settings or AgentSettings()
        self._approve = approve
        self._on_event = on_event
        self._state = state
        self._habits = habits
        self._shared: tuple[EventLoopToken, Inference] | None = None
        # What no run could be made with is said here, and not by the first of them.
        self._executor(on_event, Abort())

    async def __aenter__(self) -> Self:
        if self._shared is not None:
            raise RuntimeError("this agent is entered already")
        self._shared = current_token(), Inference(self._links, habits=self._habits)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared[1].__aexit__(kind, error, trace)

    async def run(
        self,
        messages: Messages,
        *,
        tool_choice: ToolChoice = None,
        conversation: Hashable | None = None,
        abort: Abort | None = None,
    ) -> RunResult[Any]:
        """Ask until there is an answer.

        ``tool_choice`` holds for the first step: ``auto``, ``none``, ``required``, a tool's name, or several. Runs of
        one ``conversation``, any name of it, stay with one link as long as it serves. ``abort`` ends the run, from any
        thread.

        Raises ``RunError`` where there is no answer; it holds the conversation until then. Raises ``RequestError`` for
        messages that are none and a choice of no tool, and what else keeps a run from beginning: ``ConfigError``,
        ``NameClashError``. What a validator of ``output_type`` raises that pydantic does not expect is raised on.
        """
        async with self._asking() as inference:
            loop = self._loop(inference, messages, tool_choice, conversation, abort or Abort(), self._telling())
            return await loop.run()

    def run_sync(
        self,
        messages: Messages,
        *,
        tool_choice: ToolChoice = None,
        conversation: Hashable | None = None,
        abort: Abort | None = None,
    ) -> RunResult[Any]:
        """``run``, for who has no event loop. Raises as that does, and ``RuntimeError`` within a loop."""

        async def run() -> RunResult[Any]:
            return await self.run(messages, tool_choice=tool_choice, conversation=conversation, abort=abort)

        return anyio.run(run)

    @asynccontextmanager
    async def stream(
        self,
        messages: Messages,
        *,
        tool_choice: ToolChoice = None,
        conversation: Hashable | None = None,
        abort: Abort | None = None,
    ) -> AsyncIterator[RunStream]:
        """``run``, told while it goes on: ``async with agent.stream(…) as events: async for event in events: …``.

        The last event is ``RunCompleted`` or ``RunFailed``; nothing is raised for a run without an answer before
        ``events.result`` is asked for. Leaving the context before the end ends the run.
        """
        send, receive = anyio.create_memory_object_stream[AgentEvent](math.inf)
        listener = self._telling()

        def tell(event: AgentEvent) -> None:
            listener(event)
            send.send_nowait(event)

        async with self._asking() as inference:
            loop = self._loop(inference, messages, tool_choice, conversation, abort or Abort(), tell, streamed=True)
            running = Running(loop, send.close)
            failure: BaseException | None = None
            with send, receive:
                async with anyio.create_task_group() as group:
                    group.start_soon(running)
                    try:
                        yield RunStream(running, receive)
                    except (Exception, GeneratorExit, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001  raised below
                        failure = error
                    group.cancel_scope.cancel()
            # Out of the task group an error is itself, and not one of a group.
            if failure is not None:
                raise failure

    # --- one run ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Inference]:
        # Connections belong to the event loop that they were opened in.
        if self._shared is not None and self._shared[0] == current_token():
            yield self._shared[1]
            return
        async with Inference(self._links, habits=self._habits) as own:
            yield own

    def _loop(
        self,
        inference: Inference,
        messages: Messages,
        tool_choice: ToolChoice,
        conversation: Hashable | None,
        abort: Abort,
        tell: Listener,
        *,
        streamed: bool = False,
    ) -> Loop:
        asked = Asked(
            turns_of(messages),
            self._tools,
            self._instructions,
            self._link,
            object() if conversation is None else conversation,
            self._tools.chosen(tool_choice),
            self._wanted,
            self._settings,
        )
        return Loop(asked, inference, self._executor(tell, abort), abort, tell, streamed=streamed)

    def _executor(self, tell: Listener | None, abort: Abort) -> Executor:
        return Executor(
            self._tools,
            self._settings.limits,
            approve=self._approve,
            on_event=tell,
            abort=abort,
            state=self._state,
        )

    def _telling(self) -> Listener:
        """What tells the listener, whatever that does."""
        return cast("Listener", Telling(self._on_event))  # which takes any event
