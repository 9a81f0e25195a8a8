"""The part of ``make fuzz`` for calls written as text: torn and mixed texts of every format, in small pieces.

Whatever arrives, the answer is the same however it is cut, the only error is ``StreamError``, memory is bounded, and a
megabyte of what is almost a call takes seconds: in every format, whole and a character at a time.
"""

from __future__ import annotations

import random
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from strictcall import Tool, Toolset
from strictcall.api.answer import Answer
from strictcall.api.events import Event, ReasoningDelta, TextDelta
from strictcall.errors import StreamError
from strictcall.tagged import Stream, formats, write
from strictcall.tagged.registry import AUTO, FAMILIES, family

LARGE: Final = 1_000_000
MODEL: Final = "meta-llama/Llama-3.2-1B"
"""A model whose format is read without tags."""
CALLS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("find", {"q": "Paris"}),
    ("find", {"q": "a <b> \"c\" 'd'", "n": 3, "tags": ["x", "</parameter>"]}),
    ("now", {}),
]
SIGNS: Final = [*"{}[]()<>|:,=\"'\\`0", "\n", " ", "```", "\n> ", ' "', "-1", "1e999", "null", "True", "\x00", "\ud800"]
WORDS: Final = ["find", "now", "nobody", "functions.", "é", "\U0001f600", "I'd say ", "9" * 5000, "[" * 300]
THOUGHTS: Final = ["<think>", "</think>", "[THINK]", "<|im_end|>", "</s>", "<![CDATA[", "]]>"]
SMALL: Final = 16_000
MOST_TRIED: Final = 6
"""How many of the texts that are slow while small are tried further."""
_TOKEN: Final = re.compile(r"<[^<>]{1,40}>|\[/?[A-Z_]+\]|\w+|\s+|.", re.DOTALL)


def toolset() -> Toolset:
    """Tools with text, a number, a list, and nothing at all."""
    properties = {"q": {"type": "string"}, "n": {"type": "integer"}, "tags": {"type": "array"}}
    find = {"type": "object", "properties": properties, "required": ["q"]}
    return Toolset([Tool("find", None, find), Tool("now", None, {"type": "object", "properties": {}})], "openai")


@dataclass(frozen=True)
class FoundInText:
    """What fuzzing texts found."""

    chunks: int
    texts: int
    calls: int
    refused: int
    seconds: float
    memory: float
    broken: str | None


@dataclass(frozen=True)
class Slowest:
    """The slowest texts that are almost calls of a format, whole and a character at a time: what they repeat, their
    seconds, and how many times those of a quarter of it that is.
    """

    format: str
    units: tuple[str, str]
    whole: float
    whole_growth: float
    single: float
    single_growth: float


# --- texts ----------------------------------------------------------------------------------------------------------


def good() -> list[str]:
    """Calls as every format has them."""
    return [write(CALLS, each.name) for each in FAMILIES]


def fragments() -> list[str]:
    """What texts of calls are made of: the openings, whole and torn, and the pieces of calls."""
    found = {piece for text in good() for piece in _TOKEN.findall(text)}
    for opening in (opening.text for each in FAMILIES for opening in each.openings if opening.text):
        found |= {opening, opening[:-1], opening.replace("<", "</", 1)}
    return [*sorted(found - {""}), *SIGNS, *WORDS, *THOUGHTS]


def mixed(rng: random.Random, known: list[str]) -> str:
    """Fragments in no order."""
    return "".join(rng.choices(known, k=rng.randrange(25)))


def torn(rng: random.Random, text: str, known: list[str]) -> str:
    """A good text with something cut out, doubled or put in."""
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice([1, 3, 12, len(text)]))
        middle = rng.choice(["", text[start:end] * 2, rng.choice(known)])
        text = text[:start] + middle + text[end:]
    return text


def pieces(rng: random.Random, text: str) -> Iterator[str]:
    """A text cut at random."""
    at = 0
    while at < len(text):
        size = rng.choice([1, 1, 2, 3, 7, 40])
        yield text[at : at + size]
        at += size


# --- fuzzing --------------------------------------------------------------------------------------------------------


