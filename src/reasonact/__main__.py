"""``python -m reasonact``."""

from __future__ import annotations

import sys

from reasonact.cli import main

if __name__ == "__main__":
    sys.exit(main())
