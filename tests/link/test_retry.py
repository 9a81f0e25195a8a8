"""The one owner of retries: how often, how long between, and out of which budget."""

import random

import anyio
import pytest

from link.linked import both_loops
from strictcall.link.errors import HANDLING, ErrorKind, LinkError
from strictcall.link.retry import Budget, Retrier, Retries

pytestmark = pytest.mark.anyio


class Asked:
    """A link that fails in the ways that it is told, and then answers; and a clock's stand-in."""

    def __init__(self, *failures):
        self.failures = list(failures)
        self.asked = 0
        self.slept = []
        self.events = []

    async def ask(self):
        self.asked += 1
        if self.failures:
            raise self.failures.pop(0)
        return "an answer"

    async def sleep(self, seconds):
        self.slept.append(seconds)
        await anyio.lowlevel.checkpoint()

    def retrier(self, retries=None, budget=None):
        return Retrier(retries or Retries(), budget or Budget(), tell=self.events.append, sleep=self.sleep)


def failure(kind=ErrorKind.SERVER, **fields):
    return LinkError("a/b", kind, "words", **fields)


@both_loops
async def test_it_is_asked_again_until_it_answers(anyio_backend):
    link = Asked(failure(), failure(ErrorKind.CONNECTION))
    assert await link.retrier().run(link.ask) == ("an answer", 3)
    assert [(event.kind, event.attempt) for event in link.events] == [(ErrorKind.SERVER, 1), (ErrorKind.CONNECTION, 2)]
    assert [event.delay for event in link.events] == link.slept


@both_loops
async def test_the_last_error_is_raised_with_the_number_of_attempts(anyio_backend):
    link = Asked(*[failure(status=500) for _ in range(9)])
    with pytest.raises(LinkError, match=r"a/b: server \(500\), after 3 attempts: words") as caught:
        await link.retrier().run(link.ask)
    assert (caught.value.attempts, link.asked) == (3, 3)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", ErrorKind)
async def test_what_may_be_asked_again_is_data(anyio_backend, kind):
    link = Asked(failure(kind))
    if HANDLING[kind].retry:
        assert await link.retrier().run(link.ask) == ("an answer", 2)
    else:
        with pytest.raises(LinkError):
            await link.retrier().run(link.ask)
        assert link.asked == 1


def test_a_wrong_request_a_wrong_key_and_a_missing_model_are_never_asked_again():
    wrong = [ErrorKind.REFUSED, ErrorKind.KEY, ErrorKind.NOT_FOUND, ErrorKind.QUOTA, ErrorKind.TOO_LONG]
    assert not any(HANDLING[kind].retry for kind in wrong)
    assert not HANDLING[ErrorKind.REFUSED].fall_over


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_answer_that_had_begun_is_not_asked_for_again(anyio_backend):
    begun = failure(ErrorKind.BROKEN)
    begun.began = True
    link = Asked(begun)
    with pytest.raises(LinkError, match="the answer had begun"):
        await link.retrier().run(link.ask)
    assert link.asked == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_bug_is_no_error_of_the_link(anyio_backend):
    link = Asked(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await link.retrier().run(link.ask)
    assert link.asked == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_waits_double_are_jittered_and_have_a_ceiling(anyio_backend):
    retries = Retries(attempts=7, first_wait=1.0, longest_wait=10.0, within=1e9)
    wholes = [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    seen = set()
    for seed in range(20):
        random.seed(seed)
        link = Asked(*[failure() for _ in wholes])
        await link.retrier(retries, Budget(1_000)).run(link.ask)
        assert all(whole / 2 <= wait <= whole for wait, whole in zip(link.slept, wholes, strict=True))
        seen.add(link.slept[0])
    assert len(seen) > 15


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_wait_is_the_one_that_the_provider_asks_for(anyio_backend):
    link = Asked(failure(ErrorKind.RATE_LIMIT, retry_after=7.0))
    await link.retrier(Retries(first_wait=0.5)).run(link.ask)
    assert 7.0 <= link.slept[0] <= 7.5


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_wait_that_is_too_long_is_not_begun(anyio_backend):
    link = Asked(failure(ErrorKind.RATE_LIMIT, retry_after=60.0))
    with pytest.raises(LinkError):
        await link.retrier().run(link.ask)
    assert (link.asked, link.slept) == (1, [])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_attempt_begins_after_the_time(anyio_backend):
    link = Asked(*[failure() for _ in range(9)])
    with pytest.raises(LinkError):
        await link.retrier(Retries(attempts=9, first_wait=10.0, within=4.0)).run(link.ask)
    assert link.asked == 1


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_in_an_outage_few_requests_are_asked_twice_and_answers_earn_it_back(anyio_backend):
    budget = Budget(tokens=10, refill=0.5)
    asked = 0
    for _ in range(100):
        link = Asked(*[failure() for _ in range(9)])
        with pytest.raises(LinkError):
            await link.retrier(budget=budget).run(link.ask)
        asked += link.asked
    assert asked == 105
    for _ in range(4):
        await Asked().retrier(budget=budget).run(Asked().ask)
    link = Asked(*[failure() for _ in range(9)])
    with pytest.raises(LinkError):
        await link.retrier(budget=budget).run(link.ask)
    assert link.asked == 3
