"""``import torch`` in a process that a traced script starts afresh (``multiprocessing``'s spawn): the engine's torch.

Such a process gets the parent's ``sys.path`` and none of its import hooks; ``install_torch`` puts this folder on the
path. What the process does is not part of the parent's trace.
"""

import os
import sys

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
if _ROOT not in sys.path:  # the tracer was run from its own folder, not installed
    sys.path.append(_ROOT)

from engine.importer import install_torch  # noqa: E402

del sys.modules[__name__]
install_torch()
import torch  # noqa: E402, F401
