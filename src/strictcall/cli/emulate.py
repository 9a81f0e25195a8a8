"""``strictcall emulate``: a local endpoint as strict as a provider's, to test against."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from strictcall.cli.output import emit
from strictcall.cli.serving import need, serve_until_stopped


def emulate(
    *,
    dialect: Annotated[
        str | None,
        typer.Option(metavar="D", help="Judge every request by it. [default: each API by its own provider's]"),
    ] = None,
    host: Annotated[str, typer.Option(metavar="HOST", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answers to the same requests.")] = 0,
    script: Annotated[
        Path | None, typer.Option(metavar="FILE", help="YAML: exact replies for a conversation.", show_default=False)
    ] = None,
    answers: Annotated[
        Literal["random", "sensible", "obedient", "scripted"] | None,
        typer.Option(
            help="Any legal answer; one that reads the user's words; one that makes the calls they write out, legal or "
            "not; or what the script says and nothing else. "
            "[default: scripted with a script, else random]",
        ),
    ] = None,
    style: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Chat Completions as from an open model whose server parses no calls: they are text, in this format "
            "(hermes, qwen3_coder, mistral, …).",
            show_default=False,
        ),
    ] = None,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="What goes wrong; may be given several times.")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, help="How often a fault strikes, and a loose call breaks its schema. [default: 1 and 0.3]"
        ),
    ] = None,
    delay: Annotated[float, typer.Option(metavar="SECONDS", help="How long a slow first byte or a stall lasts.")] = 5.0,
    api_key: Annotated[
        str | None,
        typer.Option(envvar="STRICTCALL_EMULATE_KEY", metavar="KEY", help="Refuse every other key.", show_envvar=True),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The only models there are. [default: any name]")
    ] = None,
    faults: Annotated[bool, typer.Option("--list-faults", help="List the kinds of faults and stop.")] = False,
) -> None:
    """Serve OpenAI's, Anthropic's and Google's APIs on this machine, as strict as they are.

    Chat Completions, Responses, Messages and generateContent, whole and streamed. Nothing is sent anywhere.
    """
    need("emulator", "llguidance", "starlette", "uvicorn")
    from strictcall.emulator.faults import FAULTS  # noqa: PLC0415 - heavy, and needed by this command only

    if faults:
        emit("".join(f"{name:18} {kind.summary}\n" for name, kind in FAULTS.items()))
        return
    from strictcall.emulator.app import create_app  # noqa: PLC0415
    from strictcall.emulator.script import read_script  # noqa: PLC0415
    from strictcall.emulator.settings import Settings  # noqa: PLC0415

    settings = Settings(
        dialect=dialect,
        seed=seed,
        script=None if script is None else read_script(script),
        answers=answers or ("random" if script is None else "scripted"),
        faults=tuple(fault or ()),
        delay=delay,
        api_key=api_key,
        models=tuple(model or ()),
        fault_rate=1.0 if rate is None else rate,
        loose_rate=0.3 if rate is None else rate,
        style=style,
    )
    rules = "each API's own provider" if settings.dialect is None else settings.dialect
    serve_until_stopped(create_app(settings), host, port, f"strictcall emulate: {{}}/v1 (rules of {rules})")
