"""Agents on links to emulators, and what their tests share."""

from __future__ import annotations

from link.asking import HASTY
from link.linked import both_loops, link
from strictcall.link.inference import FixedLinks
from strictcall.link.resolved import Retries
from strictcall.runtime.agent import Agent, AgentSettings

__all__ = ["both_loops", "call", "calls_then", "on", "results_of", "said"]


def call(name, /, **arguments):
    """A reply that makes one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def calls_then(*replies, text="Done."):
    """A script: these replies, then a text."""
    return {"replies": [*replies, {"text": text}]}


def on(endpoint, tools=(), output_type=None, *, api="chat_completions", fields=None, attempts=1, settings=None, **more):
    """An agent on a strict link to an endpoint; ``settings`` are fields of ``AgentSettings``."""
    return Agent(
        None,
        tools,
        output_type,
        links=FixedLinks([link(endpoint, api, **(fields or {}))], Retries(attempts=attempts)),
        settings=AgentSettings(**(settings or {})),
        habits=HASTY,
        **more,
    )


def said(body):
    """The messages of a request that stand for tools' results."""
    return [message["content"] for message in body["messages"] if message["role"] == "tool"]


def results_of(progress):
    """The texts that the model was told of calls."""
    from strictcall.link.turns import Results

    return [output for turn in progress.messages if isinstance(turn, Results) for output in turn.outputs]
