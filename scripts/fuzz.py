"""``make fuzz``: random and mutated chunks through every stream reader, those of calls written as text among them.

Whatever arrives, a reader may raise ``StreamError`` and nothing else, holds no more than an answer may have, and takes
time in proportion to what it is given. The streams that are mutated are those that the emulator sends, with answers of
every kind; Converse's, which it does not speak, are put together here.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import resource
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from fuzz_tagged import FoundInText, Slowest, fuzz_texts, slowest

from strictcall import Tool, Toolset
from strictcall.api import chat_completions, converse, generate_content, messages, responses
from strictcall.emulator.answer import Answer, MadeCall, Stop
from strictcall.emulator.apis import chat_completions as emulated_chat
from strictcall.emulator.apis import generate_content as emulated_generate
from strictcall.emulator.apis import messages as emulated_messages
from strictcall.emulator.apis import responses as emulated_responses
from strictcall.emulator.conversation import Request
from strictcall.emulator.interface import Reply
from strictcall.errors import StreamError
from strictcall.tagged import formats
from strictcall.tagged.registry import AUTO

TAGGED = "tagged"
STREAMS: dict[str, Any] = {
    "chat_completions": chat_completions.Stream,
    "responses": responses.Stream,
    "messages": messages.Stream,
    "generate_content": generate_content.Stream,
    "converse": converse.Stream,
}
EMULATED: dict[str, Any] = {
    "chat_completions": emulated_chat.API,
    "responses": emulated_responses.API,
    "messages": emulated_messages.API,
    "generate_content": emulated_generate.API,
}
DIALECTS = {"messages": "anthropic", "converse": "bedrock-anthropic", "generate_content": "gemini-json"}
LARGE = 1_000_000
MARK = "@"
MOST_SECONDS_LARGE = 30.0
MOST_GROWTH = 8.0
"""Four times the text may take so many times the time: clocks of busy machines are not exact."""
MOST_MEMORY = 512.0
"""MiB that fuzzing may add to the process at most."""
ODD: list[Any] = [None, True, -1, 0, 3.5, 10**30, "", "x", "\ud800", [], {}, [[]], {"a": {"b": []}}, "9" * 50]


@dataclass(frozen=True)
class Found:
    """What fuzzing one reader found."""

    name: str
    chunks: int
    refused: int
    answers: int
    seconds: float
    memory: float
    growth: float
    large: float
    broken: str | None


def tools() -> list[Tool]:
    """Tools whose arguments pass as they are, are rewritten as they arrive, and are held."""
    text = {"type": "string"}
    plain = {"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": False}
    nested = {"type": "object", "properties": {"a": text, "n": {"type": "object", "properties": {"b": text}}}}
    return [
        Tool("plain", None, plain),
        Tool("nested", None, nested),
        Tool("held", None, {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": text}}}),
    ]


# --- streams to mutate ----------------------------------------------------------------------------------------------


def answers(rng: random.Random) -> Iterator[Answer]:
    """Answers of every kind."""
    arguments = {
        "plain": '{"a": "x\\n\\u00e9"}',
        "nested": '{"a": null, "n": {"b": "y"}}',
        "held": '{"m": [{"key": "k", "value": "v"}]}',
    }
    stops: list[Stop] = ["stop", "calls", "length", "refusal"]
    for stop in stops:
        names = rng.choices(list(arguments), k=rng.randrange(4)) if stop in ("calls", "length") else []
        calls = tuple(MadeCall(f"call_{i}", name, arguments[name]) for i, name in enumerate(names))
        yield Answer(rng.choice(["", "Hello “you”.", "x" * 40]), rng.choice(["", "Hm."]), calls, stop)


def streams(name: str, rng: random.Random) -> list[list[Any]]:
    """Streams as lists of chunks."""
    if name == "converse":
        return [_converse(answer) for answer in answers(rng)]
    found = []
    for answer in answers(rng):
        reply = Reply(request(name), answer, "f" * 24, 0, rng)
        found.append([frame.data for frame in EMULATED[name].frames(reply) if not isinstance(frame.data, str)])
    return found


def request(name: str) -> Request:
    """A request to be answered in a stream, as the emulator reads it."""
    asked = {"role": "user", "content": "Go."}
    bodies: dict[str, Any] = {
        "chat_completions": {
            "model": "m",
            "messages": [asked],
            "stream": True,
            "stream_options": {"include_usage": True},
        },
        "responses": {"model": "m", "input": "Go.", "stream": True},
        "messages": {"model": "m", "max_tokens": 99, "messages": [asked], "stream": True},
        "generate_content": {"contents": [{"role": "user", "parts": [{"text": "Go."}]}]},
    }
    path = {"model": "m:streamGenerateContent"} if name == "generate_content" else {}
    made: Request = EMULATED[name].read(bodies[name], path, {"alt": "sse"})
    return made


def _converse(answer: Answer) -> list[Any]:
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html"""
    chunks: list[Any] = [{"messageStart": {"role": "assistant"}}]
    if answer.reasoning:
        delta = {"reasoningContent": {"text": answer.reasoning}}
        chunks.append({"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}})
    if answer.text:
        chunks.append({"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": answer.text}}})
    for index, call in enumerate(answer.calls, start=2):
        start = {"toolUse": {"toolUseId": call.id, "name": call.name}}
        chunks.append({"contentBlockStart": {"contentBlockIndex": index, "start": start}})
        half = len(call.arguments) // 2
        pieces = (call.arguments[:half], call.arguments[half:])
        chunks += [_input(index, piece) for piece in pieces]
        chunks.append({"contentBlockStop": {"contentBlockIndex": index}})
    reason = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "guardrail_intervened"}
    chunks.append({"messageStop": {"stopReason": reason[answer.stop]}})
    chunks.append({"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}})
    return chunks


def _input(index: int, text: str) -> Any:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": {"input": text}}}}


# --- mutations ------------------------------------------------------------------------------------------------------


def mutated(chunk: Any, rng: random.Random) -> Any:
    """A chunk with one place in it changed, or another value altogether."""
    if rng.random() < 0.05:
        return copy.deepcopy(rng.choice(ODD))
    chunk = copy.deepcopy(chunk)
    here = chunk
    while isinstance(here, dict | list) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = rng.choice(keys)
        if not isinstance(here[key], dict | list) or not here[key] or rng.random() < 0.2:
            _change(here, key, rng)
            break
        here = here[key]
    return chunk


def _change(container: Any, key: Any, rng: random.Random) -> None:
    match rng.randrange(4):
        case 0:
            del container[key]
        case 1:
            container[key] = copy.deepcopy(rng.choice(ODD))
        case 2 if isinstance(container, dict):
            container[rng.choice(["index", "id", "name", "arguments", "type", "delta", "x"])] = container.pop(key)
        case _:
            container[key] = [container[key]] if rng.random() < 0.5 else {"x": container[key]}


def as_bytes(chunk: Any, rng: random.Random) -> bytes:
    """A chunk as an event's bytes, some of them changed."""
    raw = bytearray(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    for _ in range(rng.randrange(3)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


# --- fuzzing --------------------------------------------------------------------------------------------------------


def fuzz(name: str, chunks: int, seed: int) -> Found:
    """So many chunks through one reader."""
    rng = random.Random(f"{seed}:{name}")  # noqa: S311 - repeatable, not secret
    toolset = Toolset(tools(), DIALECTS.get(name, "openai"))
    known = [chunk for stream in streams(name, rng) for chunk in stream]
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    given = refused = finished = 0
    broken = None
    while given < chunks and broken is None:
        stream, last = STREAMS[name](toolset), None
        try:
            for _ in range(rng.choice([3, 20, 200, 2000])):
                chunk = rng.choice(known)
                chunk = mutated(chunk, rng) if rng.random() < 0.6 else chunk
                last = as_bytes(chunk, rng) if name != "converse" and rng.random() < 0.3 else chunk
                given += 1
                stream.feed(last)
            stream.finish()
            finished += 1
        except StreamError:
            refused += 1
        except Exception as error:  # noqa: BLE001 - any other is what is looked for
            broken = f"{type(error).__name__}: {error} on {last!r:.300}"
    seconds = time.monotonic() - began
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    quarter, whole = (timed(name, toolset, size) for size in (LARGE // 4, LARGE))
    return Found(name, given, refused, finished, seconds, memory, whole / quarter, whole, broken)


def timed(name: str, toolset: Toolset, size: int) -> float:
    """Seconds that arguments of so many bytes take, a byte at a time."""
    return _timed(name, toolset, size)


def _timed(name: str, toolset: Toolset, size: int) -> float:
    stream = STREAMS[name](toolset)
    call = MadeCall("call_1", "nested", json.dumps({"a": MARK}))
    began = time.monotonic()
    for chunk in _pieces(name, call, size):
        stream.feed(chunk)
    answer = stream.finish()
    seconds = time.monotonic() - began
    if [call.faults for call in answer.calls] != [()] or len(answer.calls[0].arguments["a"]) < size:
        raise AssertionError(f"{name}: a large call was not read: {answer.calls!r:.200}")
    return seconds


def _pieces(name: str, call: MadeCall, size: int) -> Iterator[Any]:
    """The chunks of a stream of one call, in whose arguments a mark is replaced by a long text that comes a byte at a
    time. Where an API sends arguments whole, the bytes of that event come one at a time.
    """
    answer = Answer(calls=(call,), stop="calls")
    rng = random.Random(1)  # noqa: S311 - repeatable, not secret
    if name == "converse":
        chunks = _converse(answer)
    else:
        frames = EMULATED[name].frames(Reply(request(name), answer, "f" * 24, 0, rng))
        chunks = [frame.data for frame in frames if not isinstance(frame.data, str)]
    for chunk in chunks:
        text = json.dumps(chunk)
        if MARK not in text:
            yield chunk
        elif name == "generate_content":
            raw = f"data: {text.replace(MARK, 'y' * size)}\n\n".encode()
            yield from (raw[index : index + 1] for index in range(len(raw)))
        elif "delta" in text.lower():
            yield _with_text(chunk, before=True)
            piece = _with_text(chunk, before=None)
            yield from (piece for _ in range(size))
            yield _with_text(chunk, before=False)
        else:
            yield json.loads(text.replace(MARK, "y" * size))


def _with_text(value: Any, *, before: bool | None) -> Any:
    """A chunk in which the text that holds the mark is what stands before it, what stands behind it, or one sign."""
    if isinstance(value, dict):
        return {name: _with_text(item, before=before) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_text(item, before=before) for item in value]
    if not isinstance(value, str) or MARK not in value:
        return value
    head, _, tail = value.partition(MARK)
    return "y" if before is None else head if before else tail


def main() -> int:
    """Fuzz every reader, two at a time, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--chunks", type=int, default=1_000_000, help="for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=[*STREAMS, TAGGED], action="append")
    asked = parser.parse_args()
    chosen = asked.only or [*STREAMS, TAGGED]
    failed = False
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(fuzz, name, asked.chunks, asked.seed) for name in chosen if name != TAGGED]
        texts = [pool.submit(fuzz_texts, asked.chunks, asked.seed)] if TAGGED in chosen else []
        large = [pool.submit(slowest, name) for name in (AUTO, *formats())] if TAGGED in chosen else []
        for job in jobs:
            failed |= told(job.result())
        for text in texts:
            failed |= told_of_texts(text.result())
        for slow in large:
            failed |= told_of_large(slow.result())
    return int(failed)


def told(found: Found) -> bool:
    """Print what one reader did; true where it is not as it should be."""
    print(
        f"{found.name:17} {found.chunks:,} chunks in {found.seconds:.0f} s: {found.answers:,} answers, "
        f"{found.refused:,} refused; {found.memory:.0f} MiB more; "
        f"1 MB a byte at a time {found.large:.1f} s, {found.growth:.1f} times a quarter of it"
    )
    if found.broken is not None:
        print(f"  BROKEN: {found.broken}")
    slow = found.large > MOST_SECONDS_LARGE or found.growth > MOST_GROWTH
    return found.broken is not None or slow or found.memory > MOST_MEMORY


def told_of_texts(found: FoundInText) -> bool:
    """Print what reading texts did; true where it is not as it should be."""
    print(
        f"{TAGGED:17} {found.chunks:,} chunks in {found.seconds:.0f} s: {found.texts:,} texts with {found.calls:,} "
        f"calls, {found.refused:,} refused; {found.memory:.0f} MiB more"
    )
    if found.broken is not None:
        print(f"  BROKEN: {found.broken}")
    return found.broken is not None or found.memory > MOST_MEMORY


def told_of_large(found: Slowest) -> bool:
    """Print how long a format's slowest text takes; true where that is too long."""
    slow = (
        max(found.whole, found.single) > MOST_SECONDS_LARGE
        or max(found.whole_growth, found.single_growth) > MOST_GROWTH
    )
    print(
        f"  {found.format:17} 1 MB of {found.units[0][:30]!r}: {found.whole:.1f} s, {found.whole_growth:.1f} times a "
        f"quarter; a byte at a time {found.units[1][:30]!r}: {found.single:.1f} s, {found.single_growth:.1f} times"
        f"{'  TOO SLOW' if slow else ''}",
        flush=True,
    )
    return slow


if __name__ == "__main__":
    sys.exit(main())
