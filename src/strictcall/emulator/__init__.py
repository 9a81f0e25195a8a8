"""A local endpoint as strict as a provider's, to test against."""

from strictcall.emulator.app import create_app
from strictcall.emulator.settings import Settings

__all__ = ["Settings", "create_app"]
