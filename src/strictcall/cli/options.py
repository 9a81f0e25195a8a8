"""Options that several commands share; the policy's are made from the policy itself."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from strictcall.dialect.model import Dialect
from strictcall.dialect.registry import load
from strictcall.policy import Policy, policy_values

DEFAULT_DIALECT = "openai"

DialectOption = Annotated[
    str, typer.Option("--dialect", metavar="D", help="The provider's schema dialect; `strictcall dialects` lists them.")
]
ToolOption = Annotated[
    str | None, typer.Option("--tool", metavar="N", help="The tool's name; needed where the source has several.")
]

POLICY_HELP = {
    "fidelity": "With `exact`, a tool that needs the local check for more than the encoding itself is loose.",
    "open_objects": "Objects that are open by omission: closed, kept open, or a reason to be loose.",
    "free_form": "Values of any kind: a tree of JSON where the dialect recurses, JSON text, or a reason to be loose.",
    "nulls": "Optionals that also admit null: folded where their default is null, always folded, or kept apart.",
    "implied_types": "Read a schema with `properties` and no `type` as an object, and so on.",
    "formats": "Whether the local check asserts `format`.",
    "hints": "Say in the description what the wire schema does not hold.",
}


def with_policy(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for each field of ``Policy``, and the policy that they make as ``policy``."""
    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for parameter in signature.parameters.values() if parameter.name != "policy"]
    hints = get_type_hints(Policy)
    flags = [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=values[0],
            annotation=Annotated[hints[field], typer.Option(help=POLICY_HELP[field], rich_help_panel="Policy")],
        )
        for field, values in policy_values().items()
    ]

    @functools.wraps(command)
    def with_flags(**given: Any) -> None:
        fields = {field: given.pop(field) for field in policy_values()}
        command(policy=Policy(**fields), **given)

    with_flags.__signature__ = signature.replace(parameters=[*kept, *flags])  # type: ignore[attr-defined]
    with_flags.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *flags]}
    return with_flags


def dialects_of(names: list[str]) -> list[Dialect]:
    """The dialects of these names, each once. Raises ``DialectError`` for one that is unknown."""
    return [load(name) for name in dict.fromkeys(names)]
