"""``python -m tracer``."""

import os
import sys

# python -m puts the working directory first: an engine.py of the user's there is not the package that is meant
_root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _root)
import engine  # noqa: E402, F401
import traces  # noqa: E402, F401
from tracer.cli import main  # noqa: E402

sys.path.remove(_root)

if __name__ == "__main__":
    sys.exit(main())
