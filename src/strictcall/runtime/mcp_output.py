"""The text that the model hears of an MCP result, and the details that people see.

The text of a result is the texts of its content blocks, each on lines of its own:

- ``text``: the text itself.
- ``image``, ``audio``: ``[image: image/png, 1234 bytes]``. The data is in the details.
- ``resource``: ``[resource: URI, MIME type]`` and the resource's text below it; for data, its size.
- ``resource_link``: ``[resource link: name, URI, MIME type: description]``.
- any other type: ``[content of the type "video", which has no text]``.
- a block that is annotated as meant for the user alone: ``[text for the user, 1234 characters]``, and the like.

``structuredContent`` follows as compact JSON, unless the blocks say the same already: servers repeat it there for
clients that do not know it. Where there is nothing at all, the text is ``(no output)``.

``isError`` makes of the same text an ``EXECUTION_ERROR``, which the model is told of.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from strictcall.json_value import LimitError, equal, excerpt, parse, sound
from strictcall.runtime.output import NOTHING, ErrorCode, Output, RespondToModel, Success, ToolError
from strictcall.runtime.plain_value import text_of

_RESULT: Final = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})
_REQUIRED: Final[Mapping[str, Mapping[str, type]]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": Mapping},
    "resource_link": {"name": str, "uri": str},
}


def is_result(value: Any) -> bool:
    """Whether a value is an MCP ``tools/call`` result: one of the SDK's, or an object of just such keys."""
    if isinstance(value, Mapping):
        content = value.get("content")
        return isinstance(content, list) and value.keys() <= _RESULT and all(map(is_block, content))
    return _is_model(value) and hasattr(value, "content") and hasattr(value, "is_error")


def is_block(value: Any) -> bool:
    """Whether a value is a content block of MCP: one of the SDK's, or an object with what such a block must have."""
    if not isinstance(value, Mapping):
        return _is_model(value) and getattr(value, "type", None) in _REQUIRED
    kind = value.get("type")
    required = _REQUIRED.get(kind) if isinstance(kind, str) else None
    return required is not None and all(isinstance(value.get(key), form) for key, form in required.items())


def result_output(value: Any, details: Any = None) -> Output:
    """The output that a ``tools/call`` result, raw or one of the SDK's, comes to; it is the details if none are given.

    Never raises, whatever a server put into it.
    """
    result = _as_sent(value)
    kept = result if details is None else details
    text = sound(result_text(result))
    if result.get("isError") is True:
        return RespondToModel(ToolError(ErrorCode.EXECUTION_ERROR, text or "the tool failed and did not say why"), kept)
    return Success(text or NOTHING, kept)


def content_output(blocks: Sequence[Any]) -> Output:
    """The output that content blocks come to, raw or the SDK's."""
    return result_output({"content": [_as_sent(block) for block in blocks]})


def _is_model(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in {"mcp", "mcp_types"} and hasattr(value, "model_dump")


def _as_sent(value: Any) -> Mapping[str, Any]:
    """A value as its JSON stands in a message."""
    if isinstance(value, Mapping):
        return value
    sent: Mapping[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return sent


def result_text(result: Mapping[str, Any]) -> str:
    """The text of a raw ``tools/call`` result; empty where it holds nothing."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    lines = [text for block in blocks if (text := block_text(block))]
    structured = result.get("structuredContent")
    if structured is not None and not _is_said(structured, [_own_text(block) for block in blocks]):
        lines.append(text_of(structured))
    return "\n".join(lines)


def block_text(block: Any) -> str:
    """The text form of one content block."""
    if not isinstance(block, Mapping):
        return f"[content that is no block: {excerpt(block)}]"
    kind = block.get("type")
    form = _FORMS.get(kind) if isinstance(kind, str) else None
    if form is None:
        return f"[content of the type {excerpt(kind)}, which has no text]"
    if _is_for_the_user(block):
        return _withheld(block)
    return form(block)


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else ""


def _media(block: Mapping[str, Any]) -> str:
    return _note(block["type"], block.get("mimeType"), _size(block.get("data")))


def _resource(block: Mapping[str, Any]) -> str:
    held = block.get("resource")
    if not isinstance(held, Mapping):
        return "[resource]"
    text = held.get("text")
    if isinstance(text, str):
        return f"{_note('resource', held.get('uri'), held.get('mimeType'))}\n{text}"
    return _note("resource", held.get("uri"), held.get("mimeType"), _size(held.get("blob")))


def _link(block: Mapping[str, Any]) -> str:
    title = block.get("title") or block.get("name")
    note = _note("resource link", title, block.get("uri"), block.get("mimeType"))
    description = block.get("description")
    return f"{note[:-1]}: {description}]" if isinstance(description, str) and description else note


_FORMS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "text": _text,
    "image": _media,
    "audio": _media,
    "resource": _resource,
    "resource_link": _link,
}


def _note(kind: str, *parts: Any) -> str:
    said = ", ".join(part for part in parts if isinstance(part, str) and part)
    return f"[{kind}: {said}]" if said else f"[{kind}]"


def _size(data: Any) -> str | None:
    """How many bytes base64 text stands for."""
    if not isinstance(data, str):
        return None
    try:
        return f"{len(base64.b64decode(data, validate=True))} bytes"
    except (binascii.Error, ValueError):
        return f"{len(data)} characters that are no base64"


def _is_for_the_user(block: Mapping[str, Any]) -> bool:
    """Whether a block says that the model is not who it is meant for."""
    annotations = block.get("annotations")
    audience = annotations.get("audience") if isinstance(annotations, Mapping) else None
    return isinstance(audience, list) and audience == ["user"]


def _withheld(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    length = f", {len(text)} characters" if isinstance(text, str) else ""
    return f"[{block['type']} for the user{length}]"


def _own_text(block: Any) -> str | None:
    """The text of a text block that the model hears; ``None`` for any other block."""
    if not isinstance(block, Mapping) or block.get("type") != "text" or _is_for_the_user(block):
        return None
    return _text(block)


def _is_said(structured: Any, texts: Sequence[str | None]) -> bool:
    """Whether text blocks say what the structured content says.

    As JSON in one block, as the specification asks of servers; or as the official SDKs write a value that is no object:
    ``{"result": value}``, its text, or each item of a list in a block of its own.
    """
    own = [text for text in texts if text is not None]
    if any(_says(text, structured) for text in own):
        return True
    if not isinstance(structured, Mapping) or structured.keys() != {"result"}:
        return False
    value = structured["result"]
    if len(own) == 1 and _says(own[0], value):
        return True
    if isinstance(value, list) and len(value) == len(own):
        return all(_says(text, item) for text, item in zip(own, value, strict=True))
    return value is None and not own


def _says(text: str, value: Any) -> bool:
    if isinstance(value, str) and text == value:
        return True
    try:
        return equal(parse(text), value)
    except (LimitError, RecursionError):
        return False
