"""What every test starts from: no network for price lists, and no cache but its own."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# The LM's disk cache would answer the second run of a test from the first one's.
os.environ["REASONACT_CACHEDIR"] = tempfile.mkdtemp(prefix="reasonact-tests-")
atexit.register(shutil.rmtree, os.environ["REASONACT_CACHEDIR"], ignore_errors=True)
