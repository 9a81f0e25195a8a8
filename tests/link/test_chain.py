"""The fallback chain: cooldowns, the probe, conversations, pinned links; the clock is the test's."""

import anyio
import pytest

from link.linked import both_loops
from strictcall.errors import SettingsError
from strictcall.link.chain import FIRST, LAST_RESORT, NEXT, PINNED, PROBE, STICKY, Chain
from strictcall.link.errors import HANDLING, ChainError, ErrorKind, LinkError
from strictcall.link.events import LinkChosen, LinkFailed, LinkSkipped

pytestmark = pytest.mark.anyio
LINKS = ["a/m", "b/m", "c/m"]


class World:
    """Links that are well or fail, a clock, and what was told."""

    def __init__(self):
        self.now = 1_000.0
        self.chain = Chain(clock=lambda: self.now)
        self.failing = {}
        self.events = []
        self.asked = []

    async def ask(self, link, why):
        self.asked.append((link, why))
        await anyio.lowlevel.checkpoint()
        if link in self.failing:
            fields = self.failing[link]
            fields = {"kind": fields} if isinstance(fields, ErrorKind) else fields
            raise LinkError(link, fields["kind"], "words", retry_after=fields.get("retry_after"))
        return f"{link} answers"

    async def run(self, **more):
        """Which links were asked for one request, and why; the answer is ``None`` where there was none."""
        self.asked = []
        try:
            answer = await self.chain.run(LINKS, self.ask, tell=self.events.append, **more)
        except (LinkError, ChainError):
            answer = None
        return answer, self.asked

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@both_loops
async def test_the_first_link_serves_while_it_is_well(anyio_backend):
    world = World()
    for _ in range(3):
        assert await world.run() == ("a/m answers", [("a/m", FIRST)])
    assert world.events == [LinkChosen("a/m", FIRST)] * 3


@both_loops
async def test_the_next_one_serves_where_it_fails_and_it_is_left_alone_for_a_while(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    assert await world.run() == ("b/m answers", [("a/m", FIRST), ("b/m", NEXT)])
    assert world.of(LinkFailed) == [LinkFailed("a/m", ErrorKind.SERVER, "words", 5.0)]
    world.failing = {}
    world.now += 4
    assert await world.run() == ("b/m answers", [("b/m", NEXT)])
    assert world.of(LinkSkipped) == [LinkSkipped("a/m", "it failed lately, and is left alone for 1 s more")]
    world.now += 2
    assert await world.run() == ("a/m answers", [("a/m", PROBE)])
    assert await world.run() == ("a/m answers", [("a/m", FIRST)])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it_is_left_alone_twice_as_long_each_time_up_to_a_ceiling(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.OVERLOADED}
    for _ in range(10):
        await world.run()
        world.now += 901
    assert [event.cooldown for event in world.of(LinkFailed)] == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]
    world.failing = {}
    await world.run()
    world.failing = {"a/m": ErrorKind.OVERLOADED}
    await world.run()
    assert world.of(LinkFailed)[-1].cooldown == 5


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it_is_left_alone_as_long_as_it_asks_for(anyio_backend):
    world = World()
    world.failing = {"a/m": {"kind": ErrorKind.RATE_LIMIT, "retry_after": 60.0}}
    await world.run()
    assert world.of(LinkFailed)[0].cooldown == 60
    world.failing = {}
    world.now += 59
    assert (await world.run())[1] == [("b/m", NEXT)]


