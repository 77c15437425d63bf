"""What every test starts from: no network for price lists, and no cache but its own."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

from hypothesis import settings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# The LM's disk cache would answer the second run of a test from the first one's.
os.environ["REASONACT_CACHEDIR"] = tempfile.mkdtemp(prefix="reasonact-tests-")
atexit.register(shutil.rmtree, os.environ["REASONACT_CACHEDIR"], ignore_errors=True)

# Started in the background, a shell lets its children ignore Ctrl-C; the tests of it need the usual handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A run of the suite says of a commit always the same. To look for new cases: HYPOTHESIS_PROFILE=search.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
