"""What answers of any family hold beside text and calls: thoughts, and the tokens that end a turn.

Sources: the chat templates of Qwen3, Magistral, Seed-OSS, Command A Reasoning and Kimi K2 Thinking on
https://huggingface.co, and the special tokens of their tokenizers.
"""

from __future__ import annotations

from typing import Final

from strictcall.tagged.family import Opening, Reader
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan
from strictcall.tagged.steps import Step, Thought

_THOUGHTS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""What opens and closes a thought. One that is never closed goes on to the end."""
_INTERRUPTIONS: Final = ("<|tool_calls_section_begin|>",)
"""Special tokens that end a thought although it was not closed."""
_ENDS: Final = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|END_OF_TURN_TOKEN|>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
    "[EOS]",
    "<｜end▁of▁sentence｜>",  # noqa: RUF001 - the vertical bars are wide ones
    "<[e~[",
    "<|message_sep|>",
)
"""Tokens that end a turn, which some servers leave in the text."""
_DROPPED: Final = ("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>")
"""Tokens that frame text."""


def opened_thought(scan: Scan) -> Reading[None]:
    """Take a thought that the prompt opened; the model may open it again."""
    yield from scan.space()
    yield from scan.skip(*(opening for opening, _ in _THOUGHTS))
    yield from _thinking(scan, tuple(closing for _, closing in _THOUGHTS))


def _thinking(scan: Scan, closing: tuple[str, ...]) -> Reading[None]:
    ended = yield from scan.flow(Thought, *closing, *_INTERRUPTIONS)
    if ended in _INTERRUPTIONS:
        scan.at -= len(ended)


def _thought(opening: str, closing: str) -> Reader:
    def read(scan: Scan) -> Reading[None]:
        yield from scan.take(opening)
        yield from _thinking(scan, (closing,))

    return read


def _closed_thought(opening: str, closing: str) -> Reader:
    """Reads a thought that begins within a line, where a tag may be no more than mentioned: it must be closed."""

    def read(scan: Scan) -> Reading[None]:
        yield from scan.take(opening)
        thought, _ = yield from scan.until(closing)
        yield Thought(thought)

    return read


def _token(*tokens: str) -> Reader:
    def read(scan: Scan) -> Reading[None]:
        yield from scan.take(*tokens)

    return read


def _end(token: str) -> Reader:
    """Reads what ends the turn, of which this is the first: nothing but further ends may follow."""

    def read(scan: Scan) -> Reading[None]:
        yield from scan.take(token)
        yield from _further_ends(scan)

    return read


def _further_ends(scan: Scan) -> Reading[None]:
    while (yield from scan.space()):
        yield from scan.take(*_ENDS)


def alone(read: Reader) -> Reader:
    """Reads calls that nothing marks, where they are all that is left of the answer."""

    def read_alone(scan: Scan) -> Reading[None]:
        found: list[Step] = []
        begun = None
        try:
            for step in read(scan):
                if step is None:
                    yield None
                else:
                    found.append(step)
                    scan.begun = None
            yield from _nothing(scan)
        except Cut:
            begun = scan.begun
            if begun is None:
                raise
        yield from found
        if begun is not None:
            scan.begun = begun
            raise Cut

    return read_alone


def _nothing(scan: Scan) -> Reading[None]:
    """Take the end of the answer. Raises ``Mismatch`` where anything else follows."""
    yield from _further_ends(scan)
    if scan.at < scan.end:
        raise Mismatch


COMMON: Final[tuple[Opening, ...]] = (
    *(Opening(opening, _thought(opening, closing), where="line") for opening, closing in _THOUGHTS),
    *(Opening(opening, _closed_thought(opening, closing)) for opening, closing in _THOUGHTS),
    *(Opening(closing, _token(closing)) for _, closing in _THOUGHTS),
    *(Opening(end, _end(end)) for end in _ENDS),
    *(Opening(token, _token(token)) for token in _DROPPED),
)
