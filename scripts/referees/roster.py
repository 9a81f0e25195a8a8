"""The referees: where each is installed, which dialects' wire schemas it is shown, and what it is known to have wrong.

An exception names a referee, a rule of it, and the dialects where it holds; never a schema. It is made where the
referee is older than the provider's rules, has a fault of its own, or speaks for an engine that the dialect lacks.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from environments import AbsentError, environment

OPENAI = ("openai", "openai-finetuned", "azure-openai")
LIKE_OPENAI = ("cerebras", "deepseek", "groq", "inception", "openrouter", "qwen", "together")
ANTHROPIC = ("anthropic", "bedrock-anthropic")
XGRAMMAR = ("vllm", "sglang", "tensorrt-llm")
"""Engines whose grammar backend is xgrammar by default and llguidance by choice or in its place."""
LLGUIDANCE = ("json_schema", "mistral", "fireworks")
"""Modelled on llguidance, served by it in the open engine, and not published."""
LLAMA = ("llama.cpp", "lmstudio", "localai", "ollama")
"""A converter of its own, or llguidance where it was built in."""
FIVE_LEVELS = ("azure-openai", "cerebras")
"""Dialects where five levels of nesting are in force."""


@dataclass(frozen=True, slots=True)
class Referee:
    """A library that judges. ``name`` is its name in ``worker``, ``asks`` what it is asked.

    ``bare`` are requirements that are installed without what they depend on. ``seconds`` is the time for one schema.
    """

    name: str
    asks: str
    dialects: tuple[str, ...]
    requirements: tuple[str, ...]
    module: str
    bare: tuple[str, ...] = ()
    seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a referee may refuse: a rule, ``*`` standing for any characters, under these dialects, and why."""

    referee: str
    rule: str
    dialects: tuple[str, ...]
    reason: str


REFEREES = (
    Referee(
        "mcp-strict-check-openai",
        "no hard rejection on the axes of MCP and OpenAI",
        OPENAI + LIKE_OPENAI,
        ("mcp-strict-check",),
        "mcp_strict_check",
    ),
    Referee(
        "mcp-strict-check-anthropic",
        "no hard rejection on the axes of MCP and Anthropic, the limits of a request with this one tool among them",
        ANTHROPIC,
        ("mcp-strict-check",),
        "mcp_strict_check",
    ),
    Referee(
        "anthropic",
        "`transform_schema` gives a schema that accepts the same values",
        ANTHROPIC,
        ("anthropic",),
        "anthropic",
    ),
    Referee(
        "openai-agents",
        "`ensure_strict_json_schema` neither raises nor changes a character",
        OPENAI + LIKE_OPENAI,
        ("openai-agents",),
        "agents",
    ),
    Referee(
        "pydantic-ai",
        "`is_strict_compatible` by the transformer that OpenAI's models have and by the one that others have",
        OPENAI + LIKE_OPENAI,
        ("pydantic-ai-slim[openai]",),
        "pydantic_ai",
    ),
    Referee(
        "llguidance",
        "the grammar compiles without a warning and gives a first mask",
        LLGUIDANCE + XGRAMMAR + LLAMA + OPENAI + ANTHROPIC,
        ("llguidance", "numpy"),
        "llguidance",
    ),
    Referee(
        "xgrammar",
        "the grammar compiles without a warning, in a process that is killed after 60 s for one schema",
        XGRAMMAR + LLGUIDANCE + LLAMA,
        ("apache-tvm-ffi", "numpy", "pydantic"),
        "xgrammar",
        bare=("xgrammar",),
        seconds=60.0,
    ),
)

NOT_ITS_ENGINE = "the engine of these dialects is another; xgrammar passes over what they hold"
ALLOWANCES = (
    Allowance(
        "mcp-strict-check-openai",
        "B6-too-deep:*",
        tuple(name for name in OPENAI + LIKE_OPENAI if name not in FIVE_LEVELS),
        "it has OpenAI's ceiling of 2024, five levels; the guide prints ten since 2025",
    ),
    Allowance(
        "mcp-strict-check-openai",
        "B6-too-deep:6",
        FIVE_LEVELS,
        "it counts a scalar as a level; no page says so, and ours counts objects and arrays",
    ),
    Allowance(
        "mcp-strict-check-openai",
        "B6-too-many-properties:*",
        tuple(name for name in OPENAI + LIKE_OPENAI if name not in FIVE_LEVELS),
        "it has OpenAI's ceiling of 2024, 100 properties; the guide prints 5,000 since 2025",
    ),
    Allowance(
        "anthropic",
        "type-list-asserts",
        ANTHROPIC,
        "a fault of the SDK (anthropic-sdk-python#1876): it fails on a list of types, which the API takes; the schema "
        "is then judged with each list written as anyOf",
    ),
    Allowance(
        "anthropic",
        "pattern-moved",
        ANTHROPIC,
        "the SDK is behind the API, whose page lists pattern as held; all else must be the same",
    ),
    Allowance(
        "openai-agents",
        "null-default-dropped",
        ("deepseek",),
        "DeepSeek's guide has default; the check knows OpenAI's rules only",
    ),
    Allowance(
        "pydantic-ai",
        "default-kept",
        ("deepseek",),
        "DeepSeek's guide has default; the check knows OpenAI's rules only",
    ),
    Allowance(
        "llguidance",
        "Unknown format: *",
        LLAMA,
        "their own converter passes over formats that it does not know; they stay for the model to read",
    ),
    Allowance("xgrammar", "warning: *", LLGUIDANCE + LLAMA, NOT_ITS_ENGINE),
)


def allowance(referee: str, rule: str, dialect: str) -> Allowance | None:
    """The exception that covers a refusal, if one does."""
    for known in ALLOWANCES:
        if known.referee == referee and dialect in known.dialects and _matches(known.rule, rule):
            return known
    return None


def _matches(wanted: str, rule: str) -> bool:
    return fnmatch.fnmatchcase(rule, wanted.replace("[", "[[]"))


def interpreter(referee: Referee) -> Path:
    """A Python that has the referee: this one, or that of an environment made for it.

    Raises ``AbsentError`` with the reason where it cannot be installed.
    """
    if importlib.util.find_spec(referee.module) is not None:
        return Path(sys.executable)
    folder = referee.name if referee.bare else referee.requirements[0].partition("[")[0]
    python = environment(folder.removesuffix("-slim"), referee.requirements).python
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({referee.module!r}) is None)"
    if referee.bare and subprocess.run([str(python), "-c", probe], check=False).returncode:  # noqa: S603
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        done = subprocess.run([*command, *referee.bare], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise AbsentError(f"pip: {done.stderr.strip().splitlines()[-1][:160]}")
    return python
