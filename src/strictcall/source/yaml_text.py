"""YAML text to JSON values: the core schema of YAML 1.2, where ``on`` is text and a date is text, within bounds.

YAML 1.2.2 (https://yaml.org/spec/1.2.2/, section 10.3) defines the core schema. The merge key of YAML 1.1 is kept,
since people use it with anchors. What JSON cannot hold (other tags, keys that are no scalar, infinity) is an error or a
flaw.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from strictcall.json_value import MAX_DIGITS
from strictcall.source.flaws import Flaw, object_of
from strictcall.source.json_text import TextError

if TYPE_CHECKING:
    import yaml

    Node = yaml.ScalarNode | yaml.SequenceNode | yaml.MappingNode

MAX_NODES = 1_000_000
"""How many nodes a document may have once its aliases are written out."""

_TAG = "tag:yaml.org,2002:"
_UNTAGGED = "untagged"
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOLEAN = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INTEGER = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NO_NUMBER = re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")


def parse_yaml(text: str) -> Iterator[Any]:
    """The value of each document of a YAML text, in order.

    Raises ``TextError`` where the text cannot be read, and ``ModuleNotFoundError`` without PyYAML (the ``cli`` extra).
    """
    import yaml  # noqa: PLC0415  an extra

    class Loader(yaml.SafeLoader):
        """Marks a plain scalar without a tag as such, instead of guessing at its type as YAML 1.1 does."""

        def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
            if kind is yaml.ScalarNode and implicit[0]:
                return _UNTAGGED
            return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]

    try:
        for node in cast("Iterator[Node]", yaml.compose_all(text, Loader)):
            _check_size(node)
            yield _Builder().value(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise TextError(f"not valid YAML: {error.problem or error.context}", line, column) from None
    except yaml.reader.ReaderError as error:
        raise TextError(f"not valid YAML: {error.reason} ({error.character!r})") from None
    except RecursionError:
        raise TextError("the YAML nests too deep to be read") from None


def _error(node: Node, problem: str) -> TextError:
    return TextError(problem, node.start_mark.line + 1, node.start_mark.column + 1)


def _check_size(root: Node) -> None:
    """Bound what the aliases of a document would come to when written out, without writing them out."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    pending = [(root, False)]
    while pending:
        node, done = pending.pop()
        below = _children(node)
        if done:
            open_nodes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in below)
            if sizes[id(node)] > MAX_NODES:
                raise _error(node, f"with its aliases written out this has more than {MAX_NODES:,} nodes")
        elif id(node) in open_nodes:
            raise _error(node, "an alias leads back into its own anchor")
        elif id(node) not in sizes:
            open_nodes.add(id(node))
            pending.append((node, True))
            pending.extend((child, False) for child in below)


def _children(node: Node) -> list[Node]:
    if node.id == "mapping":
        return [part for pair in node.value for part in pair]
    return list(node.value) if node.id == "sequence" else []


class _Builder:
    """Builds the value of one document; what an alias names is built once and shared."""

    def __init__(self) -> None:
        self._built: dict[int, Any] = {}

    def value(self, node: Node) -> Any:
        if id(node) not in self._built:
            self._built[id(node)] = self._build(node)
        return self._built[id(node)]

    def _build(self, node: Node) -> Any:
        if node.id == "scalar":
            return _scalar(node)
        kind = "map" if node.id == "mapping" else "seq"
        if node.tag != _TAG + kind:
            raise _error(node, f"the tag {node.tag!r} has no meaning in JSON")
        if node.id == "mapping":
            return self._mapping(node)
        return [self.value(item) for item in node.value]

    def _mapping(self, node: Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        pairs: list[tuple[str, Any]] = []
        for key, item in node.value:
            if key.id != "scalar":
                raise _error(key, "a key must be a single word or text")
            if key.value == "<<" and key.tag == _UNTAGGED:
                merged = self._merged(item) | merged
            else:
                pairs.append((key.value, self.value(item)))
        found = object_of(pairs)
        if not merged:
            return found
        rest = [(name, value) for name, value in merged.items() if name not in found]
        return object_of(rest + pairs)

    def _merged(self, node: Node) -> dict[str, Any]:
        """What ``<<`` brings in: of several mappings, an earlier one wins."""
        found: dict[str, Any] = {}
        for part in node.value if node.id == "sequence" else [node]:
            if part.id != "mapping":
                raise _error(part, "<< takes a mapping or a list of mappings")
            found = self.value(part) | found
        return found


def _scalar(node: Node) -> Any:
    if node.tag == _UNTAGGED:
        return _plain(node.value)
    if node.tag == _TAG + "str":
        return node.value
    name = node.tag.removeprefix(_TAG)
    if name == "float" and _INTEGER.match(node.value):
        return float(node.value)
    value = _plain(node.value)
    if (name, type(value)) not in {("null", type(None)), ("bool", bool), ("int", int), ("float", float)}:
        raise _error(node, f"the tag {node.tag!r} has no meaning in JSON for {node.value[:40]!r}")
    return value


def _plain(text: str) -> Any:
    if _NULL.match(text):
        return None
    if _BOOLEAN.match(text):
        return text.lower() == "true"
    if _INTEGER.match(text):
        return _integer(text)
    if _FLOAT.match(text):
        number = float(text)
        return number if math.isfinite(number) else Flaw(f"the number {text[:20]} is too large")
    if _NO_NUMBER.match(text):
        return Flaw(f"{text} is not a JSON number")
    return text


def _integer(text: str) -> Any:
    if len(text) > MAX_DIGITS:
        return Flaw(f"a number has more than {MAX_DIGITS:,} digits")
    base = {"0o": 8, "0x": 16}.get(text[:2])
    return int(text[2:], base) if base else int(text)
