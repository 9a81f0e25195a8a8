"""The engine: prose flows on until something may begin a call; then readers try it, one after another.

Each character is settled once: as prose, as thought, as part of a call. A reader that fails gives its place back; what
was read in vain is counted, and once that is many times the text, a failed attempt is prose as a whole, so that no text
takes more than linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from strictcall.api.answer import Answer
from strictcall.api.events import Event
from strictcall.errors import StreamError
from strictcall.json_value import MAX_BYTES
from strictcall.tagged.family import Opening, Reader
from strictcall.tagged.gathering import Gathering
from strictcall.tagged.lookout import Literals, lookout, may_stand
from strictcall.tagged.offered import Offered
from strictcall.tagged.prose import Prose
from strictcall.tagged.scan import Cut, Mismatch, Reading, Scan, held_back
from strictcall.tagged.steps import Plain, Said, Step, Thought

REREAD: Final = 4
"""How many times the text as a whole may be read in vain."""
REREAD_FREELY: Final = 1 << 16
"""How many characters may be read in vain in any case."""


class Engine:
    """Reads one answer. ``openings`` are tried in their order; ``first`` reads what stands at the very beginning,
    before anything is looked for. ``as_text``: calls stay text, as they were written; it may be set as long as no call
    was told.
    """

    def __init__(
        self, offered: Offered, openings: Iterable[Opening], first: Reader | None = None, *, as_text: bool = False
    ) -> None:
        self.as_text = as_text
        self._scan = Scan(offered)
        self._prose = Prose()
        self._gathering = Gathering(offered)
        self._lookout = lookout(openings, offered)
        self._start = self._from = 0
        self._rivals: list[Opening] = []
        self._tried: Opening | None = None
        self._reading: Reading[None] | None = None if first is None else first(self._scan)
        self._settled = first is not None
        self._reread = 0
        self._called = self._in_call = False

    def feed(self, piece: str) -> list[Event]:
        """The text goes on; gives what that tells. Raises ``StreamError`` for a text that is too long."""
        scan = self._scan
        if scan.end + len(piece) > MAX_BYTES:
            raise StreamError(f"the answer is longer than {MAX_BYTES:,} characters")
        scan.more(piece)
        self._run()
        scan.settle(self._start)
        return self._gathering.taken()

    def finish(self, native: object = None) -> tuple[Answer, list[Event]]:
        """The whole answer, and the events that its end brings."""
        self._scan.closed = True
        self._run()
        answer = self._gathering.finish(native)
        return answer, self._gathering.taken()

    def _run(self) -> None:
        while True:
            if self._reading is None and not self._sought():
                return
            if not self._advanced():
                return

    # --- prose ---

    def _sought(self) -> bool:
        """Say what is surely prose, up to where something begins that may be a call; whether there is such a place."""
        scan = self._scan
        self._from = max(self._from, self._start)
        while True:
            literals = self._lookout.later if self._prose.began else self._lookout.first
            found = scan.search(literals.pattern, self._from)
            place = scan.end if found is None else scan.place_of(found.start())
            place = min(place, self._held(literals, place))
            self._say(place)
            if found is None or place < scan.place_of(found.start()):
                return False
            scan.at = self._start
            rivals = self._lookout.possible(found.group(), scan, self._prose, fresh=not self._called)
            if rivals is None:
                return False
            if rivals:
                self._rivals = rivals
                self._attempt()
                return True
            self._from = self._start + 1

    def _held(self, literals: Literals, place: int) -> int:
        """The first place before this one, or it, from which on all that has arrived may be the beginning of a literal;
        else the end.
        """
        scan = self._scan
        first = max(self._from, scan.end - literals.longest)
        if scan.closed or place < first:
            return scan.end
        return scan.end - held_back(scan.between(first, scan.end), literals.texts)

    def _say(self, end: int) -> None:
        """What stands before a place is prose."""
        if end > self._start:
            piece = self._scan.between(self._start, end)
            self._prose.feed(piece)
            self._gathering.text(piece)
            self._start = end

    # --- attempts ---

    def _attempt(self) -> None:
        """Let the next reader try."""
        opening = self._tried = self._rivals.pop(0)
        scan = self._scan
        scan.at, scan.begun, scan.certain = self._start, None, opening.certain
        self._settled = self._in_call = False
        self._reading = opening.read(scan)

    def _advanced(self) -> bool:
        """Let the reader go on; whether there is anything left to do with what has arrived."""
        reading = self._reading
        assert reading is not None  # noqa: S101 - asked before
        try:
            step = next(reading)
        except StopIteration:
            self._leave()
        except Mismatch:
            self._failed()
        except Cut:
            self._cut_off()
        else:
            if step is None:
                return False
            self._take(step)
        return True

    def _take(self, step: Step) -> None:
        """What a reader found is settled."""
        scan = self._scan
        if isinstance(step, Plain):
            self._gathering.text(step.text)
        elif isinstance(step, Thought):
            self._gathering.thought(step.text)
        elif scan.certain or scan.offered.has(step.name):
            self._tell(step)
            self._called = self._in_call = True
        else:
            self._failed()
            return
        self._start, self._settled, scan.begun = scan.at, True, None

    def _tell(self, said: Said, *, complete: bool = True) -> None:
        """A call was read, up to here."""
        if self.as_text:
            self._gathering.text(self._scan.between(self._start, self._scan.at))
        else:
            self._gathering.call(said, complete=complete)

    def _leave(self) -> None:
        """A reader is done."""
        self._reading = None
        if self.as_text and self._in_call:
            self._gathering.text(self._scan.between(self._start, self._scan.at))
        self._start = self._scan.at
        self._prose.after_call()

    def _cut_off(self) -> None:
        """The text ended within what was being read."""
        scan = self._scan
        begun = scan.begun
        if begun is None:
            scan.at = scan.end
            self._failed()
            return
        raw = scan.between(begun.place, scan.end)
        scan.at = scan.end
        self._tell(Said(begun.name, raw, begun.id), complete=False)
        self._start = scan.at
        self._leave()

    def _failed(self) -> None:
        """What was read is no call: the next reader tries, or it is prose."""
        scan = self._scan
        self._reading = None
        if self._settled:
            self._prose.after_call()
            return
        self._reread += self._in_vain()
        if self._reread > REREAD * scan.at + REREAD_FREELY:
            self._rivals.clear()
            self._say(max(scan.at, self._start + 1))
        elif self._rivals:
            self._attempt()
        else:
            self._from = self._start + 1

    def _in_vain(self) -> int:
        """How much the reader that failed has read; nothing where it would not have tried, had all the text been there:
        how a text was cut must not matter.
        """
        place, opening = self._scan.at, self._tried
        self._scan.at = self._start
        is_missing = opening is not None and not may_stand(self._scan, opening)
        self._scan.at = place
        return 0 if is_missing else place - self._start
