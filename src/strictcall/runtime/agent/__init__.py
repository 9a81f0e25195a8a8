"""The loop: a model, its calls, their results, until there is an answer."""

from strictcall.runtime.agent.agent import Agent
from strictcall.runtime.agent.result import EndReason, RunError, RunResult
from strictcall.runtime.agent.settings import AgentSettings

__all__ = ["Agent", "AgentSettings", "EndReason", "RunError", "RunResult"]
