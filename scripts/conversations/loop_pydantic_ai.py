"""pydantic-ai: its agent, its tools, its validation and its retries."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hold import Job
from toolboxes import DONE, NOTES, Toolbox

MOST_RETRIES = 20


async def hold(box: Toolbox, job: Job) -> None:
    """One conversation. Without strict on, the library decides for each tool whether it goes out strict."""
    library = import_module("pydantic_ai")
    strict = True if job.strict else None
    tools = [
        library.Tool(function, takes_ctx=False, name=name, strict=strict, max_retries=MOST_RETRIES)
        for name, function in box.tools.items()
    ]
    model = import_module("pydantic_ai.models.openai").OpenAIChatModel(job.model)
    agent = library.Agent(model, tools=tools, retries=MOST_RETRIES)
    history: list[Any] = []
    for prompt in box.prompts:
        handler = _read if job.stream else None
        result = await agent.run(prompt, message_history=history, event_stream_handler=handler)
        _note(result.new_messages())
        history = result.all_messages()


async def _read(context: Any, events: Any) -> None:
    """Makes the library ask for a stream."""
    del context
    async for _ in events:
        pass


def _note(messages: list[Any]) -> None:
    """Find the calls that were answered with what validation said, a list, and not by the tool."""
    for part in (part for message in messages for part in message.parts):
        if part.part_kind in ("tool-return", "retry-prompt") and part.tool_name is not None:
            said = part.content
            if isinstance(said, list):
                NOTES.refused(said, part.tool_name)
            elif not str(said).endswith(DONE):
                NOTES.refused([{"type": "retry", "loc": (), "input": said}], part.tool_name)
