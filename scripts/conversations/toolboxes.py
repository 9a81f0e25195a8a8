"""Tools that fail under strict decoding without help, and what is said to have them called.

Plain functions, as users write them. Runs in the environment of the peers: pydantic is there, strictcall is not. Each
function writes down what it got; none takes a null.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

DONE = ": done"
"""How what every tool says ends."""
City = Annotated[str, Field(min_length=2, max_length=40)]


@dataclass
class Notes:
    """What the tools of a conversation got: how many calls ran, what came in them, and what should not have."""

    ran: int = 0
    saw: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    invalid: list[dict[str, Any]] = field(default_factory=list)

    def clear(self) -> None:
        """Begin a new conversation."""
        self.ran = 0
        self.saw.clear()
        self.wrong.clear()
        self.invalid.clear()

    def took(self, tool: str, *seen: str, **arguments: Any) -> str:
        """A tool ran; returns what the model is told."""
        self.ran += 1
        self.saw.update(seen)
        if any(map(_holds_null, arguments.values())):
            self.wrong.append(f"{tool}: a null in {arguments!r}")
        return f"{tool}{DONE}"

    def refused(self, problems: list[Any], tool: str) -> None:
        """A tool did not run: what the peer's own validation said, as pydantic lists it."""
        self.invalid.append(
            {
                "tool": tool,
                "problems": [
                    {
                        "type": problem["type"],
                        "place": [*problem["loc"]],
                        "input": repr(problem.get("input"))[:500],
                        "repeats_a_name": _repeats_a_name(problem.get("input")),
                    }
                    for problem in problems
                ],
            }
        )


NOTES = Notes()


def _holds_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_holds_null, value))
    return value is None


def _repeats_a_name(value: Any) -> bool:
    """Whether a value is a map as the wire has it, with one name twice: no map can be made of it."""
    if not isinstance(value, list) or not all(isinstance(item, dict) and item.keys() == _ENTRY for item in value):
        return False
    return len({item["key"] for item in value}) < len(value)


_ENTRY = {"key", "value"}


class Hotel(TypedDict):
    """A place to sleep."""

    stars: NotRequired[Annotated[int, Field(ge=1, le=5)]]
    breakfast: NotRequired[bool]
    wish: NotRequired[str]


class Trip(TypedDict):
    """A trip to one city."""

    city: str
    nights: Annotated[int, Field(ge=1, le=30)]
    hotel: NotRequired[Hotel]
    budget: NotRequired[float]


def _is_map_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for pair in value.items() for text in pair)


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def label_item(item: str, labels: dict[str, str]) -> str:
    """Put labels on an item of the stock: a value for each label's name."""
    if not _is_map_of_texts(labels):
        NOTES.wrong.append(f"label_item: labels {labels!r}")
    return NOTES.took("label_item", *(["entries of a map"] if labels else ["an empty map"]), item=item, labels=labels)


def send_message(
    text: Annotated[str, Field(min_length=3, max_length=80)],
    to: Annotated[list[str], Field(min_length=1, max_length=3)],
    urgency: Annotated[int, Field(ge=1, le=5)] = 3,
) -> str:
    """Send a short message to one person or a few."""
    if not (3 <= len(text) <= 80 and 1 <= len(to) <= 3 and 1 <= urgency <= 5):
        NOTES.wrong.append(f"send_message: {text!r} {to!r} {urgency!r}")
    return NOTES.took("send_message", "values within bounds", text=text, to=to, urgency=urgency)


def book_trip(trip: Trip, pace: Literal["slow", "normal", "fast"] = "normal") -> str:
    """Book a trip to a city for some nights."""
    seen = [f"an optional {'given' if name in trip else 'left out'}" for name in ("hotel", "budget")]
    hotel = trip.get("hotel")
    if hotel is not None:
        seen += [f"a nested optional {'given' if n in hotel else 'left out'}" for n in ("stars", "breakfast", "wish")]
    return NOTES.took("book_trip", *seen, trip=trip, pace=pace)


def find_places(near: tuple[float, float], radius: float = 5.0) -> str:
    """Find places near a latitude and a longitude."""
    if not _is_pair(near):
        NOTES.wrong.append(f"find_places: near {near!r}")
    return NOTES.took("find_places", "a tuple", near=near, radius=radius)


def city_weather(city: City, days: int = 1, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """Look up the weather in a city for some days."""
    return NOTES.took("city_weather", "a name with a dot", city=city, days=days, unit=unit)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of a conversation, by the names that the model should know them under, and the user's turns."""

    kind: str
    tools: dict[str, Callable[..., str]]
    prompts: tuple[str, ...]


_WEATHER = "city.weather now"
TOOLBOXES = (
    Toolbox(
        "open map",
        {"label_item": label_item},
        (
            'Label the item "lamp" with colour: red and size: small, please.',
            'Now label the item "chair" with room: kitchen.',
        ),
    ),
    Toolbox(
        "bounds",
        {"send_message": send_message},
        (
            'Send the message "Lunch is at noon" to ana@example.com and bo@example.com.',
            'Send a message with urgency 5 to cy@example.com: "Bring the blue folder".',
        ),
    ),
    Toolbox(
        "optionals",
        {"book_trip": book_trip},
        (
            "Book a trip to Lisbon for 3 nights.",
            "Book a slow trip to Oslo for 2 nights, in a hotel with 4 stars and breakfast, for a budget of 900.",
        ),
    ),
    Toolbox(
        "tuple",
        {"find_places": find_places},
        ("Find places near 38.7, -9.1.", "Find places near 59.9, 10.7 within a radius of 2."),
    ),
    Toolbox(
        "odd name",
        {_WEATHER: city_weather},
        ("How is the weather in Paris?", "Look up the weather in Rome for 4 days in fahrenheit."),
    ),
    Toolbox(
        "all five",
        {
            "label_item": label_item,
            "send_message": send_message,
            "book_trip": book_trip,
            "find_places": find_places,
            _WEATHER: city_weather,
        },
        (
            "How is the weather in Madrid? Then book a trip to Madrid for 5 nights.",
            'Label the item "bag" with owner: Dee. Then send the message "All set for Madrid" to dee@example.com.',
            "Find places near 40.4, -3.7.",
        ),
    ),
)
