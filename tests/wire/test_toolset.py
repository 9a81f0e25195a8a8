"""The tools of one request: what the first get never depends on those after them."""

from __future__ import annotations

from typing import Any

import pytest

from strictcall import Policy, Tool, Toolset, judge
from strictcall.errors import NameClashError


def tool(name: str, optional: int = 0, **more: Any) -> Tool:
    properties = {f"o{index}": {"type": "integer"} for index in range(optional)}
    parameters = {"type": "object", "properties": {"q": {"type": "string"}, **properties, **more}, "required": ["q"]}
    return Tool(name, f"{name} it", parameters)


def outcome(tools: Toolset) -> list[tuple[str, bool, Any]]:
    return [(compiled.tool.name, compiled.strict, compiled.parameters) for compiled in tools]


def test_no_more_strict_tools_than_the_request_takes() -> None:
    tools = Toolset([tool(f"t{index}") for index in range(25)], "anthropic")
    assert [compiled.strict for compiled in tools] == [True] * 20 + [False] * 5
    assert tools["t20"].reason == "with the tools before it 21 strict tools, where the provider's limit is 20"
    assert tools["t20"].parameters is tools["t20"].tool.parameters
    assert tools["t24"].decode('{"q": "x"}') == {"q": "x"}


def test_a_tool_is_rewritten_to_fit_into_what_is_left() -> None:
    tools = Toolset([tool("first", 20), tool("second", 6), tool("third", 3)], "anthropic")
    assert [compiled.strict for compiled in tools] == [True, True, True]
    assert tools["first"].counts["optional"] == 20
    assert sum(compiled.counts["optional"] for compiled in tools) <= 24
    assert {change.code for change in tools["second"].changes} & {"optional-null", "optional-gathered"}
    assert tools["second"].dialect is tools.dialect
    wire = tools["second"].encode({"q": "x", "o5": 5})
    assert tools.decode("second", wire) == {"q": "x", "o5": 5}


def test_what_one_tool_may_count_holds_however_much_a_request_has_left() -> None:
    either = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]}
    unions = {f"u{index}": either for index in range(15)}
    tools = Toolset([tool("first", 20), tool("second", 10, **unions)], "anthropic")
    assert tools["second"].strict
    for compiled in tools:
        assert judge(compiled.parameters, "anthropic", silent=True) == []


@pytest.mark.parametrize("count", [1, 2, 3, 20, 21])
def test_the_first_tools_never_depend_on_those_after(count: int) -> None:
    listed = [tool(f"t{index}", index % 7) for index in range(24)]
    assert outcome(Toolset(listed[:count], "anthropic")) == outcome(Toolset(listed, "anthropic"))[:count]


def test_priority_comes_before_the_order_given() -> None:
    listed = [tool(f"t{index}") for index in range(25)]
    tools = Toolset(listed, "anthropic", priority=["t24", "nobody"])
    assert [compiled.tool.name for compiled in tools] == [given.name for given in listed]
    assert tools["t24"].strict
    assert not tools["t19"].strict


def test_all_are_loose_where_one_is() -> None:
    listed = [tool("good"), tool("bad", more={"type": "object", "additionalProperties": True})]
    assert len(Toolset(listed, "cohere").strict) == 2
    tools = Toolset(listed, "cohere", Policy(open_objects="refuse"))
    assert tools.strict == ()
    closed = Tool("good", None, {**tool("good").parameters, "additionalProperties": False})
    mixed = Toolset([closed, listed[1]], "cohere", Policy(open_objects="refuse"))
    assert mixed["good"].reason == "the provider takes strict tools only if all are, and 'bad' is not"
    assert mixed["good"].parameters is closed.parameters


def test_one_bad_tool_takes_no_other_down() -> None:
    bad = Tool("bad", None, {"type": "object", "properties": {"a": 7}})
    tools = Toolset([tool("good"), bad, tool("other")], "openai")
    assert [compiled.strict for compiled in tools] == [True, False, True]
    assert tools["bad"].baseline


def test_a_reason_is_the_same_each_time() -> None:
    named = {f"p{index}": {"$ref": f"https://e{index}.test/x#/{index}"} for index in range(5, 0, -1)}
    reasons = {
        Toolset([Tool(f"t{time}", str(time), {"type": "object", "properties": named})], "openai")[f"t{time}"].reason
        for time in range(20)
    }
    assert reasons == {
        "it refers to 'https://e1.test/x', which is outside the schema; no external reference is fetched"
    }


def test_a_loose_tool_beyond_the_limits_is_in_baseline_form_where_it_must_be() -> None:
    union = Tool(
        "union", None, {"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "null"}]}
    )
    tools = Toolset([*(tool(f"t{index}") for index in range(20)), union], "anthropic")
    assert not tools["union"].strict
    assert tools["union"].baseline
    assert tools["union"].parameters["type"] == "object"


def test_two_tools_of_one_name_on_the_wire_clash() -> None:
    with pytest.raises(NameClashError) as caught:
        Toolset([tool("same"), tool("same")])
    assert caught.value.names == ("same", "same")


def test_tools_are_found_by_either_name() -> None:
    tools = Toolset([tool("größe/prüfen")], "openai")
    (compiled,) = tools
    assert compiled.name != compiled.tool.name
    assert tools["größe/prüfen"] is compiled
    assert tools.by_wire_name(compiled.name) is compiled
    assert "größe/prüfen" in tools
    assert len(tools) == 1
    with pytest.raises(KeyError):
        tools.decode("größe/prüfen", "{}")


def test_single_tools_have_policies_of_their_own_or_stay_loose():
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}}
    tools = [Tool(name, "", schema) for name in ("one", "two", "three")]
    toolset = Toolset(tools, "openai", policies={"two": Policy(fidelity="exact")}, unmarked=["three"])
    assert [compiled.strict for compiled in toolset] == [True, False, False]
    assert toolset["two"].policy.fidelity == "exact"
    assert toolset["three"].reason == "it is not to be strict"
    assert toolset["three"].parameters is schema
