"""The surroundings in which the pipeline's commands run."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def use_own_commands() -> None:
    """Make `collapse` mean the one beside this Python, also where its environment was not activated."""
    own = str(Path(sys.executable).parent)
    others = [path for path in os.environ.get("PATH", os.defpath).split(os.pathsep) if path != own]
    os.environ["PATH"] = os.pathsep.join([own, *others])
