"""How much of an output the model is given: its head and its tail, with a notice of what is left out."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from strictcall.errors import SettingsError
from strictcall.runtime.output import ErrorCode, Fatal, Output, RespondToModel, Success, ToolError

_SMALLEST: Final = 200
_LINE_SOUGHT: Final = 200
"""How far before a cut the end of a line is looked for, and after it the beginning of one."""
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+")


class Spill:
    """A private directory for outputs that were cut: made when it is first needed, its files readable by their owner
    alone.

    ``within`` is where it is made, else where the system keeps temporary files. The files stay until ``close``, or the
    end of a ``with`` block.
    """

    def __init__(self, within: Path | None = None) -> None:
        self._within = within
        self._lock = threading.Lock()
        self._directory: Path | None = None
        self._written = 0

    @property
    def directory(self) -> Path | None:
        """Where the files are; ``None`` while there are none."""
        return self._directory

    def write(self, name: str, text: str) -> Path:
        """Write a text to a new file, with ``name`` in the file's. Raises ``OSError``."""
        with self._lock:
            if self._directory is None:
                # Only its owner may enter it: that is how mkdtemp makes one.
                self._directory = Path(tempfile.mkdtemp(prefix="strictcall-", dir=self._within))
            self._written += 1
            path = self._directory / f"{self._written:04}-{_NOT_IN_A_NAME.sub('_', name)[:60]}.txt"
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(text)
        return path

    def close(self) -> None:
        """Remove the directory with all that is in it."""
        with self._lock:
            if self._directory is not None:
                shutil.rmtree(self._directory, ignore_errors=True)
                self._directory = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Fitted:
    """An output as the model gets it, the whole text where it was cut, and the file that holds that instead."""

    output: Output
    whole: str | None = None
    file: Path | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """How many characters of a text the model gets: ``head`` of them, as a share, from its beginning, the others from
    its end.

    With ``spill`` the whole text is written to a file, and the model is told which; without, the event holds it. Of an
    output of more than ``most`` characters nothing is kept: it becomes OUTPUT_TOO_LARGE.

    Raises ``SettingsError`` for fewer than 200 characters, a ``most`` below them, and a share outside of 0 to 1.
    """

    characters: int = 16_000
    head: float = 0.5
    most: int = 16_000_000
    spill: Spill | None = None

    def __post_init__(self) -> None:
        if self.characters < _SMALLEST:
            raise SettingsError("characters", f"must be at least {_SMALLEST}, not {self.characters}")
        if self.most < self.characters:
            raise SettingsError("most", f"must be at least the {self.characters} characters that the model gets")
        if not 0 <= self.head <= 1:
            raise SettingsError("head", f"must be a share from 0 to 1, not {self.head!r}")

    def of(self, characters: int) -> Budget:
        """This budget with another number of characters, raised to the fewest that one may have."""
        characters = max(_SMALLEST, characters)
        return dataclasses.replace(self, characters=characters, most=max(self.most, characters))

    def fit(self, output: Output, name: str) -> Fitted:
        """An output cut to what the model gets. ``name`` is the tool's, for the file.

        Never raises: where the file cannot be written, the event holds the text.
        """
        if isinstance(output, Fatal):
            return Fitted(output)
        if isinstance(output, Success) and len(output.notice or "") > self.characters:
            output = dataclasses.replace(output, notice=f"{output.notice:.{self.characters - 1}}…")
        text = output.text if isinstance(output, Success) else output.error.message
        if len(text) <= self.characters:
            return Fitted(output)
        if len(text) > self.most:
            return Fitted(self._too_large(output, len(text)))
        kept, left_out = self._cut(text)
        if isinstance(output, RespondToModel):
            return Fitted(dataclasses.replace(output, error=ToolError(output.error.code, kept)), text)
        file = self._spilled(name, text)
        notice = f"{left_out:,} of {len(text):,} characters are left out"
        notice += f"; all of them are in the file {file}" if file else ""
        notice = f"{output.notice}; {notice}" if output.notice else notice
        return Fitted(
            dataclasses.replace(output, text=kept, notice=notice, truncated=True), None if file else text, file
        )

    def _too_large(self, output: Success | RespondToModel, length: int) -> RespondToModel:
        message = (
            f"the tool's output has {length:,} characters, of which at most {self.most:,} can be kept; "
            "ask for less of it at a time"
        )
        return RespondToModel(ToolError(ErrorCode.OUTPUT_TOO_LARGE, message), output.details)

    def _cut(self, text: str) -> tuple[str, int]:
        """The head and the tail of a text with a mark between them, and how many characters are left out."""
        room = self.characters - len(_mark(len(text)))
        begin = int(room * self.head)
        end = len(text) - (room - begin)
        line_end = text.rfind("\n", max(0, begin - _LINE_SOUGHT), begin)
        begin = line_end if line_end > 0 else begin
        line_begin = text.find("\n", end, end + _LINE_SOUGHT)
        end = line_begin + 1 if line_begin >= 0 else end
        return text[:begin] + _mark(end - begin) + text[end:], end - begin

    def _spilled(self, name: str, text: str) -> Path | None:
        if self.spill is None:
            return None
        try:
            return self.spill.write(name, text)
        except OSError:
            return None


def _mark(left_out: int) -> str:
    return f"\n[… {left_out:,} characters left out …]\n"
