"""The items of an answer of the Responses API: which one an event is about, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictcall.api.assembly import Slot
from strictcall.api.fields import count, text
from strictcall.api.keeping import Keeper
from strictcall.errors import StreamError

ARGUMENTS: Final = "arguments"
"""The part of a call that its arguments are."""
MOST_ITEMS: Final = 4096
"""An answer with more output items is refused."""


class Item:
    """An output item in the making. ``start`` is what it began as, ``final`` what it was when it was done.

    ``pieces`` are those of its texts, by part (``output_text 0``), and ``sizes`` their characters; those of a call's
    ``arguments`` are the slot's.
    """

    __slots__ = ("final", "kind", "pieces", "position", "sizes", "slot", "start")

    def __init__(self, position: int, kind: str, start: dict[str, Any]) -> None:
        self.position = position
        self.kind = kind
        self.start = start
        self.final: dict[str, Any] | None = None
        self.slot: Slot | None = None
        self.pieces: dict[str, list[str]] = {}
        self.sizes: dict[str, int] = {}

    def told(self, part: str, piece: str) -> None:
        """A piece of a text was told."""
        if part != ARGUMENTS:
            self.pieces.setdefault(part, []).append(piece)
        self.sizes[part] = self.sizes.get(part, 0) + len(piece)

    def rest(self, part: str, whole: str) -> str:
        """What of a whole text was not told yet; nothing where something else was told."""
        size = self.sizes.get(part, 0)
        if len(whole) <= size:
            return ""
        told = self.slot.raw if part == ARGUMENTS and self.slot is not None else self.pieces.get(part, ())
        return whole[size:] if whole.startswith("".join(told)) else ""

    @property
    def is_lost(self) -> bool:
        """Whether it broke off and is of no use: thoughts that are not complete are refused in a history."""
        return self.final is None and self.kind not in ("function_call", "message")

    def whole(self) -> dict[str, Any]:
        """The item as it came when it was done, else as far as it came."""
        if self.final is not None:
            return self.final
        if self.slot is not None:
            call = {"type": "function_call", "call_id": self.slot.id, "name": self.slot.name}
            return {**call, **self.start, **_broken_off(self.start), "arguments": "".join(self.slot.raw)}
        said = "".join(piece for pieces in self.pieces.values() for piece in pieces)
        content = [{"type": "output_text", "text": said, "annotations": []}]
        return {"type": "message", "role": "assistant", **self.start, **_broken_off(self.start), "content": content}


class Items:
    """The output items of an answer, in the order in which they came."""

    def __init__(self) -> None:
        self._all: list[Item] = []
        self._by_index: dict[int, Item] = {}
        self._by_id: dict[str, Item] = {}
        self._keeper = Keeper()

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all)

    def said(self, event: dict[str, Any], said: dict[str, Any], *, begins: bool) -> Item:
        """The item that an event gives, begun or done."""
        kind, item_id = text(said.get("type")), text(said.get("id"))
        item = self._known(event.get("output_index"), item_id)
        if item is None and not begins and not item_id and count(event.get("output_index")) is None:
            item = self._newest_open(kind)
        if item is None or item.kind != kind or (begins and _begun_otherwise(item, item_id)):
            item = self._new(kind, said if begins else {})
            self._place(item, event.get("output_index"), item_id)
        elif begins and not item.start:
            item.start = self._keeper.kept(said)
        return item

    def of(self, event: dict[str, Any], kind: str) -> Item:
        """The item of this kind that an event is about: by the place of the item, else by its id, else the newest.

        Some servers give every event another id, and some no place.
        """
        index, item_id = event.get("output_index"), text(event.get("item_id"))
        item = self._known(index, item_id)
        if item is None and count(index) is None and not item_id:
            item = self._newest_open(kind)
        if item is None or item.kind != kind:
            item = self._new(kind, {})
            self._place(item, index, item_id)
        return item

    def last_said(self, output: list[dict[str, Any]]) -> Iterator[tuple[Item, dict[str, Any]]]:
        """The items that the whole response has in the end, each with the one that it is of those that came before.

        One that none of them is counts only if none of its kind came before: some servers leave items out in the end,
        or give them other ids.
        """
        kinds = {item.kind for item in self._all}
        before = len(self._all)
        taken: set[int] = set()
        for position, said in enumerate(output):
            kind, item_id = text(said.get("type")), text(said.get("id"))
            item = self._by_id.get(item_id) or self._by_index.get(position)
            if item is None or item.position >= before or item.position in taken or not _can_be(item, kind, said):
                if kind in kinds:
                    continue
                item = self._new(kind, {})
            taken.add(item.position)
            yield item, said

    def told(self, item: Item, part: str, piece: str) -> None:
        """A piece of a text was told."""
        item.told(part, piece if part == ARGUMENTS else self._keeper.kept(piece))

    def done(self, item: Item, said: dict[str, Any]) -> None:
        """An item is done; the first time counts."""
        if item.final is None:
            item.final = self._keeper.kept(said)

    def _known(self, index: Any, item_id: str) -> Item | None:
        place = count(index)
        if place is not None:
            return self._by_index.get(place)
        return self._by_id.get(item_id)

    def _newest_open(self, kind: str) -> Item | None:
        newest = self._all[-1] if self._all else None
        return newest if newest is not None and newest.kind == kind and newest.final is None else None

    def _new(self, kind: str, start: dict[str, Any]) -> Item:
        if len(self._all) >= MOST_ITEMS:
            raise StreamError(f"the answer has more than {MOST_ITEMS:,} items")
        item = Item(len(self._all), kind, self._keeper.kept(start))
        self._all.append(item)
        return item

    def _place(self, item: Item, index: Any, item_id: str) -> None:
        place = count(index)
        if place is not None:
            self._by_index[place] = item
        if item_id:
            self._by_id[item_id] = item


def _begun_otherwise(item: Item, item_id: str) -> bool:
    """Whether an item that begins cannot be the one at its place: some servers give every item the same place."""
    return bool(item.start) and (not item_id or text(item.start.get("id")) != item_id)


def _can_be(item: Item, kind: str, said: dict[str, Any]) -> bool:
    """Whether an item of the whole response can be this one."""
    call_id = text(said.get("call_id"))
    another = item.slot is not None and bool(call_id) and item.slot.id not in (None, call_id)
    return item.kind == kind and not another


def _broken_off(start: dict[str, Any]) -> dict[str, str]:
    return {"status": "incomplete"} if "status" in start else {}
