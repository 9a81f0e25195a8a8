"""One text read whole, character by character, and cut in two at every place: always the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api.streaming import check_law, run
from strictcall import Tool, Toolset
from strictcall.api.answer import Answer
from strictcall.api.events import Event, ReasoningDelta, TextDelta
from strictcall.tagged import Stream, read

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "options": {"type": "object", "properties": {"exact": {"type": "boolean"}, "limit": {"type": "number"}}},
        "either": {"type": ["string", "integer"]},
    },
    "required": ["query"],
}
TOOLS = Toolset(
    [
        Tool("get_weather", "The weather", WEATHER),
        Tool("search", "Finds things", SEARCH),
        Tool("now", "The time", {"type": "object", "properties": {}}),
    ],
    "openai",
)
PARIS = ("get_weather", {"city": "Paris"})
ROME = ("get_weather", {"city": "Rome", "days": 3})
NOW = ("now", {})


def merged(events: Iterable[Event]) -> list[Event]:
    """Events with texts that follow one another put together: where they are cut is not what was said."""
    found: list[Any] = []
    for event in events:
        if found and isinstance(event, TextDelta | ReasoningDelta) and type(found[-1]) is type(event):
            found[-1] = type(event)(found[-1].text + event.text)
        else:
            found.append(event)
    return found


def everywhere(text: str, form: str = "auto", toolset: Toolset = TOOLS, model: str | None = None) -> Answer:
    """The answer, the same however the text is cut."""

    def make() -> Stream:
        return Stream(toolset, form, model=model)

    events, answer = run(make(), [text])
    check_law(events, answer)
    assert read(text, toolset, form, model=model) == answer
    wanted = merged(events)
    cuts = [list(text), *([text[:at], text[at:]] for at in range(1, len(text)))]
    for pieces in cuts:
        events, again = run(make(), pieces)
        check_law(events, again)
        assert (merged(events), again) == (wanted, answer), pieces
    return answer


def calls(answer: Answer) -> list[Any]:
    """The calls as pairs of name and arguments; ``"fault"`` or ``"cut"`` in place of arguments not to be used."""
    return [
        (call.name, "cut" if not call.complete else "fault" if call.faults else call.arguments) for call in answer.calls
    ]
