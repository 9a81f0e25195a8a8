"""Converts schemas with one converter, in the converter's own environment: what came of each, as JSON.

Reads ``{"converter": name, "schemas": [...]}``; writes one outcome a schema: ``status`` is ``converted``, ``refused``,
``crashed`` or ``hung``.
"""

from __future__ import annotations

import json
import logging
import resource
import signal
import sys
from typing import Any

from converters import MAKERS, Converter, RefusedError

SECONDS = 20
MEMORY = 6 * 1024**3
DELIBERATE = (ValueError, NotImplementedError, RefusedError)
"""What a library raises on purpose, besides its own errors; subclasses such as ``UnicodeError`` do not count."""


class HungError(BaseException):
    """A converter did not answer in time. Not an ``Exception``: a converter that catches those must not catch this."""


def on_alarm(signum: int, frame: Any) -> None:
    """End a conversion that takes too long."""
    raise HungError


def outcome(convert: Converter, schema: Any, library: str) -> dict[str, Any]:
    """What came of one schema."""
    before = json.dumps(schema)
    signal.alarm(SECONDS)
    try:
        converted, strict = convert(schema)
        text = json.dumps(converted)
    except HungError:
        return {"status": "hung", "message": f"no answer in {SECONDS} s"}
    except Exception as error:  # noqa: BLE001 - every exception is an outcome
        own = type(error).__module__.split(".")[0] == library
        kind = "refused" if own or type(error) in DELIBERATE else "crashed"
        return {"status": kind, "message": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.alarm(0)
    changed = json.dumps(schema) != before
    return {"status": "converted", "strict": bool(strict), "schema": json.loads(text), "changed_input": changed}


def main() -> None:
    """Answer one question."""
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, on_alarm)
    question = json.load(sys.stdin)
    convert = MAKERS[question["converter"]]()
    found = [outcome(convert, schema, question["library"]) for schema in question["schemas"]]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
