"""References: which node a ``$ref`` leads to, found inside the document only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from strictcall.json_value import escape, objects_in, resolve_pointer
from strictcall.shape.draft import Draft
from strictcall.shape.model import ROOT
from strictcall.value import replace, value

_STEM = re.compile(r"[^A-Za-z0-9_.-]+")


@value
class Place:
    """Where a schema stands: its JSON Pointer in the document, and the resolver of its base URI (``None`` in a document
    without references).
    """

    pointer: str
    resolver: Any = None

    def at(self, suffix: str) -> Place:
        """The place below this one; ``suffix`` is a JSON Pointer."""
        return Place(self.pointer + suffix, self.resolver)


class References:
    """Resolves a document's references. Every node that one leads to gets a name, the same each time."""

    def __init__(self, document: Any, draft: Draft) -> None:
        self.used = False
        """Whether any reference was resolved so far."""
        self._document = document
        self._draft = draft
        self._specification_found: Any = None
        self._names: dict[int, str] = {id(document): ROOT}
        self._nodes: dict[str, Any] = {ROOT: document}
        self._pointers: dict[int, str] | None = None
        self._anchors: dict[str, list[Any]] | None = None
        self._resolver: Any = None

    @property
    def root(self) -> Place:
        """The document's own place."""
        return Place("")

    @property
    def _specification(self) -> Any:
        """What ``referencing`` knows of the draft; loaded when a base URI or an anchor first needs it."""
        if self._specification_found is None:
            import referencing.jsonschema  # noqa: PLC0415 - most schemas need none of it

            self._specification_found = referencing.jsonschema.specification_with(self._draft.uri)
        return self._specification_found

    def node(self, name: str) -> Any:
        """The node that a name stands for."""
        return self._nodes[name]

    def enter(self, node: Mapping[str, Any], place: Place) -> Place:
        """The place of a node that may set a base URI of its own (``$id``)."""
        if not place.pointer or type(node.get("$id", node.get("id"))) is not str:
            return place
        resolver = place.resolver or self._root_resolver()
        try:
            inside = resolver.in_subresource(self._specification.create_resource(node))
        except (ValueError, TypeError, AttributeError):
            return place
        return replace(place, resolver=inside)

    def find(self, keyword: str, target: str, place: Place) -> tuple[str, Place] | None:
        """The name and place of the node that a reference leads to; ``None`` where it leads out of the document, or
        where only a validator at work can say (``$dynamicRef`` with several anchors).
        """
        self.used = True
        if keyword == "$recursiveRef" and self._has_inner_resources():
            return None
        if place.resolver is None and (target == "#" or target.startswith("#/")):
            # The commonest reference needs no base URI.
            node = resolve_pointer(self._document, target[1:])
            return self._named(node, target, None) if type(node) in (dict, bool) else None
        resolver = place.resolver or self._root_resolver()
        from referencing.exceptions import Unresolvable  # noqa: PLC0415 - most schemas need none of it

        try:
            resolved = resolver.lookup(target)
        except (Unresolvable, LookupError, ValueError, TypeError, AttributeError):
            return None
        if type(resolved.contents) not in (dict, bool):
            return None
        if id(resolved.contents) not in self._located():
            return None
        if keyword == "$dynamicRef" and self._may_be_overridden(target, resolved.contents):
            return None
        return self._named(resolved.contents, target, resolved.resolver)

    def _named(self, node: Any, target: str, resolver: Any) -> tuple[str, Place]:
        pointer = self._located()[id(node)]
        if type(node) is bool:
            # Booleans are shared objects, so the reference's own text has to tell them apart.
            name = f"always_{str(node).lower()}"
            self._nodes[name] = node
            return name, Place(pointer, resolver)
        name = self._names.get(id(node), "")
        if not name:
            stem = _STEM.sub("_", unquote(target).rstrip("/").rpartition("/")[2].rpartition("#")[2]).strip("_.-")
            stem = stem or "definition"
            name, number = stem, 2
            while name in self._nodes:
                name, number = f"{stem}_{number}", number + 1
            self._names[id(node)] = name
            self._nodes[name] = node
        return name, Place(pointer, resolver)

    def _root_resolver(self) -> Any:
        if self._resolver is None:
            import referencing  # noqa: PLC0415 - most schemas need none of it

            resource = self._specification.create_resource(self._document)
            base = resource.id() or ""
            registry = referencing.Registry().with_resource(base, resource)
            self._resolver = registry.resolver(base_uri=base)
        return self._resolver

    def _located(self) -> dict[int, str]:
        """The JSON Pointer of every object in the document by identity, in document order."""
        if self._pointers is None:
            self._pointers = {id(True): "", id(False): ""}
            pending: list[tuple[Any, str]] = [(self._document, "")]
            while pending:
                node, pointer = pending.pop()
                if type(node) is dict:
                    self._pointers.setdefault(id(node), pointer)
                    pending.extend((item, f"{pointer}/{escape(name)}") for name, item in node.items())
                elif type(node) is list:
                    pending.extend((item, f"{pointer}/{index}") for index, item in enumerate(node))
        return self._pointers

    def _dynamic_anchors(self) -> dict[str, list[Any]]:
        if self._anchors is None:
            self._anchors = {}
            for node in objects_in(self._document):
                anchor = node.get("$dynamicAnchor")
                if type(anchor) is str:
                    self._anchors.setdefault(anchor, []).append(node)
        return self._anchors

    def _has_inner_resources(self) -> bool:
        """Whether an object below the root sets a base URI, so that ``$recursiveRef`` may leave the document's root."""
        return any(node is not self._document and type(node.get("$id")) is str for node in objects_in(self._document))

    def _may_be_overridden(self, target: str, node: Any) -> bool:
        """Whether another node of the document could take the place of the one that a ``$dynamicRef`` leads to at
        first.
        """
        name = target.rpartition("#")[2]
        if type(node) is not dict or node.get("$dynamicAnchor") != name:
            return False
        return len(self._dynamic_anchors().get(name, ())) > 1
