"""What holds for a tool: what the configuration says of it, then what it brings, then what holds for the link."""

import pytest

from agent.agents import both_loops, calls_then, results_of
from link.asking import HASTY, wire_tools
from link.linked import KEY_NAME, link
from strictcall import Policy, Tool
from strictcall.link.configured import ConfiguredLinks
from strictcall.link.inference import FixedLinks
from strictcall.runtime.agent import Agent
from strictcall.runtime.agent.tools import AgentTools, RuledLinks
from strictcall.runtime.python_tool import tool
from strictcall.runtime.runnable import RunnableTool
from strictcall.testing.endpoint import strict_endpoint

pytestmark = pytest.mark.anyio
EXACT = Policy(fidelity="exact")


class Live:
    """Tools as those of a server called ``github``: the configuration names them ``github.NAME``."""

    def __init__(self, *tools):
        self.tools = tools

    def find(self, name):
        return next((each for each in self.tools if name in (each.name, f"github.{each.name}")), None)


def runnable(name, **fields):
    return RunnableTool(Tool(name, "", {"type": "object"}), lambda arguments, context: None, **fields)


CONFIG = """
[[providers]]
id = "p"
base_url = "{url}"
api_key_env = "{key}"
{provider}
[[providers.models]]
id = "m"
supports_tools = "{supports}"
{tools}
"""


def configured(path, tools="", *, supports="strict", url="http://127.0.0.1:9/v1", provider=""):
    """Links out of a file that says this of tools."""
    path.write_text(CONFIG.format(url=url, key=KEY_NAME, provider=provider, supports=supports, tools=tools))
    return ConfiguredLinks(path)


ROWS = [
    # what the file says, the tool's own strict, strict on the link
    ("", None, True),
    ("", False, False),
    ("", True, True),
    ('[tools."github.create"]\nstrict = false', None, False),
    ('[tools."github.create"]\nstrict = false', True, False),
    ('[tools."github.create"]\nstrict = true', False, True),
    ("[tools.create]\nstrict = true", False, True),
    ('[tools.create]\nstrict = false\n[tools."github.create"]\nstrict = true', None, False),
    # Saying something else of a tool says nothing of strict.
    ('[tools."github.create".policy]\nnulls = "fold"', False, False),
    ('[tools."github.other"]\nstrict = false', None, True),
]


@pytest.mark.parametrize(("said", "own", "strict"), ROWS)
def test_strict_of_a_tool(tmp_path, said, own, strict):
    tools = AgentTools([Live(runnable("create", strict=own)), runnable("mine")])
    links = RuledLinks(configured(tmp_path / "strictcall.toml", said), tools)
    resolved = links.resolve("p/m")
    assert resolved.rules("create").strict is strict
    assert resolved.rules("mine").strict


@pytest.mark.parametrize(
    ("said", "own", "fidelity", "nulls"),
    [
        ("", None, "checked", "auto"),
        ("", EXACT, "exact", "auto"),
        ('[tools."github.create"]\nstrict = true', EXACT, "exact", "auto"),
        ('[tools."github.create".policy]\nnulls = "fold"', EXACT, "checked", "fold"),
        ('[tools."github.create".policy]\nnulls = "fold"', None, "checked", "fold"),
    ],
)
def test_policy_of_a_tool(tmp_path, said, own, fidelity, nulls):
    tools = AgentTools([Live(runnable("create", policy=own))])
    policy = RuledLinks(configured(tmp_path / "strictcall.toml", said), tools).resolve("p/m").rules("create").policy
    assert (policy.fidelity, policy.nulls) == (fidelity, nulls)


def test_a_tool_that_is_wanted_strict_is_not_where_the_model_cannot(tmp_path):
    tools = AgentTools([runnable("create", strict=True)])
    links = RuledLinks(configured(tmp_path / "strictcall.toml", supports="parallel"), tools)
    assert not links.resolve("p/m").rules("create").strict


def test_of_two_tools_that_come_to_share_a_name_the_first_counts():
    first, second = runnable("create"), runnable("create")
    tools = AgentTools([first, Live(second, runnable("other"))])
    assert [each.name for each in tools()] == ["create", "other"]
    assert tools()[0] is first
    assert tools.find("create") is first
    assert tools.find("github.other").name == "other"
    assert tools.find("nothing") is None


# --- through a run ----------------------------------------------------------------------------------------------------

ADD = {"calls": [{"name": "add", "arguments": {"a": 1, "b": 2, "note": None}}]}


@tool
def add(a: int, b: int, note: str | None = None) -> int:
    """Add two numbers."""
    return a + b


@both_loops
async def test_a_model_that_is_made_strict_between_two_steps_is_strict_at_the_next(anyio_backend, tmp_path):
    path = tmp_path / "strictcall.toml"

    @tool(name="add")
    def edited(a: int, b: int, note: str | None = None) -> int:
        configured(path, url=endpoint.base_url)
        return a + b

    with strict_endpoint(script=calls_then(ADD)) as endpoint:
        links = configured(path, supports="basic", url=endpoint.base_url)
        await Agent("p/m", [edited], links=links, habits=HASTY).run("go")
    strict = [wire_tools(exchange.body, "chat_completions")[0][2] for exchange in endpoint.exchanges]
    assert strict == [None, True]


@both_loops
async def test_the_link_that_takes_over_gets_its_own_tools_and_history(anyio_backend):
    """Another API, and another dialect: everything is made for the link that serves."""
    dead = {"headers": {"x-emulate-fault": "503"}}
    with strict_endpoint(script=calls_then(ADD, text="3.")) as endpoint:
        links = FixedLinks([link(endpoint, "chat_completions", **dead), link(endpoint, "messages")])
        result = await Agent(None, [add], links=links, habits=HASTY).run("add")
    assert (result.text, result.progress.link) == ("3.", "messages/m")
    assert results_of(result.progress) == ["3"]
    served = [exchange for exchange in endpoint.exchanges if exchange.status == 200]
    assert {exchange.api for exchange in served} == {"messages"}
    name, schema, strict = wire_tools(served[0].body, "messages")[0]
    # Anthropic takes real optionals, OpenAI does not.
    assert (name, schema["required"], strict) == ("add", ["a", "b"], True)
    assert not [exchange for exchange in endpoint.exchanges if exchange.status == 400]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_pinned_link_is_the_only_one_asked(anyio_backend, tmp_path):
    with strict_endpoint(script=calls_then(ADD)) as endpoint:
        links = FixedLinks([link(endpoint, "messages"), link(endpoint, "chat_completions")])
        result = await Agent("chat_completions/m", [add], links=links, habits=HASTY).run("go")
    assert result.progress.link == "chat_completions/m"
    assert {exchange.api for exchange in endpoint.exchanges} == {"chat_completions"}
