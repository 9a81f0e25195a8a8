"""What all tests share: Hypothesis profiles, the place of the big data, how wide the costly tests run, and no TLS.

``HYPOTHESIS_PROFILE=deep`` runs the laws over many fresh examples; the default is small and always the same.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

CHECKS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "default", max_examples=80, derandomize=True, deadline=None, database=None, suppress_health_check=CHECKS
)
settings.register_profile("deep", max_examples=3_000, deadline=None, suppress_health_check=CHECKS)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# No test talks TLS, but every HTTP client reads all authorities of the machine when it is made: 50 ms for each client.
os.environ["SSL_CERT_FILE"] = str(TESTS / "data" / "authority.pem")

DATA = TESTS.parents[1] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of the big data; the test is skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"the big data is not here: {DATA.name} is looked for in ../shared beside the project")
    return DATA
