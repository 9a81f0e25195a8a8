"""From the file to the wire: what is configured is what is sent, at the very next inference."""

from __future__ import annotations

import pytest

from strictcall import Tool
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.inference import Inference
from strictcall.link.prepared import Request
from strictcall.testing.endpoint import strict_endpoint

pytestmark = pytest.mark.anyio
TOOL = Tool("search", "Find", {"type": "object", "properties": {"q": {"type": "string"}}})
FILE = """\
extra_body = {{ parallel_tool_calls = true, seed = 7 }}
headers = {{ X-Team = "blue" }}
[[providers]]
id = "local"
base_url = "{base_url}"
dialect = "azure-openai"
[[providers.models]]
id = "m"
supports_tools = "{supports}"
[tools.search]
strict = {strict}
"""


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


async def test_a_model_that_is_edited_to_strict_is_strict_at_the_next_inference(tmp_path):
    file = tmp_path / "strictcall.toml"
    with strict_endpoint(dialect="azure-openai") as endpoint:

        def say(supports, strict="true"):
            file.write_text(FILE.format(base_url=endpoint.base_url, supports=supports, strict=strict))

        say("basic")
        async with Inference(ConfiguredLinks(file)) as inference:
            for supports, strict in [("basic", "true"), ("strict", "true"), ("strict", "false"), ("strict", "true")]:
                say(supports, strict)
                await inference.ask(Request([{"role": "user", "content": "hello"}], [TOOL]))
        sent = [exchange.body for exchange in endpoint.exchanges]
    assert endpoint.refused == []
    assert [body["tools"][0]["function"].get("strict") for body in sent] == [None, True, None, True]
    assert [body["parallel_tool_calls"] for body in sent] == [True, False, True, False]
    assert {body["seed"] for body in sent} == {7}
    assert sent[0] == sent[2]
