"""The blocks that an answer consists of, where the API has such: put together again from their pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from strictcall.api.assembly import Assembly, Slot
from strictcall.api.keeping import Keeper
from strictcall.api.object_calls import as_object
from strictcall.api.reading import raw_text
from strictcall.errors import StreamError

MOST_BLOCKS: Final = 4096
"""An answer with more blocks is refused."""


class Block:
    """A block in the making. ``start`` is what it began as, ``slot`` the call that it is, ``position`` its place.

    ``texts`` are the pieces of its texts, by the name of their field, ``lists`` what came for its lists. Pieces of
    arguments came if it is ``in_pieces``: those of a call are the slot's, those of other blocks stand in ``json``.
    """

    __slots__ = ("in_pieces", "json", "kind", "lists", "position", "settled", "slot", "start", "texts")

    def __init__(self, position: int, kind: str, start: dict[str, Any]) -> None:
        self.position = position
        self.kind = kind
        self.start = start
        self.slot: Slot | None = None
        self.texts: dict[str, list[Any]] = {}
        self.lists: dict[str, list[Any]] = {}
        self.json: list[str] = []
        self.in_pieces = False
        self.settled = False

    def input(self, given: Any) -> Any:
        """Its arguments: those of the pieces that came, else the ``given`` ones."""
        if self.in_pieces:
            return as_object("".join(self.json if self.slot is None else self.slot.raw))
        return {} if given is None else given


class Blocks:
    """The blocks of an answer, in their order."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._all: list[Block] = []
        self._by_index: dict[int, Block] = {}
        self._keeper = Keeper()

    def __iter__(self) -> Iterator[Block]:
        return iter(self._all)

    def open(self, index: Any, kind: str, start: dict[str, Any]) -> Block:
        """A block begins. Raises ``StreamError`` for too many."""
        if len(self._all) >= MOST_BLOCKS:
            raise StreamError(f"the answer has more than {MOST_BLOCKS:,} blocks")
        if self._all and self._all[-1].slot is not None:
            # Another block comes after it: the model was done with it.
            self._all[-1].slot.doubtful = False
        block = Block(len(self._all), kind, self._keeper.kept(start))
        self._all.append(block)
        self._by_index[index if type(index) is int else block.position] = block
        return block

    def at(self, index: Any) -> Block | None:
        """The newest block with this index; without one, the newest at all."""
        if type(index) is int:
            return self._by_index.get(index)
        return self._all[-1] if self._all else None

    def call(self, block: Block, call_id: str, name: str) -> None:
        """The block is a call of one of our tools."""
        block.slot = self._assembly.slot(block.position, call_id, name)
        self._assembly.begin(block.slot)

    def add_text(self, block: Block, field: str, piece: Any) -> None:
        """A piece of a text of the block, or of bytes. Raises ``StreamError`` for too much."""
        block.texts.setdefault(field, []).append(self._keeper.kept(piece))

    def add_item(self, block: Block, field: str, item: Any) -> None:
        """One more in a list of the block. Raises ``StreamError`` for too much."""
        block.lists.setdefault(field, []).append(self._keeper.kept(item))

    def add_json(self, block: Block, piece: str) -> None:
        """A piece of the block's arguments."""
        if not piece:
            return
        block.in_pieces = True
        if block.slot is not None:
            self._assembly.arguments(block.slot, piece)
        else:
            block.json.append(self._keeper.kept(piece))

    def settle(self, block: Block, given: Any) -> None:
        """The block is complete: where no piece of its arguments came, they are the ``given`` ones."""
        if block.settled or block.slot is None:
            return
        block.settled = True
        if not block.in_pieces:
            block.slot.doubtful = block is self._all[-1]
            self._assembly.arguments(block.slot, raw_text({} if given is None else given))
