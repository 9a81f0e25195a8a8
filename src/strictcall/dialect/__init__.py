"""What a provider's strict decoder accepts, as data, and the judge that reads it."""

from strictcall.dialect.judge import judge, judge_description, judge_name, judge_request
from strictcall.dialect.measure import measure
from strictcall.dialect.model import Dialect, State, Violation
from strictcall.dialect.registry import dialects, load, read

__all__ = [
    "Dialect",
    "State",
    "Violation",
    "dialects",
    "judge",
    "judge_description",
    "judge_name",
    "judge_request",
    "load",
    "measure",
    "read",
]
