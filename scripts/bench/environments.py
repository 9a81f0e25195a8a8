"""A virtual environment for each peer, in a cache directory of the project that git ignores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".bench"
DATA = ROOT.parent / "shared" / "data"
INSTALL_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a peer runs: ``python`` is its interpreter; ``version`` is what was installed."""

    name: str
    version: str
    python: Path


class AbsentError(Exception):
    """A peer cannot be measured here; the text is the reason, in one line."""


def environment(name: str, requirements: tuple[str, ...], cache: Path = CACHE) -> Environment:
    """The environment of one peer, made and filled at the first call. Its first requirement is the peer itself.

    ``cache`` is the folder that holds it. Raises ``AbsentError`` with the reason where it cannot be installed.
    """
    folder = cache / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    ready = folder / ".ready"
    wanted = "\n".join(requirements)
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        print(f"installing {', '.join(requirements)} in {folder.relative_to(ROOT)}", file=sys.stderr)
        venv.create(folder, with_pip=True, clear=True)
        _install(python, requirements)
        ready.write_text(wanted, encoding="utf-8")
    return Environment(name, _version(python, requirements[0]), python)


def _install(python: Path, requirements: tuple[str, ...]) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise AbsentError(f"pip did not finish in {INSTALL_SECONDS} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise AbsentError(f"pip: {lines[-1][:160] if lines else 'failed without a word'}")


def _version(python: Path, requirement: str) -> str:
    distribution = requirement.partition("[")[0]
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or "unknown version"


def ask(python: Path, worker: str | Path, question: Any, seconds: float = 600, path: Path | None = None) -> Any:
    """What a worker answers, run by ``python``: JSON on its standard input, JSON on its output.

    ``worker`` is the name of a file beside this one, or a path.

    ``path`` goes in front of the worker's import path. Raises ``AbsentError`` where the worker fails as a whole.
    """
    command = [str(python), str(Path(__file__).parent / worker)]
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    if path is not None:
        variables["PYTHONPATH"] = str(path)
    text = json.dumps(question)
    try:
        done = subprocess.run(  # noqa: S603
            command, input=text, capture_output=True, text=True, timeout=seconds, env=variables, check=False
        )
    except subprocess.TimeoutExpired:
        raise AbsentError(f"no answer in {seconds:.0f} s") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise AbsentError(lines[-1][:200] if lines else f"exit code {done.returncode}")
    return json.loads(done.stdout)
