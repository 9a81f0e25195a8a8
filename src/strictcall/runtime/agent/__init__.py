"""The loop: a model, its calls, their results, until there is an answer."""

from strictcall.agent.agent import Agent
from strictcall.agent.result import EndReason, RunError, RunResult
from strictcall.agent.settings import AgentSettings

__all__ = ["Agent", "AgentSettings", "EndReason", "RunError", "RunResult"]
