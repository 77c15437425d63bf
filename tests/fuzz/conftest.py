"""Make the targets importable for the test beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
