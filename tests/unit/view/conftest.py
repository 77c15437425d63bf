"""Hand-made runs for the views, and the module that makes them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
