"""The laws of a compiled tool, each a function that raises ``LawBroken`` where a case breaks it.

total        any schema ends in a compiled tool, strict or loose with its reason; its input stays as it is
accepted     a schema marked strict breaks no rule of its dialect, one in baseline form none that holds without
untouched    a loose tool is sent as the very objects that came in
idempotent   compiling what was compiled changes nothing
sound        what the wire admits decodes to what the contract admits, or is refused with faults
sayable      what the contract admits can be said, comes back equal, losses that changes list aside; all else is
             refused
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final, NoReturn

from strictcall.change import Change, Verdict
from strictcall.dialect.judge import judge
from strictcall.dialect.model import Dialect, State
from strictcall.errors import ArgumentsError
from strictcall.testing.case import Case, LawBroken, Tried
from strictcall.testing.comparing import differences, same, text
from strictcall.testing.places import announced

LAWS: Final = ("total", "accepted", "untouched", "idempotent", "sound", "sayable")
NEVER_RAISING: Final = frozenset({Verdict.EXACT, Verdict.CLOSED})
"""Verdicts that say: whatever the wire admits, decodes."""
LONGEST_TEXT: Final = 8_000


def whole(case: Case) -> None:
    """The laws that speak of a compiled tool by itself, not of a call."""
    total(case)
    accepted(case)
    untouched(case)
    idempotent(case)


def total(case: Case) -> None:
    """Strict, or loose with a reason."""
    compiled = case.compiled
    if compiled.strict is not (compiled.verdict is not Verdict.LOOSE):
        raise LawBroken("total", "strict and verdict contradict each other", case)
    if not (compiled.strict or compiled.reason):
        raise LawBroken("total", "loose without a reason", case)
    if compiled.strict and compiled.baseline:
        raise LawBroken("total", "strict and in baseline form at once", case)


def accepted(case: Case) -> None:
    """A schema marked strict breaks no rule of its dialect; one in baseline form none that holds without strict."""
    compiled = case.compiled
    if compiled.strict:
        # What a provider passes over in silence must not be written either.
        found = judge(compiled.parameters, compiled.dialect, silent=True)
    elif compiled.baseline:
        found = judge(compiled.parameters, compiled.dialect, strict=False)
    else:
        return
    if found:
        told = [f"{one.rule} at {one.pointer or 'the root'}: {one.message}" for one in found]
        raise LawBroken("accepted", "the dialect refuses the wire schema", case, details=(("violations", told),))


def untouched(case: Case) -> None:
    """A loose tool is sent as the very objects that came in."""
    compiled = case.compiled
    if compiled.strict or compiled.baseline:
        return
    kept = compiled.parameters is case.tool.parameters and compiled.identity
    if not kept or (case.arguments and compiled.description is not case.tool.description):
        raise LawBroken("untouched", "a loose tool is not what came in", case)


def idempotent(case: Case) -> None:
    """Compiling what was compiled changes nothing. What stands in for a schema that nobody takes is no such result."""
    compiled = case.compiled
    if compiled.baseline:
        return
    unclosed = compiled.dialect.state("additionalProperties", False) is State.REJECTED
    if unclosed and compiled.policy.open_objects != "close":
        return  # its wire schemas cannot say that an object is closed, so they read as open ones
    again = case.compile(compiled.parameters, compiled.description, compiled.name)
    pairs = {
        "parameters": (text(again.parameters), text(compiled.parameters)),
        "description": (again.description, compiled.description),
        "name": (again.name, compiled.name),
        "strict": (again.strict or not compiled.strict, True),
    }
    for name, (second, first) in pairs.items():
        if second != first:
            details = (("compiled again", again.parameters), ("and loose, because", again.reason))
            raise LawBroken("idempotent", f"compiled again, its {name} is another", case, details=details)
    if compiled.strict and not (again.identity or unsaid(again.dialect, again.changes)):
        changed = [f"{change.code} at {change.pointer or 'the root'}" for change in again.changes]
        raise LawBroken("idempotent", "compiled again, it still changes values", case, details=(("changes", changed),))


def unsaid(dialect: Dialect, changes: tuple[Change, ...]) -> bool:
    """Whether values change only for what a dialect's own wire schemas do not say the standard's way: that an object is
    closed, and null.
    """
    changing = {change.code for change in changes} & {"object-closed", "read-nullable", "optional-null"}
    closed = dialect.state("additionalProperties", False) is State.REJECTED
    allowed = ({"object-closed"} if closed else set()) | ({"read-nullable"} if dialect.null == "nullable" else set())
    return bool(changing) and changing <= allowed


def sound(case: Case, written: str, value: Any) -> bool:
    """What the wire admits is decoded to what the contract admits, or refused with faults.

    ``written`` is what the model wrote, as JSON text, ``value`` what that holds. Says whether it was decoded; a value
    that the wire does not admit is none of this law's.
    """
    if not case.wire.admits(value):
        return False
    tried = Tried("wire", value)
    compiled = case.compiled
    try:
        arguments = _called("sound", compiled.decode, written, case, tried)
    except ArgumentsError as error:
        _faulty("sound", error, case, tried)
        if compiled.verdict in NEVER_RAISING:
            _broken("sound", f"a tool that is {compiled.verdict} refused a call", case, tried, refused=error)
        return False
    faults = compiled.check(arguments)
    if faults:
        told = [str(fault) for fault in faults]
        _broken("sound", "what was decoded the contract refuses", case, tried, decoded=arguments, faults=told)
    before = text(value)
    try:
        parsed = _called("sound", compiled.decode, value, case, tried)
    except ArgumentsError as error:
        _broken("sound", "the text was decoded and its value refused", case, tried, refused=error)
    if not same(parsed, arguments):
        _broken("sound", "text and value decode differently", case, tried, text=arguments, value=parsed)
    if text(value) != before:
        _broken("sound", "decoding changed its input", case, tried)
    _returning(case, arguments, tried)
    return True


def guarded(case: Case, value: Any) -> bool:
    """Whatever is decoded, admitted or not: the result fits the contract, or it is refused with faults. A part of the
    law ``sound``. Says whether it was decoded.
    """
    tried = Tried("wire", value)
    try:
        arguments = _called("sound", case.compiled.decode, copy.deepcopy(value), case, tried)
    except ArgumentsError as error:
        _faulty("sound", error, case, tried)
        return False
    faults = case.compiled.check(arguments)
    if faults:
        told = [str(fault) for fault in faults]
        _broken("sound", "what was decoded the contract refuses", case, tried, decoded=arguments, faults=told)
    return True


def sayable(case: Case, value: Any) -> bool:
    """Arguments that the contract admits can be said and come back; others are refused. Says whether it admits them."""
    tried = Tried("contract", value)
    admitted = not case.compiled.check(value)
    if admitted:
        _returning(case, value, tried)
        return admitted
    try:
        wire = _called("sayable", case.compiled.encode, value, case, tried)
    except ArgumentsError as error:
        _faulty("sayable", error, case, tried)
    else:
        _broken("sayable", "what the contract refuses was encoded", case, tried, encoded=wire)
    return admitted


def _returning(case: Case, value: Any, tried: Tried) -> None:
    """A value that the contract admits is encoded to what the wire admits and comes back, announced losses aside."""
    if value is None:
        return  # as arguments, null means the empty object
    compiled = case.compiled
    contract = case.tool.parameters
    heard = {} if tried.form == "contract" else {"arguments": value}
    before = text(value)
    try:
        wire = _called("sayable", compiled.encode, value, case, tried)
    except ArgumentsError as error:
        _faulty("sayable", error, case, tried)
        lost = [fault.pointer for fault in error.faults]
        # The law speaks of argument objects.
        if isinstance(value, dict) and not all(announced(contract, compiled.changes, place) for place in lost):
            _broken("sayable", "it cannot be said, and no change tells", case, tried, **heard, refused=error)
        return
    if text(value) != before:
        _broken("sayable", "encoding changed its input", case, tried)
    if compiled.strict and not case.wire.admits(wire):
        _broken("sayable", "it is encoded to what the wire does not admit", case, tried, **heard, encoded=wire)
    try:
        back = _called("sayable", compiled.decode, text(wire), case, tried)
    except ArgumentsError as error:
        _broken("sayable", "it is encoded to what decode refuses", case, tried, **heard, encoded=wire, refused=error)
    hidden = [
        place for place in differences(value, back) if not announced(contract, compiled.changes, place, folds=True)
    ]
    if hidden:
        told = {**heard, "encoded": wire, "came back": back, "differs at": hidden}
        _broken("sayable", "it comes back as another, and no change tells", case, tried, **told)


def _called(law: str, call: Callable[[Any], Any], argument: Any, case: Case, tried: Tried) -> Any:
    """What a call gives. Raises ``ArgumentsError`` if it does; any other exception breaks the law."""
    try:
        return call(argument)
    except ArgumentsError:
        raise
    except Exception as error:
        name = f"{call.__name__} raised another exception than ArgumentsError"
        raise LawBroken(law, name, case, tried, (("raised", error),)) from error


def _faulty(law: str, error: ArgumentsError, case: Case, tried: Tried) -> None:
    """Faults have a place and say what is expected; their text repeats little of the arguments."""
    if not error.faults:
        _broken(law, "refused without a fault", case, tried)
    for fault in error.faults:
        if not ((fault.pointer == "" or fault.pointer.startswith("/")) and fault.expected):
            _broken(law, "a fault names no place or not what is expected there", case, tried, fault=str(fault))
    if len(str(error)) > LONGEST_TEXT:
        _broken(law, "the text of a refusal is too long", case, tried, refused=error)


def _broken(law: str, message: str, case: Case, tried: Tried, **details: Any) -> NoReturn:
    """Raise the breach, with what came of the value by name; it hides no other error."""
    raise LawBroken(law, message, case, tried, tuple(details.items())) from None
