"""Conversations with endpoints that fail in every way there is. ``scripts/agents.py`` holds hundreds of each."""

import sys
from pathlib import Path

import pytest

from strictcall.emulator.faults import FAULTS
from strictcall.testing.endpoint import strict_endpoint

sys.path.append(str(Path(__file__).parents[2] / "scripts" / "agents"))

from storm import storm

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
]
CONVERSATIONS = 6
MAY_END = {"answer", "link", "repairs"}


@pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
@pytest.mark.parametrize("kind", FAULTS)
async def test_every_conversation_ends_in_an_answer_or_an_error_that_says_why(anyio_backend, kind):
    # Each kind is met streamed on one loop and whole on the other.
    streamed = (list(FAULTS).index(kind) % 2 == 0) is (anyio_backend == "trio")
    with strict_endpoint(answers="sensible", faults=(kind,), fault_rate=0.3, delay=0.05) as endpoint:
        tally = await storm(endpoint, CONVERSATIONS, streamed=streamed)
    assert tally.wrong == []
    assert sum(tally.ended.values()) == CONVERSATIONS
    assert tally.ended.keys() <= MAY_END
