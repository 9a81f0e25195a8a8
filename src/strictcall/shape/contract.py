"""The contract: a tool's schema as read, its shape, and the local check that is made from it and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from strictcall.change import Change
from strictcall.errors import Fault
from strictcall.json_value import LimitError, excerpt, is_small
from strictcall.shape.admit import admits, follow
from strictcall.shape.check import LocalCheck, Unbuildable
from strictcall.shape.cost import Cost, cost_of
from strictcall.shape.draft import DRAFTS, Draft, detect
from strictcall.shape.explain import explain
from strictcall.shape.graph import circular, references
from strictcall.shape.model import ROOT, Anything, Choice, Definitions, List, Record, Shape
from strictcall.shape.read import Reader, TooLarge
from strictcall.shape.survey import Survey, survey
from strictcall.shape.tolerate import Tolerance
from strictcall.value import value

FEW_NODES: Final = 10_000
"""Arguments of more values than this are explained by shape: the validator would collect every error at once."""


@value
class Contract:
    """A schema as read.

    ``document`` is the JSON Schema after tolerated spellings were rewritten (``changes`` lists them), ``shape`` and
    ``definitions`` are what it says, ``check`` is the local check. ``recursive``: some definition leads back to itself.
    ``untyped``: some schema in it constrains values without saying of what type they are.
    """

    document: Any
    draft: Draft
    shape: Shape
    definitions: Definitions
    check: LocalCheck
    changes: tuple[Change, ...] = ()
    recursive: bool = False
    untyped: bool = False

    def admits(self, arguments: Any) -> bool:
        """Whether arguments in contract form are admitted.

        Where definitions recurse the shape is asked first: it answers in time that no nesting of unions multiplies, and
        what it refuses the validator need not be asked about.
        """
        return not self._surely_refused(arguments) and self.check.admits(arguments)

    def _surely_refused(self, arguments: Any) -> bool:
        try:
            return self.recursive and not admits(self.shape, arguments, self.definitions)
        except RecursionError:
            # Deeper than Python's stack goes here; the validator has one of its own.
            return False

    def quick_check(self) -> Callable[[Any], bool] | None:
        """``admits`` without its precautions, where the contract needs none of them; else ``None``."""
        return None if self.recursive else self.check.quick()

    def faults(self, arguments: Any) -> list[Fault]:
        """What is wrong with arguments in contract form; empty when they are admitted."""
        if self.admits(arguments):
            return []
        if not self.recursive and is_small(arguments, FEW_NODES):
            return self.check.faults(arguments, self.names_at)
        try:
            found = explain(arguments, self.shape, self.definitions)
        except RecursionError:
            found = []
        return found or [Fault("", "do not keep the tool's contract", excerpt(arguments))]

    def shapes_at(self, path: Sequence[str | int]) -> list[Shape]:
        """The shapes that a value at this path of the arguments may have."""
        found = [self.shape]
        for token in path:
            found = [below for shape in found for below in _below(shape, token, self.definitions)]
        return [follow(shape, self.definitions) for shape in found]

    def names_at(self, path: Sequence[str | int]) -> list[str]:
        """The names declared for the object at this path."""
        names: dict[str, None] = {}
        for shape in self.shapes_at(path):
            for branch in _branches(shape, self.definitions):
                if type(branch) is Record:
                    names.update(dict.fromkeys(branch.fields))
        return list(names)


class Unreadable(Exception):
    """A schema's meaning cannot be read; ``reason`` is a fact about it, in one sentence.

    ``contract`` is there where arguments can at least be checked; its shape then says nothing. ``within_limits``:
    whether the schema is JSON within the budgets, so that it can at least be walked.
    """

    def __init__(self, reason: str, contract: Contract | None = None, *, within_limits: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.contract = contract
        self.within_limits = within_limits


def _branches(shape: Shape, definitions: Definitions) -> list[Shape]:
    shape = follow(shape, definitions)
    if type(shape) is not Choice:
        return [shape]
    return [inner for branch in shape.branches for inner in _branches(branch, definitions)]


def _below(shape: Shape, token: str | int, definitions: Definitions) -> list[Shape]:
    found: list[Shape] = []
    for branch in _branches(shape, definitions):
        if type(branch) is Record and type(token) is str:
            field = branch.fields.get(token)
            found.append(field.shape if field else branch.rest)
        elif type(branch) is List and type(token) is int:
            found.append(branch.prefix[token] if token < len(branch.prefix) else branch.rest)
    return found


def read_contract(
    schema: Any, *, default_draft: str = "2020-12", implied_types: bool = True, assert_formats: bool = False
) -> Contract:
    """Read a schema. Raises ``Unreadable`` with the reason, for any value that has no contract; nothing else.

    Works within fixed budgets, opens nothing, and changes nothing of what came in.
    """
    found = _survey(schema)
    draft = detect(schema, default_draft)
    declared = draft is not None and type(schema) is dict and "$schema" in schema
    used = draft or DRAFTS[default_draft]
    document: Any = schema
    changes: list[Change] = []
    if found.spelling:
        tolerance = Tolerance(used, declared, implied_types)
        document, changes = tolerance.root(schema), tolerance.changes
    if type(document) is dict and "$schema" in document and not declared:
        document = {keyword: value for keyword, value in document.items() if keyword != "$schema"}
    cost = Cost()
    careful = found.doubt or found.spelling or used.name == "4"
    if careful:
        cost = cost_of(document)
        if cost.reason is not None:
            raise Unreadable(cost.reason)
    check = LocalCheck(document, used, assert_formats=assert_formats, levels=cost.levels)
    if careful:
        try:
            check.prepare()
        except Unbuildable as error:
            raise Unreadable(str(error)) from None
    reader = Reader(document, used)
    try:
        shape = reader.root()
    except TooLarge as error:
        blank = Anything()
        contract = Contract(document, used, blank, {ROOT: blank}, check, tuple(changes))
        raise Unreadable(str(error), contract) from None
    return Contract(document, used, shape, reader.definitions, check, tuple(changes), _recurses(reader), reader.untyped)


def _recurses(reader: Reader) -> bool:
    return reader.refers and bool(circular({name: references(part) for name, part in reader.definitions.items()}))


def _survey(schema: Any) -> Survey:
    if type(schema) is not dict and type(schema) is not bool:
        raise Unreadable("the schema is neither an object nor a boolean", within_limits=False)
    try:
        return survey(schema)
    except LimitError as error:
        raise Unreadable(f"the schema cannot be read: {error}", within_limits=False) from None
