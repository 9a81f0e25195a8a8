"""Server-sent events from bytes cut anywhere."""

from __future__ import annotations

import pytest

from strictcall.api.sse import MOST_CHARACTERS, EventReader
from strictcall.errors import StreamError


@pytest.mark.parametrize(
    ("raw", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
        (b": keep-alive\n\nevent: x\nid: 1\nretry: 3\ndata: a\n\n", ["a"]),
        (b"data\n\n", [""]),
        (b"event: x\n\n", []),
        (b"data: cut off", []),
        ("data: é\u2028\U0001f600\n\n".encode(), ["é\u2028\U0001f600"]),
        (b"data: \xff\n\n", ["\ufffd"]),
    ],
)
def test_events(raw: bytes, events: list[str]) -> None:
    assert list(EventReader().feed(raw)) == events
    reader = EventReader()
    assert [event for index in range(len(raw)) for event in reader.feed(raw[index : index + 1])] == events


def test_an_event_without_end_is_refused() -> None:
    reader = EventReader()
    megabyte = b"x" * 2**20
    for _ in range(MOST_CHARACTERS // len(megabyte)):
        assert list(reader.feed(megabyte)) == []
    with pytest.raises(StreamError, match="an event is longer than"):
        list(reader.feed(b"x"))
