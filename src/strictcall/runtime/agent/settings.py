"""What a run of an agent may take."""

from __future__ import annotations

from dataclasses import dataclass, field

from strictcall.errors import SettingsError
from strictcall.runtime.executor import Limits


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What a run may take.

    - ``max_steps``: how often the model is asked in one run.
    - ``max_repairs``: how often in a row the model may be told that nothing of its answer could be used: no call fits
      its tool, or the answer does not fit ``output_type``, or it was cut off.
    - ``limits``: those of running tools. ``run_timeout`` counts from the beginning of the run and holds for asking the
      model as well. What a link says of ``max_parallel_tool_calls`` and ``max_tool_output`` goes before.

    Raises ``SettingsError`` for what is no number, or too low.
    """

    max_steps: int = 50
    max_repairs: int = 3
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, least in (("max_steps", 1), ("max_repairs", 0)):
            number = getattr(self, name)
            if not isinstance(number, int) or number < least:
                raise SettingsError(name, f"must be a whole number, {least} or more, not {number!r}")
        if not isinstance(self.limits, Limits):
            raise SettingsError("limits", f"must be Limits, not {type(self.limits).__name__}")
