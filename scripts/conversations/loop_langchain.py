"""LangChain: ``create_agent``, its tools, its validation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hold import Job
from pydantic import ValidationError
from toolboxes import NOTES, Toolbox


def hold(box: Toolbox, job: Job) -> None:
    """One conversation. With strict on, the model's tools are bound with ``strict=True``."""
    make_tool = import_module("langchain_core.tools").StructuredTool.from_function
    tools = [
        make_tool(function, name=name, handle_validation_error=_failed(name)) for name, function in box.tools.items()
    ]
    model = import_module("langchain_openai").ChatOpenAI(model=job.model, streaming=job.stream)
    middleware = [_strict()] if job.strict else []
    agent = import_module("langchain.agents").create_agent(model, tools, middleware=middleware)
    messages: list[Any] = []
    for prompt in box.prompts:
        messages.append({"role": "user", "content": prompt})
        messages = agent.invoke({"messages": messages})["messages"]
    for message in messages:
        for call in getattr(message, "invalid_tool_calls", ()):
            NOTES.refused([{"type": "json_invalid", "loc": (), "input": call["args"]}], str(call["name"]))


def _failed(tool: str) -> Any:
    def told(error: ValidationError) -> str:
        NOTES.refused(error.errors(), tool)
        return f"Invalid arguments: {error}"

    return told


def _strict() -> Any:
    @import_module("langchain.agents.middleware").wrap_model_call  # type: ignore[untyped-decorator]
    def strictly(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={**request.model_settings, "strict": True}))

    return strictly
