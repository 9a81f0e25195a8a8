"""Tools from Python functions and methods."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import inspect
import sys
import typing
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator

from runtime.running import both_loops, call, codes
from strictcall import Policy, compile_tool
from strictcall.errors import SettingsError, SourceError
from strictcall.runtime.executor import Executor
from strictcall.runtime.output import model_text
from strictcall.runtime.python_tool import FunctionTool, tool
from strictcall.runtime.runnable import Context
from strictcall.source.python_object import read_object

pytestmark = [pytest.mark.anyio, both_loops]


class Place(BaseModel):
    """Where it is."""

    model_config = ConfigDict(strict=True)
    name: str
    since: dt.date
    at: tuple[float, float] | None = None


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@dataclasses.dataclass
class Range:
    low: int
    high: int = 9


@tool
def weather(place: Place, unit: Unit = Unit.METRIC, *, days: Annotated[int, Field(ge=1, le=7)] = 1) -> str:
    """Tell the weather.

    It is always fine.

    Args:
        place: Where to look.
        unit: In which unit.
        days: For how many days.
    """
    assert isinstance(place, Place)
    assert isinstance(place.since, dt.date)
    return f"fine in {place.name} since {place.since:%Y}, {unit.name}, {days}, {type(place.at).__name__}"


@tool(timeout=5, parallel_safe=False, read_only=True, strict=False, policy=Policy(nulls="fold"), name="look-up")
async def look_up(key: str, context: Context, wanted: Range | None = None) -> list[object]:
    """Look it up.

    Parameters
    ----------
    key : str
        What to look for.
    """
    return [key, context.call_id, context.state, wanted.high if wanted else None]


@tool
def sphinx(word: str, ctx: Context | None = None) -> str:
    """Say a word.

    :param word: the word
    """
    return word if ctx is None else f"{word} {ctx.tool}"


async def said(executor_tools, name, arguments, **options):
    (output,) = await Executor(executor_tools, **options).run_batch([call(name, arguments)])
    return model_text(output)


async def test_schema_and_words_come_from_the_function():
    parameters = weather.tool.parameters
    assert weather.name == "weather"
    assert weather.tool.description == "Tell the weather.\n\nIt is always fine."
    assert list(parameters["properties"]) == ["place", "unit", "days"]
    assert parameters["required"] == ["place"]
    assert parameters["properties"]["days"] == {
        "default": 1,
        "description": "For how many days.",
        "maximum": 7,
        "minimum": 1,
        "title": "Days",
        "type": "integer",
    }
    assert parameters["properties"]["unit"]["description"] == "In which unit."
    assert look_up.tool.parameters["properties"]["key"]["description"] == "What to look for."
    assert sphinx.tool.parameters["properties"]["word"]["description"] == "the word"
    for made in (weather, look_up, sphinx):
        assert compile_tool(made.tool, "openai").strict


async def test_the_context_is_not_in_the_schema_and_is_given():
    assert set(look_up.tool.parameters["properties"]) == {"key", "wanted"}
    assert set(sphinx.tool.parameters["properties"]) == {"word"}
    tools = [look_up, sphinx]
    assert await said(tools, "look-up", {"key": "k", "wanted": {"low": 1}}, state=7) == '["k","c1",7,9]'
    assert await said(tools, "look-up", {"key": "k"}) == '["k","c1",null,null]'
    assert await said(tools, "sphinx", {"word": "hello"}) == "hello sphinx"
    assert "no such argument" in await said(tools, "sphinx", {"word": "x", "ctx": {}})


async def test_parameters_arrive_as_what_they_are_annotated_with():
    place = {"name": "Rome", "since": "2020-01-02", "at": [1.5, 2]}
    assert await said([weather], "weather", {"place": place, "unit": "imperial"}) == (
        "fine in Rome since 2020, IMPERIAL, 1, tuple"
    )
    assert await said([weather], "weather", {"place": place, "days": 9}) == (
        "Error [INVALID_ARGUMENTS]: /days: must be at most 7, got 9"
    )


async def test_what_may_be_said_of_a_tool():
    assert (look_up.name, look_up.timeout, look_up.parallel_safe) == ("look-up", 5, False)
    assert (look_up.read_only, look_up.strict, look_up.policy) == (True, False, Policy(nulls="fold"))
    assert (weather.timeout, weather.parallel_safe, weather.read_only, weather.strict) == (30, True, None, None)
    assert tool(timeout=None)(len_of).timeout is None
    assert tool(description="Other words")(len_of).tool.description == "Other words"
    with pytest.raises(SettingsError, match="timeout"):
        tool(timeout=-1)(len_of)


def len_of(text: str) -> int:
    return len(text)


async def test_a_tool_is_still_called_like_its_function():
    made = tool(len_of)
    assert made("four") == made(text="four") == 4
    assert inspect.signature(made) == inspect.signature(len_of)
    assert inspect.unwrap(made) is len_of


class Shop:
    """Methods of every kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    @tool(read_only=True)
    def price(self, item: str, context: Context) -> str:
        """Tell a price.

        Args:
            item: of what
        """
        return f"{item} at {self.name} for {context.tool}"

    @tool
    async def buy(self, item: str, count: int = 1) -> str:
        """Buy it."""
        return f"{count} {item} from {self.name}"

    @tool
    @classmethod
    def kinds(cls, prefix: str) -> str:
        """List kinds."""
        return prefix + cls.__name__

    @tool
    @staticmethod
    def add(left: int, right: int) -> int:
        """Add."""
        return left + right

    @tool
    def parent(self, other: Shop) -> str:
        """Take what has no schema."""
        return other.name


class Branch(Shop):
    pass


