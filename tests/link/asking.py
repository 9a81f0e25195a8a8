"""Requests through links, and what was sent."""

from __future__ import annotations

import anyio
import pytest

from link.linked import DIALECTS
from strictcall.link.inference import FixedLinks, Habits, Inference
from strictcall.link.resolved import Retries

APIS = pytest.mark.parametrize("api", DIALECTS)
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


async def no_wait(seconds):
    await anyio.lowlevel.checkpoint()


HASTY = Habits(sleep=no_wait)


def inference(*links, attempts=2, habits=HASTY, **more):
    """What asks some links; it does not wait between attempts."""
    return Inference(FixedLinks(links, Retries(attempts=attempts)), habits=habits, **more)


async def served(asking, request, streamed, **more):
    """The answer, whole or put together; and the events."""
    if not streamed:
        return await asking.ask(request, **more), []
    async with asking.stream(request, **more) as stream:
        events = [event async for event in stream]
    return stream.served, events


def wire_tools(body, api):
    """Name and schema of each tool of a body as it was sent, and whether it is marked strict."""
    if api == "generate_content":
        tools = [item for tool in body["tools"] for item in tool["functionDeclarations"]]
        mode = body.get("toolConfig", {}).get("functionCallingConfig", {}).get("mode")
        return [(tool["name"], tool.get("parameters"), mode == "VALIDATED") for tool in tools]
    tools = [tool["function"] if api == "chat_completions" else tool for tool in body["tools"]]
    schema = "input_schema" if api == "messages" else "parameters"
    return [(tool["name"], tool[schema], tool.get("strict")) for tool in tools]
