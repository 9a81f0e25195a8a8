"""Texts that a model or a user says, and that are not quite what is to be read or sent."""

import json

import pytest
from pydantic import BaseModel

from agent.agents import call, on, results_of
from link.linked import DIALECTS
from strictcall.link.turns import as_messages
from strictcall.runtime.agent import EndReason, RunError
from strictcall.runtime.python_tool import tool
from strictcall.testing.endpoint import strict_endpoint

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")]
HALF = "half of a \ud83d"


class Report(BaseModel):
    city: str


@tool
def look(what: str) -> str:
    """Look at something."""
    return f"saw {what}"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("style", ["hermes", "harmony"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_an_output_is_read_from_what_is_left_of_a_text(anyio_backend, style, streamed):
    """The model's thoughts, and how its format frames an answer, stand in the text too."""
    answer = {"reasoning": "Hm.", "text": json.dumps({"city": "Lisbon"})}
    with strict_endpoint(script={"replies": [call("look", what="it"), answer]}, style=style) as endpoint:
        agent = on(endpoint, [look], Report, fields={"tagged": style}, settings={"max_repairs": 0})
        if streamed:
            async with agent.stream("go") as events:
                async for _ in events:
                    pass
            result = events.result
        else:
            result = await agent.run("go")
    assert result.output == Report(city="Lisbon")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("api", DIALECTS)
async def test_half_a_character_is_no_end_of_a_conversation(anyio_backend, api):
    with strict_endpoint(script={"replies": [call("look", what=HALF), {"text": HALF}, {"text": "Done."}]}) as endpoint:
        agent = on(endpoint, [look], api=api)
        first = await agent.run(HALF)
        second = await agent.run([*as_messages(first.messages), {"role": "user", "content": "go on"}])
    assert first.text == HALF
    assert second.text == "Done."
    assert results_of(first.progress)[0].startswith("Error [INVALID_ARGUMENTS]")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_message_that_json_cannot_say_is_an_error_that_says_so(anyio_backend):
    with (
        strict_endpoint(script={"replies": [{"text": "Done."}]}) as endpoint,
        pytest.raises(RunError, match="unwritable") as caught,
    ):
        await on(endpoint).run([{"role": "user", "content": "go", "weight": float("nan")}])
    assert caught.value.reason is EndReason.LINK
    assert not endpoint.exchanges
