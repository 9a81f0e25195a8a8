"""What is asked of the engine, and what an answer comes to. Nothing here opens a connection."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from strictcall import ArgumentsError, CompiledTool, Verdict

CALL = "forced call"
FORMAT = "response_format"
WRITTEN = "as written"
NEVER_RAISES = (Verdict.EXACT, Verdict.CLOSED)
# What an answer comes to, in the order of the totals.
DECODED, FAULTS, CUT, REFUSED, BROKEN = "decoded", "faults", "cut", "refused", "broken"
OUTCOMES = (DECODED, FAULTS, CUT, REFUSED, BROKEN)
MOST_WORDS = 160
# A small model runs on where a grammar lets it: what closes a text, an array or an object is made likelier.
CLOSING = [*([text, 4.0] for text in ('"', '"}', '"]', '","')), *([text, 2.0] for text in ("]", "}", "]}", "}}"))]
SAMPLING = {"temperature": 0.8, "repeat_penalty": 1.1, "logit_bias": CLOSING}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table: what one tool's request by one way came to, and the words that go with it."""

    tool: str
    verdict: str
    way: str
    outcome: str
    seconds: float
    words: str = ""


def call_body(tools: Sequence[CompiledTool], wanted: CompiledTool, most: int) -> dict[str, Any]:
    """A request with a whole toolset whose one call is of ``wanted``.

    The server takes ``tool_choice`` as text only, so the tool is named by the start of the answer, as the template
    that is used writes a call.
    """
    functions = [
        {"name": tool.name, "description": (tool.description or tool.name)[:80], "parameters": tool.parameters}
        for tool in tools
    ]
    return {
        "messages": [
            {"role": "user", "content": "Call a function. Make its arguments up, and keep them short."},
            {"role": "assistant", "content": f"<function={wanted.name}>"},
        ],
        "tools": [{"type": "function", "function": function} for function in functions],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_tokens": most,
        "seed": most,
        **SAMPLING,
    }


def format_body(name: str, description: str | None, schema: Any, most: int) -> dict[str, Any]:
    """A request for text that a schema describes; the engine does not show the schema to the model.

    The seed goes with ``most``, so that an answer that ran on is not the same when it is asked for again.
    """
    content = f"Write the arguments of {name} as JSON. Make them up, and keep them short.\n{(description or '')[:300]}"
    return {
        "messages": [{"role": "user", "content": content}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "arguments", "strict": True, "schema": schema},
        },
        "max_tokens": most,
        "seed": most,
        **SAMPLING,
    }


def arguments_of(body: Any, way: str) -> list[tuple[str, str]] | None:
    """The calls of an answer: name and arguments of each, without a name where it is text; None if it is cut."""
    choice = body["choices"][0]
    if choice["finish_reason"] == "length":
        return None
    message = choice["message"]
    if way != CALL:
        return [("", message["content"])]
    functions = [call["function"] for call in message.get("tool_calls") or []]
    return [(function["name"], function["arguments"]) for function in functions]


def judged(tool: CompiledTool, way: str, body: Any) -> tuple[str, str]:
    """The outcome of a whole answer, and the words that go with it.

    Faults are allowed where the verdict says that the local check closes a gap, and for a schema sent as it was
    written, whose answers the contract itself judges. Everywhere else they are ``BROKEN``, as is an answer that holds
    no call, another tool's call, or text that is no JSON.
    """
    calls = arguments_of(body, way)
    if calls is None:
        return CUT, ""
    if len(calls) != 1 or (way == CALL and calls[0][0] != tool.name):
        return BROKEN, f"not one call of it: {one_line(json.dumps(body['choices'][0]['message']))}"
    text = calls[0][1]
    try:
        value = json.loads(text)
        words = _faults(tool, way, text, value)
    except ValueError as error:
        return BROKEN, f"{error} in {one_line(text)}"
    if not words:
        return DECODED, one_line(text)
    allowed = way == WRITTEN or tool.verdict not in NEVER_RAISES
    return (FAULTS, words) if allowed else (BROKEN, f"{words} in {one_line(text)}")


def _faults(tool: CompiledTool, way: str, text: str, value: Any) -> str:
    if way == WRITTEN:
        return one_line("; ".join(map(str, tool.check(value))))
    try:
        tool.decode(text)
    except ArgumentsError as error:
        return one_line(str(error))
    return ""


def refusal(body: Any) -> str:
    """The engine's own words."""
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message", error) if isinstance(error, dict) else error
    return one_line(str(message))


def one_line(text: str) -> str:
    """Text for a cell of a table."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MOST_WORDS else flat[:MOST_WORDS] + "…"


def failures(lines: Iterable[Line]) -> list[Line]:
    """The lines that must not be there: a strict schema refused, or an answer that had to decode and did not."""
    return [line for line in lines if line.way != WRITTEN and line.outcome in (REFUSED, BROKEN)]


def row(line: Line) -> str:
    """The line as a row of a Markdown table."""
    words = line.words.replace("|", "\\|")
    return f"| {line.tool} | {line.verdict} | {line.way} | {line.seconds:.1f} | {line.outcome} | {words} |"


def totals(lines: Iterable[Line]) -> str:
    """How many of each outcome, by way and verdict, in Markdown."""
    groups: dict[tuple[str, str], Counter[str]] = {}
    for line in lines:
        groups.setdefault((line.way, line.verdict), Counter())[line.outcome] += 1
    rows = [
        f"| {way} | {verdict} | {counts.total()} | {' | '.join(str(counts[outcome]) for outcome in OUTCOMES)} |"
        for (way, verdict), counts in sorted(groups.items())
    ]
    return "\n".join([f"| way | verdict | sent | {' | '.join(OUTCOMES)} |", "|---" * (3 + len(OUTCOMES)) + "|", *rows])
