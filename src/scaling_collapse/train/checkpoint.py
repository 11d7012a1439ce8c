"""Checkpoints: one safetensors file each, written atomically, checked by checksum, no pickle.

A file holds the weights and AdamW's moments as tensors, and one JSON object in its header: step, seconds trained so
far, the run's identity, the CRC-32 of the tensors and that of the header itself. The newest `KEPT` files stay, so that
a damaged one can be passed over.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from scaling_collapse.train.files import write_atomically

#: Checkpoints that are kept: the newest and the one to fall back to.
KEPT = 2
#: How the names of weights start, among a checkpoint's tensors.
WEIGHTS = "weights."
#: Header key of the one JSON object. A single key, because the order of several is not reproducible.
HEADER = "scaling_collapse"


class DamagedCheckpointError(Exception):
    """A checkpoint file cannot be read or its checksum is wrong."""


@dataclass(frozen=True)
class Header:
    """What a checkpoint says about itself."""

    step: int
    seconds: float
    identity: dict[str, str]
    checksum: int


def state_tensors(decoder: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Everything that decides the run's next steps, as live tensors by name; creates AdamW's moments if absent."""
    tensors = {f"{WEIGHTS}{name}": parameter.detach() for name, parameter in decoder.named_parameters()}
    for name, parameter in decoder.named_parameters():
        state = optimizer.state[parameter]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32, device=parameter.device)
            state["exp_avg"] = torch.zeros_like(parameter)
            state["exp_avg_sq"] = torch.zeros_like(parameter)
        tensors |= {f"adamw.{key}.{name}": state[key] for key in ("step", "exp_avg", "exp_avg_sq")}
    return tensors


def save_tensors(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and one JSON header to a safetensors file, atomically. Raises RunError if that fails."""

    def write(temporary: Path) -> None:
        contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
        try:
            save_file(contiguous, temporary, {HEADER: json.dumps(header)})
        except SafetensorError as error:  # how the library reports a full disk
            raise OSError(None, str(error)) from error

    write_atomically(path, write)


def save_checkpoint(
    folder: Path, tensors: Mapping[str, Tensor], step: int, seconds: float, identity: dict[str, str]
) -> None:
    """Write the checkpoint of `step` and delete all but the newest two."""
    header = Header(step, seconds, identity, _checksum(tensors))
    path = folder / f"step-{step:09d}.safetensors"
    save_tensors(path, tensors, {**asdict(header), "header_checksum": _text_checksum(asdict(header))})
    for old in newest_first(folder)[KEPT:]:
        old.unlink(missing_ok=True)


def newest_first(folder: Path) -> list[Path]:
    """All complete checkpoint files of a folder."""
    return sorted(folder.glob("step-*.safetensors"), reverse=True)


def read_header(path: Path) -> Header:
    """Read what a checkpoint says about itself. Raises DamagedCheckpointError."""
    try:
        with safe_open(path, "pt") as file:
            content = json.loads(file.metadata()[HEADER])
        if content.pop("header_checksum") != _text_checksum(content):
            raise DamagedCheckpointError("its header's checksum is wrong")
        return Header(**content)
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise DamagedCheckpointError(str(error)) from error


def restore(path: Path, header: Header, tensors: Mapping[str, Tensor]) -> None:
    """Overwrite the live tensors with a checkpoint's. Raises DamagedCheckpointError before anything is overwritten."""
    try:
        with safe_open(path, "pt") as file:
            stored = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError) as error:
        raise DamagedCheckpointError(str(error)) from error
    if _shapes(stored) != _shapes(tensors):
        raise DamagedCheckpointError("its tensors are not the run's")
    if _checksum(stored) != header.checksum:
        raise DamagedCheckpointError("its checksum is wrong")
    for name, tensor in tensors.items():
        tensor.copy_(stored[name])


def _text_checksum(content: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _checksum(tensors: Mapping[str, Tensor]) -> int:
    """CRC-32 of the tensors' bytes, in the order of their names."""
    checksum = 0
    for name in sorted(tensors):
        flat = tensors[name].cpu().contiguous().view(-1)
        checksum = zlib.crc32(flat.view(torch.uint8).numpy().data, checksum)
    return checksum


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (tensor.shape, tensor.dtype) for name, tensor in tensors.items()}
