"""What a checkpoint belongs to: the run's specification, the corpus, the numerical code and torch's version.

Execution (threads, ranks, micro-batches, intervals) is no part of it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import scaling_collapse
from scaling_collapse.identity.meaning import meaning
from scaling_collapse.plan.run import Run

#: Source files, relative to the package, whose change can change a run's numbers in mid-course.
NUMERICAL_CODE = (
    "model/*.py",
    "optim/*.py",
    "corpus/sampler.py",
    "corpus/permutation.py",
    "train/step.py",
    "train/held_out.py",
)
#: What each key of an identity is called in a message.
NAMES = {
    "run": "the run's specification",
    "corpus": "the corpus",
    "code": "the code of model, optimiser or sampler",
    "torch": "torch's version",
}


def identity_of(run: Run, corpus_folder: Path) -> dict[str, str]:
    """Return the identity of a run on a corpus, as hashes (SHA-256) and torch's version."""
    import torch

    specification = run.model_dump_json(exclude={"run_id", "groups"})
    return {
        "run": hashlib.sha256(specification.encode()).hexdigest(),
        "corpus": hashlib.sha256((corpus_folder / "corpus.json").read_bytes()).hexdigest(),
        "code": code_fingerprint(Path(scaling_collapse.__file__).parent),
        "torch": torch.__version__,
    }


def code_fingerprint(package: Path) -> str:
    """Hash the syntax trees of the numerical code, so that comments, docstrings and layout do not matter."""
    digest = hashlib.sha256()
    for pattern in NUMERICAL_CODE:
        for path in sorted(package.glob(pattern)):
            digest.update(f"{path.relative_to(package)}\n{meaning(path.read_text(encoding='utf-8'))}\n".encode())
    return digest.hexdigest()


def difference(old: dict[str, str], new: dict[str, str]) -> str:
    """Return what differs between two identities, in words; empty if nothing does."""
    return " and ".join(name for key, name in NAMES.items() if old.get(key) != new.get(key))
