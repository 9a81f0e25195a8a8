"""The local check: whether arguments keep the contract, and in words what is wrong where they do not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from strictcall.errors import Fault, cut
from strictcall.json_value import depth_of, excerpt, json_type, pointer
from strictcall.shape.draft import Draft

MOST_FAULTS: Final = 50
"""How many faults one call is told at most; a call with more is not mended by reading on."""
MOST_SOUGHT: Final = 5
"""For how many unknown names of one call the nearest declared name is sought: comparing takes time."""
FEW_LEVELS: Final = 4
FEW_CALLS: Final = 400
"""How many nested native calls any thread's stack bears, even one of 256 KiB."""
NAME_LENGTH: Final = 64
MOST_COMPARED: Final = 500
"""Among more declared names than this none is sought."""


class Unbuildable(Exception):
    """No validator can be built from a schema; the text says why, in the builder's own words where it has them."""


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema and is never fetched")


def build(document: Any, draft: Draft, *, assert_formats: bool) -> Any:
    """The one place where a validator is made: no reference ever opens a file or a socket.

    Raises ``Unbuildable`` with the builder's words.
    """
    import jsonschema_rs  # noqa: PLC0415 - loading it takes longer than most compilations

    validator = getattr(jsonschema_rs, draft.validator)
    try:
        return validator(document, validate_formats=assert_formats, retriever=_refuse)
    except jsonschema_rs.ValidationError as error:
        external = _EXTERNAL.match(error.message)
        if external:
            first = min([external[1], *_asked_for(validator, document)])
            raise Unbuildable(
                f"it refers to {_line(first)!r}, which is outside the schema; no external reference is fetched"
            ) from None
        place = _line(pointer(error.instance_path))
        raise Unbuildable(f"not a usable JSON Schema: {place + ': ' if place else ''}{_line(error.message)}") from None
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise Unbuildable(f"not a usable JSON Schema: {_line(str(error))}") from None


def _asked_for(validator: Any, document: Any) -> list[str]:
    """Every document that a schema refers to: the builder asks for them in an order of chance, and ends at the first
    that it is not given.
    """
    asked: list[str] = []

    def note(uri: str) -> Any:
        asked.append(uri)
        return {}

    with suppress(Exception):  # all that these references lack now is what they would find in the documents
        validator(document, retriever=note)
    return asked


_EXTERNAL: Final = re.compile(r"Resource '(.*?)' is not present in a registry", re.DOTALL)


def _line(text: str) -> str:
    text = " ".join(text.split())
    return cut(text, 200)


class LocalCheck:
    """Checks contract arguments against one contract. The validator is built when it is first needed.

    ``levels``: how many native calls the validator may nest for each level of the arguments.
    """

    def __init__(self, document: Any, draft: Draft, *, assert_formats: bool, levels: int = 1) -> None:
        self._levels = levels
        self._document = document
        self._draft = draft
        self._assert_formats = assert_formats
        self._built: Any = None

    def prepare(self) -> Any:
        """Build the validator now. Raises ``Unbuildable``; never for a document that the survey found plain."""
        if self._built is None:
            self._built = build(self._document, self._draft, assert_formats=self._assert_formats)
        return self._built

    def admits(self, arguments: Any) -> bool:
        """Whether arguments in contract form keep the contract."""
        validator = self.prepare()
        return bool(self._with_room(arguments, lambda: validator.is_valid(arguments)))

    def quick(self) -> Callable[[Any], bool] | None:
        """The validator's own check, for a schema that takes it no deeper than the arguments go; else ``None``."""
        if self._levels > FEW_LEVELS:
            return None
        is_valid: Callable[[Any], bool] = self.prepare().is_valid
        return is_valid

    def faults(self, arguments: Any, names_at: Callable[[list[str | int]], list[str]]) -> list[Fault]:
        """What is wrong with the arguments, in the order of the schema; empty when nothing is.

        The validator collects everything at once, for a union the account of each branch: only for small arguments and
        contracts that do not recurse.

        ``names_at`` gives the names declared for the object at a path, to suggest one for an unknown name.
        """
        found: dict[Fault, None] = {}
        for error in self._with_room(arguments, lambda: list(self.prepare().iter_errors(arguments))):
            found.update(dict.fromkeys(_faults_of(error, names_at, len(found))))
            if len(found) >= MOST_FAULTS:
                break
        return list(found)

    def _with_room(self, arguments: Any, step: Callable[[], Any]) -> Any:
        """Run a step of the validator where the native stack has room for it: threads may have a small one."""
        if self._levels <= FEW_LEVELS or depth_of(arguments) * self._levels <= FEW_CALLS:
            return step()
        return _on_large_stack(step)


_STACK: Final = threading.Lock()


