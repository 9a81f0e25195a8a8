"""How an emulator behaves: one frozen value, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, get_args

from strictcall.emulator.faults import FAULTS
from strictcall.emulator.script import Script
from strictcall.emulator.styles import style
from strictcall.errors import SettingsError

Answers = Literal["random", "sensible", "obedient", "scripted"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How an emulator behaves.

    - ``dialect``: the rules by which every request is judged; ``None`` is those of each API's own provider.
    - ``seed``: answers are chosen by it, by the request, and by how many times the same request came before.
    - ``answers``: ``random`` is any answer that a decoder could give; ``sensible`` reads names, formats and the user's
      words; ``obedient`` makes the calls that the user's words write out, ``name({...})``, whatever their schemas say,
      and only what a decoder holds keeps it back; ``scripted`` gives what ``script`` says and refuses where it says
      nothing. With the others, a script's replies go first.
    - ``faults``: kinds of ``strictcall.emulator.faults.FAULTS``, of which one befalls a request with the probability
      ``fault_rate``.
    - ``loose_rate``: the probability that a call of a loose tool breaks its schema.
    - ``delay``: seconds that a slow first byte or a stall lasts.
    - ``api_key``: the only key that is taken; ``None`` takes any, and none.
    - ``models``: the only models there are; empty takes any name.
    - ``max_tokens``: the most that an answer may have, whatever the request says.
    - ``style``: Chat Completions answers as an open model behind a server that takes no calls out of texts: calls are
      text, in this format of ``strictcall.emulator.styles``. ``None`` is a server that has calls.

    Raises ``SettingsError`` for a value that a field does not take.
    """

    dialect: str | None = None
    seed: int = 0
    answers: Answers = "random"
    script: Script | None = None
    faults: tuple[str, ...] = ()
    fault_rate: float = 1.0
    loose_rate: float = 0.3
    delay: float = 5.0
    api_key: str | None = None
    models: tuple[str, ...] = ()
    max_tokens: int = 4096
    style: str | None = None

    def __post_init__(self) -> None:
        if self.answers not in get_args(Answers):
            raise SettingsError("answers", f"{self.answers!r} is not one of {', '.join(get_args(Answers))}")
        if self.answers == "scripted" and self.script is None:
            raise SettingsError("answers", "scripted answers need a script")
        for kind in self.faults:
            check_fault(kind)
        for field, rate in (("fault_rate", self.fault_rate), ("loose_rate", self.loose_rate)):
            if not 0 <= rate <= 1:
                raise SettingsError(field, f"{rate} is not a probability between 0 and 1")
        if not 0 <= self.delay <= MOST_SECONDS:
            raise SettingsError("delay", f"{self.delay} is not a number of seconds between 0 and {MOST_SECONDS}")
        if self.max_tokens < 1:
            raise SettingsError("max_tokens", "must be at least 1")
        if self.style is not None:
            style(self.style)


MOST_SECONDS: Final = 3600


def check_fault(kind: str) -> None:
    """Raise ``SettingsError`` where there is no fault of this kind, naming the nearest."""
    if kind not in FAULTS:
        near = get_close_matches(kind, FAULTS, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"kinds are {', '.join(FAULTS)}"
        raise SettingsError("faults", f"no fault is called {kind!r}; {hint}")
