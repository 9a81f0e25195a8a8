"""What the emulator has against a request, by dialect; and which tools it takes for strict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from strictcall.dialect import load
from strictcall.emulator.conversation import Message, OfferedTool, Request, WantedOutput
from strictcall.emulator.rules import breach, held_tools, holds_output

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
ASKED = (Message("user", "Do it."),)


def tool(
    name: str = "act", schema: Any = CLOSED, strict: bool | None = True, description: str = "Acts."
) -> OfferedTool:
    return OfferedTool(name, description, schema, "tools[0]", "tools[0].parameters", strict)


def request(*tools: OfferedTool, **fields: Any) -> Request:
    return Request("m", ASKED, tools, **fields)


@pytest.mark.parametrize(
    ("asked", "dialect", "kind"),
    [
        pytest.param(request(tool()), "openai", None, id="taken"),
        pytest.param(request(tool(schema=OPEN)), "openai", "schema", id="strict and open"),
        pytest.param(request(tool(schema=OPEN, strict=False)), "openai", None, id="loose and open"),
        pytest.param(request(tool(schema={"anyOf": []}, strict=None)), "openai", "schema", id="baseline"),
        pytest.param(request(tool("a b")), "openai", "tool_name", id="a name with a space"),
        pytest.param(request(tool(), tool()), "openai", "duplicate_name", id="a name twice"),
        pytest.param(request(tool(), only=frozenset({"act"}), choice="required"), "openai", None, id="named"),
        pytest.param(
            request(tool(), only=frozenset({"other"}), choice="required"), "openai", "choice", id="not offered"
        ),
        pytest.param(request(choice="required"), "openai", "choice", id="a call of nothing"),
        pytest.param(request(tool(), unknown_fields=("colour",)), "openai", "unknown_field", id="an unknown field"),
        pytest.param(request(tool(), unknown_fields=("colour",)), "deepseek", None, id="an unknown field passed over"),
        pytest.param(request(tool()), "azure-openai", "parallel", id="strict and parallel by default"),
        pytest.param(request(tool(), parallel=False), "azure-openai", None, id="strict, one call at a time"),
        pytest.param(request(tool(strict=None)), "azure-openai", None, id="loose and parallel"),
        pytest.param(request(tool(), tool("b", strict=False)), "deepseek", "mixed_strict", id="strict beside loose"),
        pytest.param(request(tool(), tool("b")), "deepseek", None, id="all strict"),
        pytest.param(request(tool()), "bedrock-nova", "strict_field", id="no strict field"),
        pytest.param(request(*[tool(f"t{i}") for i in range(21)]), "anthropic", "limit", id="21 strict tools"),
        pytest.param(request(*[tool(f"t{i}", strict=None) for i in range(21)]), "anthropic", None, id="21 loose tools"),
        pytest.param(request(*[tool(f"t{i}") for i in range(129)]), "deepseek", "limit", id="129 tools"),
        pytest.param(
            request(output=WantedOutput("o", OPEN, "response_format", True)), "openai", "output", id="an open output"
        ),
        pytest.param(
            request(output=WantedOutput("o", CLOSED, "response_format", True)), "openai", None, id="an output"
        ),
    ],
)
def test_what_a_dialect_refuses(asked: Request, dialect: str, kind: str | None) -> None:
    found = breach(asked, load(dialect))
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("asked", "dialect", "held"),
    [
        (request(tool(), tool("b", strict=False)), "openai", {"act"}),
        (request(tool(strict=None)), "openai", set()),
        (request(tool(strict=None)), "kimi", {"act"}),
        (request(tool(strict=None)), "llama.cpp", {"act"}),
        (request(tool()), "ollama", set()),
        (request(tool(), strict=True), "cohere", {"act"}),
        (request(tool(strict=None)), "cohere", set()),
        (request(tool(strict=None)), "gemini", set()),
        (request(tool(strict=None), constrained=True), "gemini", {"act"}),
        (request(tool(strict=None)), "lmstudio", {"act"}),
    ],
)
def test_which_tools_the_decoder_holds(asked: Request, dialect: str, held: set[str]) -> None:
    assert held_tools(asked, load(dialect)) == held


@pytest.mark.parametrize(
    ("strict", "dialect", "held"),
    [
        (True, "openai", True),
        (None, "openai", False),
        (False, "openai", False),
        (None, "anthropic", True),
        (None, "gemini-json", True),
    ],
)
def test_whether_output_is_held(strict: bool | None, dialect: str, held: bool) -> None:
    asked = request(output=WantedOutput("o", CLOSED, "format", strict))
    assert holds_output(asked, load(dialect)) is held
    assert not holds_output(replace(asked, output=None), load(dialect))


def test_turns_and_rounds() -> None:
    calls = Message("assistant", calls=())
    result = Message("tool", "25", call_id="1")
    asked = Request("m", (*ASKED, calls, result, result, calls, result))
    assert (asked.turn, asked.rounds) == (2, 2)
    assert replace(asked, messages=(*asked.messages, calls, *ASKED)).rounds == 0
