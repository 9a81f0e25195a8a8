"""openai-agents: its runner, its function tools, its validation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hold import Job
from pydantic import ValidationError
from toolboxes import NOTES, Toolbox


async def hold(box: Toolbox, job: Job) -> None:
    """One conversation. Without strict on, each tool says ``strict_mode=False``."""
    library = import_module("agents")
    library.set_tracing_disabled(disabled=True)
    tools = [
        library.function_tool(
            function, name_override=name, strict_mode=job.strict, failure_error_function=_failed(name)
        )
        for name, function in box.tools.items()
    ]
    async with import_module("openai").AsyncOpenAI() as client:
        model = library.OpenAIChatCompletionsModel(model=job.model, openai_client=client)
        agent = library.Agent(name="agent", model=model, tools=tools)
        items: list[Any] = []
        for prompt in box.prompts:
            items.append({"role": "user", "content": prompt})
            if job.stream:
                result = library.Runner.run_streamed(agent, items)
                async for _ in result.stream_events():
                    pass
            else:
                result = await library.Runner.run(agent, items)
            items = result.to_input_list()


def _failed(tool: str) -> Any:
    def told(context: Any, error: Exception) -> str:
        del context
        cause = error.__cause__
        if isinstance(cause, ValidationError):
            NOTES.refused(cause.errors(), tool)
        else:
            NOTES.refused([{"type": type(cause or error).__name__, "loc": (), "input": str(error)}], tool)
        return f"Invalid arguments: {error}"

    return told
