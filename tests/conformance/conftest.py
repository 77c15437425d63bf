"""Make the harness importable for the tests beside it."""

import os
import sys
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the oracle fetches nothing over the network
sys.path.insert(0, str(Path(__file__).parent))
