"""A family of formats, as data and a few small functions: how models of one kind write their calls.

A reader is a generator that takes one unit, its opening first, and gives what it found. It raises ``Mismatch`` as soon
as what stands there cannot be a call; then it is prose, or another family's. A writer gives the text of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from strictcall.tagged.scan import Reading, Scan

Reader = Callable[[Scan], Reading[None]]
"""Reads what an opening begins. ``scan.at`` is at the opening, which the reader takes itself."""


@dataclass(frozen=True, slots=True)
class Written:
    """A call to be written: its name, and its arguments as JSON objects have them."""

    name: str
    arguments: Mapping[str, Any]
    id: str | None = None


Writer = Callable[[Sequence[Written]], str]
"""Writes calls as a model would. Raises ``ValueError`` with one sentence for what the format has no way to say."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What may begin a call.

    ``where``: anywhere, at the beginning of a line only, or only where nothing but white space and reasoning was
    written before. ``certain``: no prose is written so; a call of a tool that is not offered is then a call with a
    fault, and otherwise prose. ``named``: looked for only where the format or the model is named. Without a ``text``
    the name of any offered tool is an opening. ``follows`` are the characters of which one must follow, white space
    aside; readers would find that too, but not as fast.
    """

    text: str
    read: Reader = field(repr=False)
    where: Literal["anywhere", "line", "start"] = "anywhere"
    certain: bool = True
    named: bool = False
    follows: str = ""


@dataclass(frozen=True, slots=True)
class Family:
    """A format.

    ``name`` is what the format is asked for by, ``also`` are other names of it: parsers of servers. ``models`` is a
    regular expression that is searched in a model's name, case aside. ``about`` says which models write it, ``shape``
    shows a call; both are for the documentation. ``lacks`` is what of it is not read or written, and why.
    """

    name: str
    about: str
    shape: str
    openings: tuple[Opening, ...]
    write: Writer
    models: str | None = None
    also: tuple[str, ...] = ()
    lacks: str = ""
