"""Every error that strictcall raises on purpose.

    StrictCallError
    ├── ArgumentsError      a call's arguments do not fit the tool
    ├── ConfigError         a configuration file cannot be read, or says what it cannot
    ├── DialectError        an unknown dialect, or a dialect file that cannot be read
    ├── NameClashError      two tools of one toolset would share a name
    ├── PolicyError         a policy field has a value it does not take
    ├── ScriptError         a script of replies cannot be read
    ├── SettingsError       a setting has a value it does not take
    ├── RequestError        a request's body cannot take what it was to be given
    ├── StreamError         a stream or an answer is none of the API's
    ├── SourceError         tools could not be read from where they were said to be
    ├── ToolFailed          raised by a tool: its call ends with this error (strictcall.runtime.output)
    ├── LinkError           a link to a model gave no answer (strictcall.link.errors)
    ├── ChainError          none of the links of a chain did (strictcall.link.errors)
    ├── RunError            an agent's run ended without its result (strictcall.runtime.agent.result)
    ├── UnknownModelError   a gateway has no such model (strictcall.gateway.links.models)
    └── GrammarRefusedError the grammar engine takes no such schema (strictcall.emulator.answers.grammar)

Errors carry fields; the text is made from them and is not part of the API.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ECHO_LIMIT = 200
"""How many characters of a call's arguments an error's text repeats at most."""


class StrictCallError(Exception):
    """The base of every error that strictcall raises on purpose."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a call's arguments.

    ``pointer`` is a JSON Pointer (RFC 6901) into the *contract's* arguments, whatever the wire form was.
    ``given`` is what stood there, as compact JSON cut to a few characters; ``expected`` says what the contract takes.
    ``nearest`` is the declared name closest to an unknown one, if any is close.
    """

    pointer: str
    expected: str
    given: str = ""
    nearest: str | None = None

    def __str__(self) -> str:
        where = self.pointer or "the arguments"
        text = f"{where}: {self.expected}"
        if self.given:
            text += f", got {self.given}"
        if self.nearest is not None:
            text += f"; did you mean {self.nearest!r}?"
        return text


class ArgumentsError(StrictCallError):
    """A call's arguments do not fit the tool; ``faults`` names each thing that is wrong.

    The text is written for the model that made the call: it names every place and what is expected there, and repeats
    at most 200 characters of the arguments.
    """

    MOST_SHOWN = 20

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(faults)
        self.faults: tuple[Fault, ...] = tuple(faults)

    def __str__(self) -> str:
        room = ECHO_LIMIT
        lines = []
        for fault in self.faults[: self.MOST_SHOWN]:
            echoed = len(fault.given) + len(fault.pointer)
            if echoed > room:
                fault = Fault(cut(fault.pointer, room), fault.expected, "", fault.nearest)
                echoed = len(fault.pointer)
            room = max(0, room - echoed)
            lines.append(str(fault))
        hidden = len(self.faults) - len(lines)
        if hidden:
            lines.append(f"and {hidden} more")
        return "; ".join(lines)


def cut(text: str, length: int) -> str:
    """A text of at most ``length`` characters, the last of them an ellipsis where some are left out."""
    return text if len(text) <= length else text[: max(0, length - 1)] + "…"


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One thing that is wrong with a configuration.

    ``path`` is dotted (``providers[0].models[1].supports_tools``), empty for the whole file; ``line`` counts from 1, 0
    where there is none. ``problem`` says what is wrong and, where there is such a list, what is allowed.
    """

    path: str
    line: int
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" if self.path else self.problem


class ConfigError(StrictCallError):
    """A configuration cannot be used; ``file`` names it, ``problems`` each thing that is wrong, in the file's order.

    No text repeats a value that may be secret.
    """

    def __init__(self, file: str, problems: Sequence[ConfigProblem]) -> None:
        super().__init__(file, problems)
        self.file = file
        self.problems: tuple[ConfigProblem, ...] = tuple(problems)

    def lines(self) -> list[str]:
        """One line for each problem: the file, the line in it, the path, and what is wrong."""
        return [f"{self.file}:{each.line}: {each}" if each.line else f"{self.file}: {each}" for each in self.problems]

    def __str__(self) -> str:
        first, *others = self.lines()
        return f"{first} (and {len(others)} more)" if others else first


class DialectError(StrictCallError):
    """A dialect is unknown, or its file breaks the dialect format; ``name`` is the dialect's."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, problem)
        self.name = name
        self.problem = problem

    def __str__(self) -> str:
        return f"dialect {self.name!r}: {self.problem}"


class NameClashError(StrictCallError):
    """Two tools would have the same name in one toolset; ``names`` holds both contract names."""

    def __init__(self, wire_name: str, names: tuple[str, str]) -> None:
        super().__init__(wire_name, names)
        self.wire_name = wire_name
        self.names = names

    def __str__(self) -> str:
        first, second = self.names
        return (
            f"tools {first!r} and {second!r} would both be called {self.wire_name!r}; "
            "give one of them another name or a namespace"
        )


class PolicyError(StrictCallError):
    """A policy field was given a value that it does not take."""

    def __init__(self, field: str, value: object, allowed: Sequence[object]) -> None:
        super().__init__(field, value, allowed)
        self.field = field
        self.value = value
        self.allowed = tuple(allowed)

    def __str__(self) -> str:
        choices = ", ".join(repr(item) for item in self.allowed)
        return f"policy field {self.field!r} cannot be {self.value!r}; it takes one of {choices}"


class _PlacedError(StrictCallError):
    """The base of errors that say where, in one text, and ``problem``, what is wrong there."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.problem}"


class SourceError(_PlacedError):
    """Tools could not be read; ``place`` names the file and, where known, the line or row."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place


class ScriptError(_PlacedError):
    """A script of replies cannot be read; ``file`` names it, ``problem`` the place in it and what is wrong there."""

    def __init__(self, file: str, problem: str) -> None:
        super().__init__(file, problem)
        self.file = file


class SettingsError(_PlacedError):
    """A setting was given a value that it does not take; ``field`` is the setting's name."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field


class RequestError(_PlacedError):
    """A request cannot be written: ``place`` is where in the body, as a dotted path, and ``problem`` what is wrong."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place


class StreamError(StrictCallError):
    """What came is no answer of the API, or an error that the provider told within a stream; ``problem`` says which."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem
