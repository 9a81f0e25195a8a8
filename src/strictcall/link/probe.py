"""Finding out what a live endpoint does with tools: a few small requests, made as all requests are.

A feature counts as held where a call keeps to it although its user asked for the opposite. That is evidence and no
proof: a model may keep to a schema by itself. So the same is asked of a loose tool first: a model that breaks a loose
schema when asked to is kept back by the decoder where a strict one holds.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import time
from collections.abc import Callable, Sequence
from typing import Final

import anyio

from strictcall.api.answer import Answer
from strictcall.errors import SettingsError
from strictcall.link import probe_advice as advice
from strictcall.link import probe_evidence as evidence
from strictcall.link.client import Client, key_of
from strictcall.link.clients import client_of
from strictcall.link.errors import ErrorKind, LinkError
from strictcall.link.probe_asking import Asked, Asking, Failed, Outcome, Refused, probed
from strictcall.link.probe_blame import blamed
from strictcall.link.probe_features import (
    AUTO,
    FEATURES,
    FORCED,
    NO_TOOLS,
    OPTIONAL_ENUM,
    PARALLEL,
    PARALLEL_STRICT,
    STRICT,
    TITLES,
)
from strictcall.link.probe_report import Finding, Found, ProbeReport, Spent
from strictcall.link.resolved import ResolvedLink

MOST_REQUESTS: Final = 6
TIMEOUT: Final = 60.0
"""Seconds that a probe as a whole may take."""
OUTPUT_TOKENS: Final = 1024
"""The most tokens of one answer: a few hundred are needed, and some models think first."""
LAST: Final = ("text_bound",)
"""Features that are asked about alone, and last, where the dialect says that they are refused: of two kinds of bounds
one is enough, if requests are few.
"""
RISKY: Final = frozenset({OPTIONAL_ENUM, "shared_type", "number_bound", "text_bound", PARALLEL_STRICT})
"""What providers most often refuse."""


async def probe(
    link: ResolvedLink,
    *,
    requests: int = MOST_REQUESTS,
    timeout: float = TIMEOUT,
    output_tokens: int = OUTPUT_TOKENS,
    make_client: Callable[[ResolvedLink], Client] = client_of,
    tell: Callable[[Asked], None] = lambda asked: None,
) -> ProbeReport:
    """Find out what the endpoint of a link does with tools: by ``requests`` at most, within ``timeout`` seconds.

    ``output_tokens`` caps each answer; ``tell`` is told of each request before it is sent. What could not be decided is
    ``unknown``, with the reason. Nothing is sent a second time but for what is asked of strict tools, and that counts.

    Raises ``LinkError`` where the endpoint does not answer a plain request, ``SettingsError`` for a number of requests
    that is none of 1 to 6, or a time that is none.
    """
    if not 1 <= requests <= MOST_REQUESTS:
        raise SettingsError("requests", f"{requests} is not a number from 1 to {MOST_REQUESTS}")
    if not timeout > 0:
        raise SettingsError("timeout", f"{timeout:g} is not a number of seconds above 0")
    started = time.monotonic()
    client = make_client(link)
    try:
        asking = Asking(link, client, requests=requests, output_tokens=output_tokens, tell=tell, key=key_of(link))
        run = _Probe(asking)
        with anyio.move_on_after(timeout) as limit:
            await run.all()
    finally:
        await client.aclose()
    if limit.cancelled_caught:
        if not asking.answered:
            raise LinkError(link.name, ErrorKind.TIMEOUT, f"no answer within {timeout:g} seconds")
        run.reason = f"the time of {timeout:g} seconds was over"
    return run.report(Spent(asking.number, time.monotonic() - started, **_tokens(asking)))


def _tokens(asking: Asking) -> dict[str, int | None]:
    return {f"{name}_tokens": count for name, count in asking.used.items()}


class _Probe:
    """One run. ``reason`` is why what is not found is not known."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.link = asking.link
        self.reason = "no request was left to ask about it"
        self.breaks: bool | None = None
        parallel = asking.link.dialect.parallel_with_strict
        self._dialect = dataclasses.replace(probed(asking.link), parallel_with_strict=parallel)
        self._found: dict[str, Finding] = {}
        self._tools_refused: str | None = None
        self._over = False
        self._no_strict: str | None = None

    async def all(self) -> None:
        """Ask until all is decided, or no request is left."""
        self._take_plain(await self.asking.plain(NO_TOOLS))
        if self._goes_on():
            self._take_loose(await self.asking.loose((AUTO, PARALLEL)))
        with_force = [] if self.link.dialect.strict_place == "mode" else [FORCED]
        last = [name for name in LAST if self._refused_by_dialect(name)]
        first = [name for name in FEATURES if name not in last]
        await self._strict([*first, PARALLEL_STRICT, *with_force])
        if FORCED not in self._found and self._goes_on():
            # Where the tool choice makes the decoder hold schemas, demanding a call and being strict are one; and where
            # a strict tool is refused, a loose one may still be demanded.
            self._take_demanded(await self.asking.demanded(FORCED))
        await self._strict(last)

    # --- without a mark -----------------------------------------------------------------------------------------------

    def _take_plain(self, outcome: Outcome) -> None:
        assert isinstance(outcome, Answer)  # noqa: S101 - whatever else becomes of a first request is raised
        self._find(NO_TOOLS, Found.ENFORCED, "it was answered")

    def _take_loose(self, outcome: Outcome) -> None:
        if not isinstance(outcome, Answer):
            self._not_taken(AUTO, outcome)
            self._find(PARALLEL, Found.UNKNOWN, "there was no answer with a call")
            self._tools_refused = outcome.words if isinstance(outcome, Refused) else None
            return
        calls = evidence.calls_of(outcome)
        if calls:
            self._find(AUTO, Found.ENFORCED, "a call came")
            self._find(PARALLEL, *evidence.of_several(calls))
            self.breaks = evidence.breaks_when_loose(calls)
        else:
            self._find(AUTO, *evidence.without_calls(outcome))
            self._find(PARALLEL, Found.UNKNOWN, "there was no answer with a call")

    def _take_demanded(self, outcome: Outcome) -> None:
        if isinstance(outcome, Answer):
            self._find_demanded(outcome)
        else:
            self._not_taken(FORCED, outcome)

    def _find_demanded(self, answer: Answer) -> None:
        if evidence.calls_of(answer):
            self._find(FORCED, Found.ENFORCED, "a call came although none was wanted in words")
        else:
            self._find(FORCED, *evidence.without_calls(answer))

    def _not_taken(self, name: str, outcome: Refused | Failed) -> None:
        refused = isinstance(outcome, Refused) and not outcome.broke
        self._find(name, Found.REJECTED if refused else Found.UNKNOWN, outcome.words)
        if isinstance(outcome, Failed):
            self._failed(outcome)

    def _failed(self, outcome: Failed) -> None:
        self.reason = outcome.words
        self._over = self._over or outcome.final

    # --- strict -------------------------------------------------------------------------------------------------------

    async def _strict(self, names: Sequence[str]) -> None:
        """Ask of a strict tool with some features until each is decided. What is refused without its words telling for
        what is asked again by halves.
        """
        groups: list[list[str]] = [list(names)]
        while groups and self._goes_on() and self._no_strict is None:
            group = self._worth_it([name for name in groups.pop() if name not in self._found])
            if not group:
                continue
            outcome = await self._ask_strict(group)
            if isinstance(outcome, Failed):
                self._failed(outcome)
                groups.append(group)
            elif isinstance(outcome, Refused):
                groups += self._refused(group, outcome)
            elif not evidence.calls_of(outcome) and FORCED not in group:
                for name in group:
                    self._find(name, Found.UNKNOWN, evidence.without_calls(outcome)[1])
            else:
                self._take_strict(group, outcome)
                groups.append(group)

    def _worth_it(self, group: list[str]) -> list[str]:
        """What the last request is not asked about: what the dialect says is refused, and, where it was wrong already,
        what providers most often refuse. All else would go unanswered too.
        """
        if self.asking.left > 1:
            return group
        likely = [name for name in group if not self._refused_by_dialect(name)]
        if any(self._has(name, Found.REJECTED) and not self._refused_by_dialect(name) for name in (*FEATURES, FORCED)):
            likely = [name for name in likely if name not in RISKY]
        return likely or group[:1]

    async def _ask_strict(self, group: list[str]) -> Outcome:
        features = [STRICT, *(name for name in group if name in FEATURES and name != STRICT)]
        return await self.asking.strict(
            group,
            features,
            parallel=PARALLEL_STRICT in group or self._has(PARALLEL_STRICT, Found.ENFORCED),
            demanded=FORCED in group or self._has(FORCED, Found.ENFORCED),
            unwanted=FORCED in group,
        )

    def _refused(self, group: list[str], refused: Refused) -> list[list[str]]:
        """What is to be asked after a refusal."""
        features = [STRICT, *(name for name in group if name in FEATURES and name != STRICT)]
        name = blamed(refused.words, group, features)
        if name is None and refused.words == self._tools_refused:
            return self._none_left("a tool was refused in the same words without being strict")
        if name is None and len(group) == 1:
            name = group[0]
        if name == STRICT:
            self._find(STRICT, Found.REJECTED, refused.words)
            return self._none_left("a strict tool was refused")
        if name is not None:
            self._find(name, Found.REJECTED, refused.words)
            return [[other for other in group if other != name]]
        self.reason = f"it was refused together with others: {refused.words}"
        middle = (len(group) + 1) // 2
        return [group[middle:], group[:middle]]

    def _none_left(self, reason: str) -> list[list[str]]:
        self._no_strict = reason
        return []

    def _take_strict(self, group: list[str], answer: Answer) -> None:
        """Take what an answer shows; what is left undecided is asked again."""
        if FORCED in group:
            self._find_demanded(answer)
        calls = evidence.calls_of(answer)
        if not calls:
            return
        seen = {name: evidence.of_feature(name, calls) for name in group if name in FEATURES}
        if PARALLEL_STRICT in group:
            held, words = evidence.of_feature(STRICT, calls)
            several = evidence.of_several(calls)
            if several[0] is not Found.ENFORCED:
                self._find(PARALLEL_STRICT, Found.UNKNOWN, several[1])
            elif held is Found.NOT_ENFORCED:
                self._find(PARALLEL_STRICT, held, f"{several[1]}, and they were not held: {words}")
                if self.asking.left:
                    return  # one call alone may be held
            else:
                self._find(PARALLEL_STRICT, held, several[1])
        for name, (found, words) in seen.items():
            self._find(name, found, words)

    # --- findings -----------------------------------------------------------------------------------------------------

    def report(self, spent: Spent) -> ProbeReport:
        """All that was found, and what follows from it."""
        for name in TITLES:
            if name not in self._found:
                strict = name in (*FEATURES, PARALLEL_STRICT) and self._no_strict is not None
                self._find(name, Found.UNKNOWN, self._no_strict or "" if strict else self.reason)
        found = {name: self._found[name] for name in TITLES}
        proven = self.breaks is True or self.link.dialect.strict_default != "loose"
        today = dt.datetime.now(dt.UTC).date().isoformat()
        said = advice.overrides(found, self._dialect, f"strictcall probe {self.link.name}", today)
        notes = []
        if self._has(STRICT, Found.ENFORCED):
            notes.append(UNSEEN if self.breaks is None else PROVEN if self.breaks else SAID if proven else UNPROVEN)
            unsaid = advice.unsaid(found, self._dialect, said)
            notes += [f"no field of a dialect says what was found of {TITLES[name]}" for name in unsaid]
        supports = advice.supported(found, self.link, proven=proven)
        return ProbeReport(self.link, tuple(found.values()), spent, self.breaks, supports, said, tuple(notes))

    def _find(self, name: str, found: Found, seen: str) -> None:
        self._found[name] = Finding(name, found, self.asking.shown(seen), self._expected(name))

    def _expected(self, name: str) -> Found | None:
        return advice.expectation(name, self.link.dialect)

    def _refused_by_dialect(self, name: str) -> bool:
        return self._expected(name) is Found.REJECTED

    def _has(self, name: str, *found: Found) -> bool:
        return name in self._found and self._found[name].found in found

    def _goes_on(self) -> bool:
        return self.asking.left > 0 and not self._over


PROVEN: Final = "the model broke the schema of a loose tool when it was asked to: where it held, the decoder did it"
SAID: Final = "a tool was held without being marked strict too, as the dialect says of this server"
UNSEEN: Final = "no call of a loose tool came to compare with, so that the model may have kept to the schema by itself"
UNPROVEN: Final = (
    "the model kept to the schema where the tool was not strict too, so that it cannot be told who holds it: the "
    "decoder, or the model"
)
"""What is said where strict tools held: whose doing that is."""
