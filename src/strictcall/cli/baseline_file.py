"""The file of ``check --baseline``: read before the check, compared with it or written anew after."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from strictcall.change import Verdict
from strictcall.cli.failure import UsageError
from strictcall.cli.output import emit
from strictcall.json_value import LimitError, parse
from strictcall.report.baseline import (
    Baseline,
    BaselineError,
    Comparison,
    baseline_json,
    baseline_of,
    compare,
    read_baseline,
)
from strictcall.report.results import DialectResults


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """A baseline's file with what it holds, and whether it is to be written anew."""

    path: Path
    held: Baseline
    update: bool

    def compared(self, results: Sequence[DialectResults], failing: Collection[Verdict]) -> Comparison:
        """What moved since the baseline was written."""
        return compare(self.held, results, failing)

    def write(self, results: Sequence[DialectResults]) -> None:
        """Write how things stand; dialects that were not checked stay as they were. Raises ``UsageError``."""
        document = baseline_json({**self.held, **baseline_of(results)})
        emit(json.dumps(document, ensure_ascii=False, indent=2) + "\n", self.path)


def open_baseline(path: Path | None, update: bool) -> BaselineFile | None:
    """The baseline of ``--baseline``, or ``None`` without one.

    Raises ``UsageError`` where it cannot be read, unless it is to be written and not there yet.
    """
    if path is None:
        if update:
            raise UsageError("--update-baseline writes the file that --baseline names; name one")
        return None
    try:
        return BaselineFile(path, read_baseline(parse(path.read_bytes())), update)
    except FileNotFoundError:
        if update:
            return BaselineFile(path, {}, update)
        raise UsageError(f"{path}: no such file; --update-baseline makes it") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (LimitError, BaselineError) as error:
        raise UsageError(f"{path}: {error}") from None
