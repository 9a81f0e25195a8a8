"""The one owner of retries: the clients' own are off.

A link is asked again where the kind of its error says that this may help, after a wait that doubles and is jittered, or
that the provider asked for; a few times, within a time, and out of a budget that all requests to the link share, so
that an outage is not made worse by everybody asking thrice. The budget is that of
https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ and of gRPC's ``retryThrottling``
(https://github.com/grpc/proposal/blob/master/A6-client-retries.md#throttling-retry-attempts-and-hedged-rpcs).
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import anyio
import tenacity

from strictcall.link.errors import HANDLING, ErrorKind, Handling, LinkError
from strictcall.link.events import LinkRetry
from strictcall.link.resolved import Retries

__all__ = ["Budget", "Retrier", "Retriers", "Retries", "Sleep"]

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]


class Budget:
    """What all requests to one link may spend on retries: each takes a whole token, and each answer puts a part back.

    Half of the ``tokens`` is a reserve: below it nothing is asked again.
    """

    def __init__(self, tokens: float = 20.0, refill: float = 0.2) -> None:
        self._most = tokens
        self._refill = refill
        self._left = tokens

    def spend(self) -> bool:
        """Take a token for a retry, if there is one."""
        if self._left - 1 < self._most / 2:
            return False
        self._left -= 1
        return True

    def answered(self) -> None:
        """An answer came."""
        self._left = min(self._most, self._left + self._refill)


class Retrier:
    """Asks one link, and again where that may help.

    ``handling`` says which kinds may be asked again, and ``tell`` is told before each wait.
    """

    def __init__(
        self,
        retries: Retries,
        budget: Budget,
        *,
        handling: Mapping[ErrorKind, Handling] = HANDLING,
        tell: Callable[[LinkRetry], None] = lambda event: None,
        sleep: Sleep = anyio.sleep,
    ) -> None:
        self._retries = retries
        self._budget = budget
        self._handling = handling
        self._tell = tell
        self._sleep = sleep

    async def run(self, ask: Callable[[], Awaitable[Result]]) -> tuple[Result, int]:
        """What asking gives, with the number of attempts. Raises the last attempt's ``LinkError``, its ``attempts``
        told.
        """
        attempts = 0

        async def counted() -> Result:
            nonlocal attempts
            attempts += 1
            return await ask()

        retrying = tenacity.AsyncRetrying(
            sleep=self._sleep,
            retry=tenacity.retry_if_exception(self._may_help),
            wait=self._wait,
            stop=self._is_enough,
            before_sleep=self._told,
            reraise=True,
        )
        try:
            result: Result = await retrying(counted)
        except LinkError as error:
            error.attempts = attempts
            raise
        self._budget.answered()
        return result, attempts

    def _may_help(self, error: BaseException) -> bool:
        return isinstance(error, LinkError) and not error.began and self._handling[error.kind].retry

    def _wait(self, state: tenacity.RetryCallState) -> float:
        asked = _error(state).retry_after
        if asked is not None:
            # A little later, and not all at once.
            return asked + random.uniform(0.0, self._retries.first_wait)  # noqa: S311 - no secret
        whole = min(self._retries.first_wait * 2.0 ** (state.attempt_number - 1), self._retries.longest_wait)
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - no secret

    def _is_enough(self, state: tenacity.RetryCallState) -> bool:
        retries = self._retries
        passed = (state.seconds_since_start or 0.0) + state.upcoming_sleep
        if state.attempt_number >= retries.attempts or passed > retries.within:
            return True
        return state.upcoming_sleep > retries.longest_wait or not self._budget.spend()

    def _told(self, state: tenacity.RetryCallState) -> None:
        error = _error(state)
        self._tell(LinkRetry(error.link, error.kind, error.words, state.attempt_number, state.upcoming_sleep))


def _error(state: tenacity.RetryCallState) -> LinkError:
    error = state.outcome.exception() if state.outcome is not None else None
    assert isinstance(error, LinkError)  # noqa: S101 - nothing else is asked again
    return error


class Retriers:
    """Retriers for many links, each link with one budget for all its requests."""

    def __init__(self, *, handling: Mapping[ErrorKind, Handling], sleep: Sleep) -> None:
        self._handling = handling
        self._sleep = sleep
        self._budgets: dict[str, Budget] = {}

    def of(self, link: str, retries: Retries, tell: Callable[[LinkRetry], None]) -> Retrier:
        """What asks a link for one request. ``retries`` are read anew for each: they may have been edited."""
        budget = self._budgets.setdefault(link, Budget())
        return Retrier(retries, budget, handling=self._handling, tell=tell, sleep=self._sleep)