def _on_large_stack(step: Callable[[], Any]) -> Any:
    """Run a step in a thread of its own with a stack of 64 MiB."""
    from concurrent.futures import Future  # noqa: PLC0415 - hardly ever needed

    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(step())
        except Exception as error:  # noqa: BLE001 - handed on to the caller's thread, whatever it is
            outcome.set_exception(error)

    # The size is set for the whole process and holds for threads started meanwhile.
    with _STACK:
        usual = threading.stack_size(64 * 1024 * 1024)
        try:
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
        finally:
            threading.stack_size(usual)
    return outcome.result()


def nearest(name: str, declared: Iterable[str]) -> str | None:
    """The declared name closest to an unknown one, if any is close enough to be what was meant."""
    names = list(declared)
    if len(name) > NAME_LENGTH or len(names) > MOST_COMPARED:
        return None
    import difflib  # noqa: PLC0415 - only where a name is wrong

    near = difflib.get_close_matches(name, [other for other in names if len(other) <= NAME_LENGTH], n=1)
    return near[0] if near else None


def unknown_name(name: str, at: str, declared: Iterable[str], *, seek: bool = True) -> Fault:
    """The fault of a name that an object does not take; ``seek``: with the declared name nearest to it."""
    names = [other for other in declared if other != name]
    expected = "no such argument" if names else "no arguments are taken"
    return Fault(f"{at}{pointer([cut(name, NAME_LENGTH)])}", expected, "", nearest(name, names) if seek else None)


def _faults_of(error: Any, names_at: Callable[[list[str | int]], list[str]], told: int) -> list[Fault]:
    """Faults from one error of the validator."""
    at = pointer(error.instance_path)
    kind = type(error.kind).__name__
    given = error.instance
    if kind in ("AdditionalProperties", "UnevaluatedProperties"):
        declared = names_at(error.instance_path)
        unexpected = error.kind.unexpected[: MOST_FAULTS - told]
        return [unknown_name(name, at, declared, seek=told + i < MOST_SOUGHT) for i, name in enumerate(unexpected)]
    if kind == "Required":
        return [Fault(f"{at}{pointer([error.kind.property])}", "is required and missing")]
    describe = _DESCRIBE.get(kind)
    expected = describe(error.kind) if describe else _plain(error, given)
    return [Fault(at, expected, excerpt(given))]


TYPE_WORDS: Final = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
"""JSON types in the words of a fault."""


def _types(kind: Any) -> str:
    return "must be " + " or ".join(TYPE_WORDS.get(str(name), str(name)) for name in kind.types)


_DESCRIBE: Final[Mapping[str, Callable[[Any], str]]] = {
    "Type": _types,
    "Enum": lambda kind: f"must be one of {excerpt(kind.options, 120)}",
    "Constant": lambda kind: f"must be {excerpt(kind.expected_value, 120)}",
    "Minimum": lambda kind: f"must be at least {excerpt(kind.limit)}",
    "Maximum": lambda kind: f"must be at most {excerpt(kind.limit)}",
    "ExclusiveMinimum": lambda kind: f"must be more than {excerpt(kind.limit)}",
    "ExclusiveMaximum": lambda kind: f"must be less than {excerpt(kind.limit)}",
    "MultipleOf": lambda kind: f"must be a multiple of {excerpt(kind.multiple_of)}",
    "MinLength": lambda kind: f"must have at least {kind.limit} characters",
    "MaxLength": lambda kind: f"must have at most {kind.limit} characters",
    "MinItems": lambda kind: f"must have at least {kind.limit} items",
    "MaxItems": lambda kind: f"must have at most {kind.limit} items",
    "MinProperties": lambda kind: f"must have at least {kind.limit} properties",
    "MaxProperties": lambda kind: f"must have at most {kind.limit} properties",
    "Pattern": lambda kind: f"must match the pattern {excerpt(kind.pattern, 120)}",
    "Format": lambda kind: f"must be a valid {kind.format}",
    "UniqueItems": lambda kind: "must not hold the same item twice",
    "Contains": lambda kind: "must hold an item of the kind that is asked for",
    "AnyOf": lambda kind: "fits none of the forms that are allowed here",
    "OneOfNotValid": lambda kind: "fits none of the forms that are allowed here",
    "OneOfMultipleValid": lambda kind: "fits several forms where only one may fit",
    "FalseSchema": lambda kind: "is not allowed here",
    "Not": lambda kind: "is of a form that is excluded here",
    "AdditionalItems": lambda kind: "has more items than allowed",
}


def _plain(error: Any, given: Any) -> str:
    """The validator's message without its echo of the instance."""
    keyword = error.schema_path[-1] if error.schema_path else json_type(given)
    return f"does not keep {keyword!r}"
