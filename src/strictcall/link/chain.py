"""The fallback chain: which link is asked, and which one when that does not answer.

- A link that failed is left alone for a while: as long as it asks for, or as the kind of its error says, twice as long
  each time that it fails again. When the time is over one request tries it (the others still go elsewhere): if that one
  is answered, the link is well again.
- A conversation stays with the link that served it, as long as that one serves: its caches are warm, and its own
  signatures and ids are in the history.
- A pinned link never falls over.
- When no other link answers, the one whose time is over first is asked all the same.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from strictcall.errors import SettingsError
from strictcall.link.errors import HANDLING, ChainError, ErrorKind, Handling, LinkError
from strictcall.link.events import LinkChosen, LinkEvent, LinkFailed, LinkSkipped

Result = TypeVar("Result")
LONGEST_COOLDOWN: Final = 900.0
"""Seconds; however often a link failed, it is tried again after that."""
MOST_CONVERSATIONS: Final = 10_000
"""How many conversations are remembered, those not heard of for longest forgotten first."""
PINNED: Final = "it was asked for"
STICKY: Final = "it served this conversation before"
FIRST: Final = "it is the first of the chain"
NEXT: Final = "it is the next of the chain"
PROBE: Final = "it failed before, and this request tries whether it is well again"
LAST_RESORT: Final = "there is no other, and it is the first that would be asked again"


@dataclass(slots=True)
class _Health:
    """How a link is: ``failures`` in a row, and ``until`` when it is left alone, by the clock."""

    failures: int = 0
    until: float = 0.0
    probing: bool = False


class Chain:
    """What is known of links from one request to the next; one for all requests of a program.

    The links themselves are given anew with each request, since a configuration may change. ``handling`` says what each
    kind of error asks for.
    """

    def __init__(
        self, *, handling: Mapping[ErrorKind, Handling] = HANDLING, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._handling = handling
        self._clock = clock
        self._health: dict[str, _Health] = {}
        self._conversations: OrderedDict[Hashable, str] = OrderedDict()

    async def run(
        self,
        links: Sequence[str],
        ask: Callable[[str, str], Awaitable[Result]],
        *,
        conversation: Hashable | None = None,
        pinned: bool = False,
        tell: Callable[[LinkEvent], None] = lambda event: None,
    ) -> Result:
        """What ``ask`` gives for the first link that answers; it is called with a link's name and why it was chosen.

        Of ``links`` the first is wanted most. With ``pinned`` it is the only one. Raises ``LinkError`` where only one
        link was asked, or where its error forbids to ask another; ``ChainError`` where several failed;
        ``SettingsError`` where there is no link.
        """
        if not links:
            raise SettingsError("links", "there are none to ask")
        failures: list[LinkError] = []
        for link, why in self._choices(links, conversation, tell, pinned=pinned):
            tell(LinkChosen(link, why))
            health = self._health.setdefault(link, _Health())
            is_probe, health.probing = why == PROBE, health.probing or why == PROBE
            try:
                result = await ask(link, why)
            except LinkError as error:
                tell(LinkFailed(link, error.kind, error.words, self.failed(error)))
                failures.append(error)
                if not self._handling[error.kind].fall_over:
                    raise
            else:
                self._health.pop(link, None)
                self._stay(conversation, link)
                return result
            finally:
                # Given up in between, a probe has found out nothing.
                health.probing = health.probing and not is_probe
        raise failures[0] if len(failures) == 1 else ChainError(failures)

    def failed(self, error: LinkError) -> float:
        """A link failed; gives the seconds for which it is left alone. For an answer that broke off when it had begun,
        and so was not asked for elsewhere.
        """
        first, now = self._handling[error.kind].cooldown, self._clock()
        if first <= 0:
            return 0.0
        health = self._health.setdefault(error.link, _Health())
        # Requests that were under way when the first of them failed tell of one and the same failure.
        again = 1 if now < health.until else 0
        cooldown = first * 2.0 ** min(health.failures - again, 20)
        cooldown = max(min(cooldown, LONGEST_COOLDOWN), error.retry_after or 0.0)
        health.failures += 1 - again
        health.until = max(health.until, now + cooldown)
        return health.until - now

    def _choices(
        self, links: Sequence[str], conversation: Hashable | None, tell: Callable[[LinkEvent], None], *, pinned: bool
    ) -> Iterator[tuple[str, str]]:
        """The links to ask, one after another, with the reason for each. Whether one is to be left alone is found when
        its turn comes.
        """
        if pinned:
            yield links[0], PINNED
            return
        sticky = self._conversations.get(conversation) if conversation is not None else None
        before = [link for link in links if link == sticky]
        left: list[str] = []
        for link in dict.fromkeys([*before, *links]):
            why = STICKY if link == sticky else FIRST if link == links[0] else NEXT
            rest = self._rest(link)
            if rest is None:
                yield link, PROBE if link in self._health and self._health[link].failures else why
            else:
                left.append(link)
                tell(LinkSkipped(link, rest))
        if left:
            yield min(left, key=lambda link: self._health[link].until), LAST_RESORT

    def _rest(self, link: str) -> str | None:
        """Why a link is to be left alone now, or ``None``."""
        health = self._health.get(link)
        if health is None:
            return None
        rest = health.until - self._clock()
        if rest > 0:
            return f"it failed lately, and is left alone for {rest:.0f} s more"
        return "it failed lately, and another request tries whether it is well again" if health.probing else None

    def _stay(self, conversation: Hashable | None, link: str) -> None:
        if conversation is None:
            return
        self._conversations[conversation] = link
        self._conversations.move_to_end(conversation)
        while len(self._conversations) > MOST_CONVERSATIONS:
            self._conversations.popitem(last=False)
