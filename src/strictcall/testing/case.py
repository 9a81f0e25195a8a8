"""A case: one tool under one dialect and policy, what came of it, and what is raised when it breaks a law."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from strictcall.change import Change
from strictcall.dialect.model import Dialect
from strictcall.emulator.answers.grammar import Sampler
from strictcall.errors import StrictCallError
from strictcall.policy import Policy
from strictcall.testing.admits import Wire
from strictcall.testing.comparing import text
from strictcall.testing.showing import shown, shown_policy
from strictcall.tool import Tool
from strictcall.wire.compile import compile_schema, compile_tool
from strictcall.wire.compiled import CompiledTool

Form = Literal["wire", "contract"]


@dataclass(frozen=True, slots=True)
class Tried:
    """What a law was looked at with. ``form`` says what ``value`` is: a ``wire`` value given to ``decode``, arguments
    in ``contract`` form given to ``encode``; ``None`` for a law that speaks of a compiled tool by itself.
    """

    form: Form | None = None
    value: Any = None


BY_ITSELF: Final = Tried()


@dataclass
class Case:
    """A tool under one dialect and policy. ``arguments`` is false for a bare schema, which may describe any value."""

    tool: Tool
    dialect: str | Dialect = "openai"
    policy: Policy = field(default_factory=Policy)
    arguments: bool = True

    def compile(self, parameters: Any, description: str | None, name: str) -> CompiledTool:
        """Compile a schema the way this case does."""
        if self.arguments:
            return compile_tool(Tool(name, description, parameters), self.dialect, self.policy)
        return compile_schema(parameters, self.dialect, self.policy, name=name)

    @cached_property
    def compiled(self) -> CompiledTool:
        """What the tool compiles to. Raises ``LawBroken`` where that fails or changes its input, ``DialectError`` for
        an unknown dialect.
        """
        before = text(self.tool.parameters)
        try:
            compiled = self.compile(self.tool.parameters, self.tool.description, self.tool.name)
        except StrictCallError:
            raise
        except Exception as error:
            raise LawBroken("total", "compiling raised an exception", self, details=(("raised", error),)) from error
        if text(self.tool.parameters) != before:
            raise LawBroken("total", "compiling changed its input", self)
        return compiled

    @property
    def known(self) -> CompiledTool | None:
        """What the tool compiled to, if that was asked for already and went well."""
        return self.__dict__.get("compiled")

    @cached_property
    def wire(self) -> Wire:
        """Says what the wire admits."""
        return Wire(self.compiled.parameters, self.compiled.dialect)

    @cached_property
    def sampler(self) -> Sampler:
        """Samples the wire. Raises ``GrammarRefusedError`` where llguidance does not take the wire schema."""
        return Sampler(self.wire.schema)

    def __str__(self) -> str:
        return "\n".join(_described(self))


class LawBroken(AssertionError):
    """A compiled tool breaks a law.

    ``law``: its name; ``message``: what happened, in words that name no value; ``tool``, ``dialect`` (its name) and
    ``policy``: the case; ``wire``: the wire schema, ``None`` where compiling failed; ``changes``: the tool's changes;
    ``form`` and ``value``: what the law was looked at with (see ``Tried``); ``details``: what came of it, by name;
    ``smaller``: how many smaller cases were tried to find this one. The text shows them all.
    """

    def __init__(
        self, law: str, message: str, case: Case, tried: Tried = BY_ITSELF, details: tuple[tuple[str, Any], ...] = ()
    ) -> None:
        super().__init__(law, message)
        compiled = case.known
        self.law = law
        self.message = message
        self.case = case
        self.tool = case.tool
        self.dialect = case.dialect if isinstance(case.dialect, str) else case.dialect.name
        self.policy = case.policy
        self.wire: Any = compiled.parameters if compiled is not None else None
        self.changes: tuple[Change, ...] = compiled.changes if compiled is not None else ()
        self.form = tried.form
        self.value = tried.value
        self.details = details
        self.smaller = 0

    @property
    def tried(self) -> Tried:
        """What the law was looked at with."""
        return Tried(self.form, self.value)

    def __str__(self) -> str:
        lines = [f"the law {self.law!r} is broken: {self.message}"]
        if self.form is not None:
            lines += shown(f"value, in {self.form} form", self.value)
        for name, found in self.details:
            lines += shown(name, found)
        lines += _described(self.case)
        if self.smaller:
            lines.append(f"The smallest case found; {self.smaller:,} smaller ones were tried.")
        return "\n".join(lines)


def _described(case: Case) -> list[str]:
    """A case for people: the contract, what it was compiled to, and each change."""
    name = case.dialect if isinstance(case.dialect, str) else case.dialect.name
    lines = [f"tool: {case.tool.name}", f"dialect: {name}", f"policy: {shown_policy(case.policy)}"]
    lines += shown("contract", case.tool.parameters)
    compiled = case.known
    if compiled is None:
        return lines
    lines += shown("wire schema", compiled.parameters)
    lines.append(f"verdict: {compiled.verdict}" + (f", because {compiled.reason}" if compiled.reason else ""))
    changes = [f"  {one.code} at {one.pointer or 'the root'} ({one.effect}): {one.message}" for one in compiled.changes]
    return [*lines, "changes:" if changes else "changes: none", *changes]