@both_loops
async def test_one_request_tries_a_link_that_may_be_well_again_and_the_others_go_elsewhere(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    await world.run()
    world.now += 6
    world.asked = []
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(world.chain.run, LINKS, world.ask)
    assert world.asked.count(("a/m", PROBE)) == 1
    assert sorted(link for link, _ in world.asked) == ["a/m"] + ["b/m"] * 20


@both_loops
async def test_a_probe_that_is_given_up_leaves_room_for_another(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    await world.run()
    world.now += 6

    async def for_ever(link, why):
        await anyio.sleep_forever()

    with anyio.move_on_after(0.01):
        await world.chain.run(LINKS, for_ever)
    world.failing = {}
    assert (await world.run())[1] == [("a/m", PROBE)]


@both_loops
async def test_requests_that_fail_together_count_as_one_failure(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(world.chain.run, LINKS, world.ask)
    world.now += 5.1
    world.failing = {}
    assert (await world.run())[1] == [("a/m", PROBE)]


@both_loops
async def test_a_conversation_stays_with_the_link_that_served_it(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    await world.run(conversation="one")
    world.failing = {}
    world.now += 1_000
    assert (await world.run(conversation="two"))[1] == [("a/m", PROBE)]
    assert (await world.run(conversation="one"))[1] == [("b/m", STICKY)]
    world.failing = {"b/m": ErrorKind.SERVER}
    assert (await world.run(conversation="one"))[1] == [("b/m", STICKY), ("a/m", FIRST)]
    world.failing = {}
    world.now += 1_000
    assert (await world.run(conversation="one"))[1] == [("a/m", STICKY)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_link_that_left_the_chain_holds_no_conversation(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER, "b/m": ErrorKind.SERVER}
    await world.run(conversation="one")
    world.failing = {}
    world.now += 1_000
    assert await world.chain.run(["a/m", "b/m"], world.ask, conversation="one") == "a/m answers"


@both_loops
@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if kind is not ErrorKind.REFUSED])
async def test_a_pinned_link_never_falls_over(anyio_backend, kind):
    world = World()
    world.failing = {"a/m": kind}
    for _ in range(2):
        assert await world.run(pinned=True) == (None, [("a/m", PINNED)])
    with pytest.raises(LinkError) as caught:
        await world.chain.run(LINKS, world.ask, pinned=True)
    assert caught.value.kind is kind


@both_loops
async def test_a_request_that_is_wrong_is_tried_nowhere_else(anyio_backend):
    world = World()
    world.failing = {"a/m": ErrorKind.REFUSED}
    assert await world.run() == (None, [("a/m", FIRST)])
    # It says nothing of the link.
    world.failing = {}
    assert (await world.run())[1] == [("a/m", FIRST)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("kind", [kind for kind in ErrorKind if HANDLING[kind].fall_over])
async def test_every_other_error_is_tried_elsewhere(anyio_backend, kind):
    world = World()
    world.failing = {"a/m": kind}
    assert await world.run() == ("b/m answers", [("a/m", FIRST), ("b/m", NEXT)])
    is_left_alone = HANDLING[kind].cooldown > 0
    assert (await world.run())[1][0] == (("b/m", NEXT) if is_left_alone else ("a/m", FIRST))


@both_loops
async def test_when_all_fail_every_error_is_told(anyio_backend):
    world = World()
    world.failing = dict.fromkeys(LINKS, ErrorKind.TIMEOUT)
    with pytest.raises(ChainError) as caught:
        await world.chain.run(LINKS, world.ask)
    assert [failure.link for failure in caught.value.failures] == LINKS
    assert str(caught.value) == ("no link answered: a/m: timeout: words; b/m: timeout: words; c/m: timeout: words")


@both_loops
async def test_when_all_are_left_alone_the_first_to_come_back_is_asked_all_the_same(anyio_backend):
    world = World()
    world.failing = {
        "a/m": {"kind": ErrorKind.RATE_LIMIT, "retry_after": 60.0},
        "b/m": {"kind": ErrorKind.RATE_LIMIT, "retry_after": 20.0},
        "c/m": {"kind": ErrorKind.RATE_LIMIT, "retry_after": 40.0},
    }
    await world.run()
    world.failing = {}
    assert await world.run() == ("b/m answers", [("b/m", LAST_RESORT)])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_chain_of_one_is_asked_however_often_it_failed(anyio_backend):
    chain, asked = Chain(clock=lambda: 0.0), []

    async def ask(link, why):
        asked.append(why)
        raise LinkError(link, ErrorKind.SERVER, "words")

    for _ in range(3):
        with pytest.raises(LinkError):
            await chain.run(["a/m"], ask)
    assert asked == [FIRST, LAST_RESORT, LAST_RESORT]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_link_at_all(anyio_backend):
    with pytest.raises(SettingsError, match="there are none to ask"):
        await Chain().run([], World().ask)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_only_so_many_conversations_are_remembered(anyio_backend, monkeypatch):
    monkeypatch.setattr("strictcall.link.chain.MOST_CONVERSATIONS", 2)
    world = World()
    world.failing = {"a/m": ErrorKind.SERVER}
    for name in ("old", "kept", "new"):
        await world.run(conversation=name)
    world.failing = {}
    world.now += 1_000
    assert (await world.run(conversation="kept"))[1] == [("b/m", STICKY)]
    assert (await world.run(conversation="old"))[1] == [("a/m", PROBE)]