def fuzz_texts(chunks: int, seed: int) -> FoundInText:
    """So many chunks of text, through every format."""
    rng = random.Random(f"{seed}:tagged")  # noqa: S311 - repeatable, not secret
    tools, known, whole, names = toolset(), fragments(), good(), [AUTO, *formats()]
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    given = texts = calls = refused = 0
    broken = None
    while given < chunks and broken is None:
        text = mixed(rng, known) if rng.random() < 0.5 else torn(rng, rng.choice(whole), known)
        name, cut = rng.choice(names), list(pieces(rng, text))
        model = MODEL if name == AUTO and rng.random() < 0.5 else None
        given, texts = given + len(cut), texts + 1
        try:
            answer = run(tools, name, model, cut)
            if texts % 4 == 0 and run(tools, name, model, [text]) != answer:
                broken = f"{name}: whole it is read otherwise than in the pieces {cut!r:.400}"
            broken = broken or wrong(tools, answer)
            calls += len(answer.calls)
        except StreamError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - any other is what is looked for
            broken = f"{name}: {type(error).__name__}: {error} on {cut!r:.400}"
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return FoundInText(given, texts, calls, refused, time.monotonic() - began, memory, broken)


def run(tools: Toolset, name: str, model: str | None, cut: list[str]) -> Answer:
    """The answer that pieces of text are. Raises ``AssertionError`` where it is not what was told."""
    stream, told = Stream(tools, name, model), list[Event]()
    for piece in cut:
        told += stream.feed(piece)
    answer = stream.finish()
    told += stream.ended
    said = "".join(event.text for event in told if isinstance(event, TextDelta))
    thought = "".join(event.text for event in told if isinstance(event, ReasoningDelta))
    if (said, thought) != (answer.text, answer.reasoning):
        raise AssertionError(f"told was {said!r:.200}, and the answer is {answer.text!r:.200}")
    return answer


def wrong(tools: Toolset, answer: Answer) -> str | None:
    """What is wrong with the calls of an answer."""
    for call in answer.calls:
        if not call.faults and (not call.complete or tools[call.name].check(call.arguments)):
            return f"a call that must not run has no fault: {call!r:.300}"
    return None


# --- large texts ----------------------------------------------------------------------------------------------------


def slowest(name: str) -> Slowest:
    """The slowest of a format's almost-calls, found with smaller texts and measured with a megabyte.

    What is read in vain is not counted up to a limit, so that small texts alone tell little.
    """
    tools = toolset()
    units = sorted(almost(name), key=lambda unit: seconds(tools, name, unit, SMALL, None))[-MOST_TRIED:]
    slow = max(units, key=lambda unit: seconds(tools, name, unit, LARGE // 8, None))
    single = max(units, key=lambda unit: seconds(tools, name, unit, SMALL, 1))
    times = [seconds(tools, name, slow, size, None) for size in (LARGE // 4, LARGE)]
    singles = [seconds(tools, name, single, size, 1) for size in (LARGE // 4, LARGE)]
    return Slowest(name, (slow, single), times[1], _growth(times), singles[1], _growth(singles))


def almost(name: str) -> list[str]:
    """What is almost a call, to be repeated: openings, whole and torn, calls that break off, and all of them mixed."""
    chosen = FAMILIES if name == AUTO else [family(name)]
    openings = [opening.text for each in chosen for opening in each.openings if opening.text]
    found = dict.fromkeys([*openings, *(opening[:-1] for opening in openings), *SIGNS, *THOUGHTS])
    if name != AUTO:
        text, place = write(CALLS[:1], name), 0
        for piece in _TOKEN.findall(text):
            place += len(piece)
            found[text[:place]] = None
    rng = random.Random(name)  # noqa: S311 - repeatable, not secret
    known = [*found, *fragments()]
    return [*filter(None, found), "".join(piece for piece in rng.choices(known, k=400) if len(piece) < 100)]


def seconds(tools: Toolset, name: str, unit: str, size: int, step: int | None) -> float:
    """Seconds of the processor that a text of so many characters takes, in pieces of ``step``. More calls than any
    answer has end it.
    """
    text = unit * (size // len(unit) + 1)
    began = time.process_time()
    stream = Stream(tools, name)
    try:
        for at in range(0, size, step or size):
            stream.feed(text[at : min(size, at + (step or size))])
        stream.finish()
    except StreamError as error:
        if "calls" not in error.problem:
            raise
    return time.process_time() - began


def _growth(times: list[float]) -> float:
    return times[1] / max(times[0], 1e-4)
