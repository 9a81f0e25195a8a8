"""An agent: a link, tools, and what is wanted of them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import anyio

from strictcall.agent.events import AgentEvent
from strictcall.agent.loop import Asked, Loop
from strictcall.agent.result import RunResult
from strictcall.agent.settings import AgentSettings
from strictcall.agent.stream import RunStream
from strictcall.agent.tools import AgentTools, RuledLinks, ToolLike
from strictcall.agent.wanted import wanted
from strictcall.api.writing import ToolChoice
from strictcall.errors import RequestError, SettingsError
from strictcall.link.configured import ConfiguredLinks, find_config
from strictcall.link.inference import FixedLinks, Habits, Inference
from strictcall.link.resolved import Links, ResolvedLink
from strictcall.link.turns import Turn
from strictcall.runtime.abort import Abort
from strictcall.runtime.approval import Approver
from strictcall.runtime.executor import Executor

Listener = Callable[[AgentEvent], None]
Messages = str | Sequence[Turn]
"""A question, or a conversation: messages as Chat Completions has them, and what earlier runs gave."""


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
    - ``state``: what tools find in their ``Context``.

    An agent has no state of its own: runs do not know of each other, and may go on at once. Within ``async with`` they
    share connections to providers, and know of a link that failed; a run outside of it opens its own.

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
        self._shared: Inference | None = None

    async def __aenter__(self) -> Self:
        if self._shared is not None:
            raise RuntimeError("this agent is entered already")
        self._shared = Inference(self._links, habits=self._habits)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.__aexit__(kind, error, trace)

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

        Raises ``RunError`` where there is no answer; it holds the conversation until then.
        """
        async with self._asking() as inference:
            tell = self._on_event or _unheard
            loop = self._loop(inference, messages, tool_choice, conversation, abort or Abort(), tell)
            return await loop.run()

    def run_sync(self, messages: Messages, *, tool_choice: ToolChoice = None) -> RunResult[Any]:
        """``run``, for who has no event loop. Raises as that does, and ``RuntimeError`` within a loop."""

        async def run() -> RunResult[Any]:
            return await self.run(messages, tool_choice=tool_choice)

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
        token = abort or Abort()

        def tell(event: AgentEvent) -> None:
            if self._on_event is not None:
                self._on_event(event)
            send.send_nowait(event)

        async with self._asking() as inference:
            loop = self._loop(inference, messages, tool_choice, conversation, token, tell, streamed=True)
            stream = RunStream(loop, receive, send.close)
            failure: BaseException | None = None
            with send, receive:
                async with anyio.create_task_group() as group:
                    group.start_soon(stream.run)
                    try:
                        yield stream
                    except (Exception, KeyboardInterrupt, SystemExit) as error:  # noqa: BLE001  raised again below
                        failure = error
                    group.cancel_scope.cancel()
            # Out of the task group an error is itself, and not one of a group.
            if failure is not None:
                raise failure

    # --- one run ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[Inference]:
        if self._shared is not None:
            yield self._shared
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
        turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)
        if not turns:
            raise RequestError("messages", "there are none")
        asked = Asked(
            turns,
            self._tools,
            self._instructions,
            self._link,
            object() if conversation is None else conversation,
            tool_choice,
            self._wanted,
            self._settings,
        )
        executor = Executor(
            self._tools,
            self._settings.limits,
            approve=self._approve,
            on_event=tell,
            abort=abort,
            state=self._state,
        )
        return Loop(asked, inference, executor, abort, tell, streamed=streamed)


def _unheard(event: AgentEvent) -> None:
    """Nobody listens."""