async def test_methods_are_tools_of_their_instance():
    rome, oslo = Shop("Rome"), Branch("Oslo")
    assert isinstance(rome.price, FunctionTool)
    assert rome.price.read_only is True
    assert rome.price.tool.description == "Tell a price."
    assert rome.price.tool.parameters["properties"] == {
        "item": {"title": "Item", "type": "string", "description": "of what"}
    }
    assert await said([rome.price, rome.buy], "price", {"item": "tea"}) == "tea at Rome for price"
    assert await said([oslo.price, oslo.buy], "price", {"item": "tea"}) == "tea at Oslo for price"
    assert await said([oslo.buy], "buy", {"item": "tea", "count": 2}) == "2 tea from Oslo"
    assert await said([Shop.kinds], "kinds", {"prefix": "a "}) == "a Shop"
    assert await said([Branch.kinds], "kinds", {"prefix": "a "}) == "a Branch"
    assert await said([Shop.add, rome.buy], "add", {"left": 1, "right": 2}) == "3"
    assert await rome.buy("tea") == "1 tea from Rome"
    assert Shop.price(rome, "tea", Context(tool="x")) == "tea at Rome for x"
    assert Shop.price.__name__ == "price"
    with pytest.raises(SettingsError, match="MethodTool"):
        Executor([Shop.price])
    with pytest.raises(SourceError, match="'other'"):
        rome.parent  # noqa: B018


class Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def even(cls, n: int) -> int:
        if n % 2:
            raise ValueError("must be even")
        return n


async def test_what_only_pydantic_can_tell_is_a_fault_too():
    ran = []

    @tool
    def halve(even: Even, others: list[Even] | None = None) -> int:
        """Halve."""
        ran.append(even)
        if even.n == 100:
            Even(n=3)
        return even.n // 2

    assert await said([halve], "halve", {"even": {"n": 4}}) == "2"
    assert await said([halve], "halve", {"even": {"n": 3}}) == (
        "Error [INVALID_ARGUMENTS]: /even/n: Value error, must be even, got 3"
    )
    assert "/others/1/n" in await said([halve], "halve", {"even": {"n": 2}, "others": [{"n": 2}, {"n": 1}]})
    assert len(ran) == 1
    # One within the tool is the tool's own.
    assert (await said([halve], "halve", {"even": {"n": 100}})).startswith("Error [EXECUTION_ERROR]")


async def test_every_kind_of_parameter():
    @tool
    def kinds(first: int, /, second: int, *more: int, third: int = 3, **others: float) -> dict[str, object]:
        """All of them."""
        return {"first": first, "second": second, "more": more, "third": third, "others": others}

    assert set(kinds.tool.parameters["properties"]) == {"first", "second", "third"}
    assert await said([kinds], "kinds", {"first": 1, "second": 2, "x": 0.5}) == (
        '{"first":1,"second":2,"more":[],"third":3,"others":{"x":0.5}}'
    )

    @tool
    def aliased(from_: Annotated[str, Field(alias="from")], kind: Literal["a", "b"] = "a") -> str:
        """A name that is no Python name."""
        return from_ + kind

    assert await said([aliased], "aliased", {"from": "x"}) == "xa"
    assert compile_tool(aliased.tool, "openai").decode('{"from": "x", "kind": null}') == {"from": "x"}

    @tool
    def nothing() -> None:
        """Take nothing, give nothing."""

    assert await said([nothing], "nothing", {}) == "(no output)"


async def test_partials_and_objects():
    class Adder:
        """Adds."""

        def __call__(self, left: int, right: int) -> int:
            return left + right

    made = tool(functools.partial(len_of, text="preset"), name="preset")
    assert await said([made], "preset", {}) == "6"
    added = tool(Adder(), name="add")
    assert await said([added], "add", {"left": 1, "right": 2}) == "3"


def a_generator(n: int):
    yield n


async def an_async_generator(n: int):
    yield n


def unknown_type(n: Missing) -> int:  # noqa: F821
    return 1


def without_schema(n: sys) -> int:
    return 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (a_generator, "a generator cannot be a tool"),
        (an_async_generator, "a generator cannot be a tool"),
        (unknown_type, "its signature cannot be read: NameError"),
        (without_schema, "'n'"),
    ],
)
async def test_what_cannot_be_a_tool_is_said_where_it_stands(function, said):
    with pytest.raises(SourceError, match=said) as raised:
        tool(function)
    assert function.__name__ in str(raised.value)


async def test_the_command_line_reads_decorated_functions_too():
    assert read_object(weather, "module:weather", "weather").tools == (weather.tool,)
    assert read_object([look_up, len_of], "module:tools", "tools").tools[0] == look_up.tool


async def test_a_fault_before_the_function_is_told_once():
    outputs = await Executor([weather]).run_batch([call("weather", {"place": {"name": "x"}})])
    assert codes(outputs) == ["INVALID_ARGUMENTS"]
    assert model_text(outputs[0]).count("/place/since") == 1


async def test_context_in_every_spelling_of_its_annotation():
    def old(x: int, context: typing.Optional[Context] = None) -> bool:  # noqa: UP045
        return isinstance(context, Context)

    def annotated(x: int, context: Annotated[Context, "the context"]) -> bool:
        return isinstance(context, Context)

    class Mine(Context):
        pass

    def child(x: int, context: Mine | None = None) -> bool:
        return isinstance(context, Context)

    for function in (old, annotated):
        made = tool(function)
        assert set(made.tool.parameters["properties"]) == {"x"}
        assert await said([made], made.name, {"x": 1}) == "true"
    with pytest.raises(SourceError):
        tool(child)  # a local class: its annotation cannot be evaluated
