"""OpenAI's own client: the loop is written out as a user would, and pydantic reads the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from hold import Job
from pydantic import BaseModel, ValidationError, create_model
from toolboxes import NOTES, Toolbox

MOST_ROUNDS = 10


def hold(box: Toolbox, job: Job) -> None:
    """One conversation."""
    library = import_module("openai")
    models = {name: _model(name, function) for name, function in box.tools.items()}
    tools = [_offered(library, name, box.tools[name], model, strict=job.strict) for name, model in models.items()]
    messages: list[Any] = []
    with library.OpenAI() as client:
        for prompt in box.prompts:
            messages.append({"role": "user", "content": prompt})
            for _ in range(MOST_ROUNDS):
                message = _answer(client, job, messages, tools)
                messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
                if not message.tool_calls:
                    break
                for call in message.tool_calls:
                    said = _run(models, box, call.function.name, call.function.arguments)
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": said})


def _model(name: str, function: Callable[..., str]) -> type[BaseModel]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    fields: dict[str, Any] = {
        one.name: (one.annotation, ... if one.default is inspect.Parameter.empty else one.default) for one in parameters
    }
    return create_model(name, **fields)


def _offered(library: Any, name: str, function: Callable[..., str], model: type[BaseModel], *, strict: bool) -> Any:
    if strict:
        return library.pydantic_function_tool(model, name=name, description=function.__doc__)
    described = {"name": name, "description": function.__doc__, "parameters": model.model_json_schema()}
    return {"type": "function", "function": described}


def _answer(client: Any, job: Job, messages: list[Any], tools: list[Any]) -> Any:
    asked = {"model": job.model, "messages": messages, "tools": tools}
    if not job.stream:
        return client.chat.completions.create(**asked).choices[0].message
    state = import_module("openai.lib.streaming.chat").ChatCompletionStreamState()
    for chunk in client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
        state.handle_chunk(chunk)
    return state.get_final_completion().choices[0].message


def _run(models: dict[str, type[BaseModel]], box: Toolbox, name: str, arguments: str) -> str:
    try:
        read = models[name].model_validate_json(arguments)
    except ValidationError as error:
        NOTES.refused(error.errors(), name)
        return f"Invalid arguments: {error}"
    return box.tools[name](**{field: getattr(read, field) for field in type(read).model_fields})
