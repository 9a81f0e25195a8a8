"""What the model does with a request: it says something, thinks before, or calls tools."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from strictcall.dialect.held import held
from strictcall.dialect.model import Dialect
from strictcall.emulator.answer import BYTES_A_TOKEN, Answer, MadeCall, Stop
from strictcall.emulator.answers import obedient, random_answers, sloppy
from strictcall.emulator.answers.grammar import GrammarRefusedError
from strictcall.emulator.conversation import OfferedTool, Request
from strictcall.emulator.refusal import Refusal
from strictcall.emulator.rules import held_tools, holds_output, schema_of
from strictcall.emulator.sensible import calls as sensible
from strictcall.emulator.settings import Settings
from strictcall.emulator.styles import Style, as_text, within

MOST_ROUNDS: Final = 3
"""After so many rounds of calls the model answers in words, unless it must call."""
MOST_CALLS: Final = 3
_CALLS_AT_FIRST: Final = 0.85
_CALLS_AGAIN: Final = 0.25
_TALKS_BESIDE_CALLS: Final = 0.3
_SEVERAL: Final = 0.4
_THINKS_IN_TEXT: Final = 0.4
"""How often a thought stands in a text, in a style whose models think."""


def answer(
    request: Request,
    dialect: Dialect,
    settings: Settings,
    rng: random.Random,
    call_prefix: str,
    style: Style | None = None,
) -> Answer:
    """An answer to a request that the dialect takes. The same arguments give the same answer.

    With a ``style`` its calls stand in its text, and no decoder held them.
    """
    wanted = request.max_tokens if request.max_tokens is not None else settings.max_tokens
    budget = min(wanted, settings.max_tokens) * BYTES_A_TOKEN
    draft = (_Draft if style is None else _TextDraft)(rng, budget, call_prefix)
    model = _MODELS.get(settings.answers, _Random)
    made = model(request, dialect, settings.loose_rate, rng, style).fill(draft)
    return made if style is None else within(as_text(made, style, rng), budget)


@dataclass
class _Draft:
    """An answer in the making, which ends where its bytes run out."""

    rng: random.Random
    left: int
    prefix: str
    answer: Answer = field(default_factory=Answer)

    @property
    def full(self) -> bool:
        return self.left <= 0

    def say(self, text: str) -> None:
        self.answer = replace(self.answer, text=self._within(text))

    def think(self, text: str) -> None:
        self.answer = replace(self.answer, reasoning=self._within(text))

    def call(self, name: str, arguments: str, *, complete: bool = True) -> None:
        """A call; arguments that are not complete end the answer."""
        made = MadeCall(f"{self.prefix}{self.rng.getrandbits(96):024x}", name, self._within(arguments))
        stop: Stop = "calls" if complete and self.answer.stop != "length" else "length"
        self.answer = replace(self.answer, calls=(*self.answer.calls, made), stop=stop)
        self.left = self.left if complete else 0

    def end_early(self) -> None:
        self.answer = replace(self.answer, stop="length")

    def _within(self, text: str) -> str:
        raw = text.encode("utf-8", "surrogatepass")
        if len(raw) > self.left:
            text = raw[: self.left].decode("utf-8", "ignore")
            self.end_early()
        self.left -= min(self.left, len(raw))
        return text


class _TextDraft(_Draft):
    """An answer whose calls will stand in its text: that is cut as a whole, once it is written."""

    def call(self, name: str, arguments: str, *, complete: bool = True) -> None:
        del complete
        made = MadeCall("", name, arguments)
        self.answer = replace(self.answer, calls=(*self.answer.calls, made), stop="calls")


class _Random:
    """Any answer that the decoder allows."""

    def __init__(
        self, request: Request, dialect: Dialect, loose_rate: float, rng: random.Random, style: Style | None
    ) -> None:
        self.request = request
        self.dialect = dialect
        self.loose_rate = loose_rate if style is None or style.breakable else 0.0
        self.rng = rng
        self.style = style
        self.held = held_tools(request, dialect) if style is None else frozenset()

    def fill(self, draft: _Draft) -> Answer:
        try:
            self.say(draft)
        except GrammarRefusedError as error:
            raise Refusal(f"The schema could not be compiled into a grammar: {error}") from None
        return draft.answer

    def say(self, draft: _Draft) -> None:
        chosen = self.chosen()
        if self.style is not None:
            chosen = chosen[: self.style.most]
            if self.style.thinks and self.rng.random() < _THINKS_IN_TEXT:
                draft.think(self.thought([wish.tool for wish in chosen]))
        if not chosen:
            self.conclude(draft)
            return
        if self.rng.random() < _TALKS_BESIDE_CALLS:
            draft.say(self.preamble([wish.tool for wish in chosen]))
        for wish in chosen:
            if draft.full:
                draft.end_early()
                break
            self.call(draft, wish)

    def chosen(self) -> Sequence[sensible.Wish]:
        """The calls to make, in order; empty for an answer in words."""
        tools = self.request.callable_tools
        if not tools or not self.calls():
            return ()
        count = self.rng.randint(1, MOST_CALLS) if self.may_be_several() else 1
        return [sensible.Wish(self.rng.choice(tools), self.request.prompt) for _ in range(count)]

    def calls(self) -> bool:
        """Whether tools are called."""
        if self.request.choice == "required":
            return True
        rounds = self.request.rounds
        return rounds < MOST_ROUNDS and self.rng.random() < (_CALLS_AGAIN if rounds else _CALLS_AT_FIRST)

    def may_be_several(self) -> bool:
        """Whether more than one tool is called: never where the choice names the one to call."""
        request = self.request
        named = request.choice == "required" and request.only is not None and len(request.only) == 1
        return request.parallel is not False and not named and self.rng.random() < _SEVERAL

    def preamble(self, chosen: Sequence[OfferedTool]) -> str:
        del chosen
        return random_answers.text(self.rng)

    def thought(self, chosen: Sequence[OfferedTool]) -> str:
        del chosen
        return random_answers.reasoning(self.rng)

    def call(self, draft: _Draft, wish: sensible.Wish) -> None:
        tool = wish.tool
        if tool.name in self.held:
            written = random_answers.arguments(schema_of(tool), self.dialect, self.rng, draft.left)
            draft.call(tool.name, written.text, complete=written.complete)
        else:
            draft.call(tool.name, sloppy.arguments(schema_of(tool), self.rng, self.loose_rate))

    def conclude(self, draft: _Draft) -> None:
        """The answer in words, or in the form that was asked for."""
        output = self.request.output
        if output is None:
            draft.say(random_answers.text(self.rng))
        elif output.schema is None or holds_output(self.request, self.dialect):
            written = random_answers.output(output.schema, self.dialect, self.rng, draft.left)
            draft.say(written.text)
            if not written.complete:
                draft.end_early()
        else:
            draft.say(sloppy.arguments(output.schema, self.rng, self.loose_rate))


class _Sensible(_Random):
    """An answer that reads the user's words."""

    def chosen(self) -> Sequence[sensible.Wish]:
        request = self.request
        return sensible.wishes(
            request.callable_tools,
            request.prompt,
            self.rng,
            parallel=request.parallel is not False,
            required=request.choice == "required",
            done=request.calls_made,
        )

    def preamble(self, chosen: Sequence[OfferedTool]) -> str:
        return sensible.preamble(chosen, self.rng)

    def thought(self, chosen: Sequence[OfferedTool]) -> str:
        return sensible.thought(chosen)

    def call(self, draft: _Draft, wish: sensible.Wish) -> None:
        schema = held(schema_of(wish.tool), self.dialect) if wish.tool.name in self.held else None
        draft.call(wish.tool.name, sensible.arguments(wish.tool, wish.words, self.rng, schema=schema))

    def conclude(self, draft: _Draft) -> None:
        output = self.request.output
        if output is None:
            draft.say(sensible.text(self.request, self.rng))
            return
        schema = held(output.schema, self.dialect) if holds_output(self.request, self.dialect) else None
        draft.say(sensible.output(output.schema, self.request.prompt, self.rng, held=schema))


