"""``make agents``: hundreds of conversations with an endpoint that fails, a fifth of its answers in each way there is.

Every conversation has to end in an answer or in an error that says why; no call may run twice, none of an answer that
was cut off, and each call of a conversation has its result. Each fault is met whole and streamed, on asyncio and trio.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import anyio

sys.path.append(str(Path(__file__).resolve().parent / "agents"))

from storm import Tally, storm

from strictcall.emulator.faults import FAULTS
from strictcall.testing.endpoint import strict_endpoint

WAYS = [(loop, streamed) for loop in ("asyncio", "trio") for streamed in (False, True)]
MAY_END = {"answer", "link", "repairs"}


def main() -> int:
    """Hold the conversations; 1 where something does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help="kinds of faults; all without")
    parser.add_argument("--conversations", type=int, default=500, help="of each kind (default 500)")
    asked = parser.parse_args()
    unknown = [kind for kind in asked.kinds if kind not in FAULTS]
    if unknown:
        print(f"agents: no fault is called {unknown[0]!r}; kinds are {', '.join(FAULTS)}", file=sys.stderr)
        return 2
    began = time.monotonic()
    sums = Tally()
    for kind in asked.kinds or FAULTS:
        tally = _held(kind, asked.conversations)
        ends = ", ".join(f"{count} {end}" for end, count in sorted(tally.ended.items()))
        print(f"{kind:<17} {ends}; {tally.calls} calls run", flush=True)
        for wrong in tally.wrong:
            print(f"  WRONG: {wrong}", flush=True)
        _add(sums, tally)
    total = sum(sums.ended.values())
    print(
        f"{total} conversations in {time.monotonic() - began:.0f} s: {sums.ended['answer']} answers, "
        f"{total - sums.ended['answer']} errors that say why, {sums.calls} calls run, {len(sums.wrong)} wrong"
    )
    return 1 if sums.wrong or not sums.ended.keys() <= MAY_END else 0


def _held(kind: str, conversations: int) -> Tally:
    """The conversations under one fault, a part in each way."""
    sums = Tally()
    for number, (loop, streamed) in enumerate(WAYS):
        share = conversations // len(WAYS) + (number < conversations % len(WAYS))
        settings = {"answers": "sensible", "faults": (kind,), "fault_rate": 0.2, "delay": 0.05, "seed": number}
        with strict_endpoint(**settings) as endpoint:
            _add(sums, anyio.run(partial(storm, endpoint, share, streamed=streamed), backend=loop))
    return sums


def _add(sums: Tally, tally: Tally) -> None:
    sums.ended += tally.ended
    sums.calls += tally.calls
    sums.wrong += tally.wrong


if __name__ == "__main__":
    sys.exit(main())
