"""The laws of compiled tools as a harness for your own: no test framework is needed, any will do.

    from strictcall.testing import assert_round_trips

``docs/testing.md`` says how to use it. Values are written by llguidance, which comes with ``strictcall[emulator]``.
"""

from strictcall.testing.case import LawBroken
from strictcall.testing.laws import LAWS
from strictcall.testing.round_trips import Report, assert_round_trips

__all__ = ["LAWS", "LawBroken", "Report", "assert_round_trips"]