@dataclass(frozen=True, slots=True)
class _WrittenOut(sensible.Wish):
    """A call whose arguments the user wrote out."""

    arguments: dict[str, Any] = field(default_factory=dict)


class _Obedient(_Sensible):
    """An answer that follows the user to the letter where calls are written out; else a sensible one."""

    def chosen(self) -> Sequence[sensible.Wish]:
        request = self.request
        must = request.choice == "required"
        if obedient.forbids_calls(request.prompt) and not must:
            return ()
        written = obedient.written_calls(request.prompt, request.callable_tools)
        if not written:
            return super().chosen()
        left = written[request.calls_made :] or (written[-1:] if must else [])
        wishes = [_WrittenOut(tool, request.prompt, arguments) for tool, arguments in left]
        return wishes if request.parallel is not False else wishes[:1]

    def call(self, draft: _Draft, wish: sensible.Wish) -> None:
        if not isinstance(wish, _WrittenOut):
            super().call(draft, wish)
            return
        tool = wish.tool
        if tool.name in self.held:
            decoded = held(schema_of(tool), self.dialect)
            legal = sensible.arguments(tool, "", self.rng, schema=decoded)
            draft.call(tool.name, obedient.nearest(wish.arguments, legal, decoded))
        else:
            draft.call(tool.name, json.dumps(wish.arguments, ensure_ascii=False))


_MODELS: Final[Mapping[str, type[_Random]]] = {"sensible": _Sensible, "obedient": _Obedient}
