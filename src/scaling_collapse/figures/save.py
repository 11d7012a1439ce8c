"""Writing a figure: PDF, PNG and data, the same bytes for the same figure, and never half of one."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from scaling_collapse.errors import FigureError

CREATOR = "collapse figure"


def save(figure: Figure, data: pd.DataFrame, target: Path, *, title: str, subject: str, key: str = "") -> list[Path]:
    """Write `target` with .pdf, .png and .parquet, and return the three paths.

    `title` and `subject` go into the pictures' metadata, and `key` (what identifies the stage that drew it) into their
    keywords. No time is written, so that the same figure has the same bytes. Raises FigureError where nothing can be
    written; what was there before stays.
    """
    pdf: dict[str, str | None] = {
        "Title": title,
        "Subject": subject,
        "Creator": CREATOR,
        "Producer": None,
        "CreationDate": None,
    }
    png = {"Title": title, "Description": subject, "Software": CREATOR}
    if key:
        pdf["Keywords"], png["Comment"] = key, key
    writers: dict[str, Callable[[Path], None]] = {
        ".parquet": lambda path: data.to_parquet(path, index=False),
        ".png": lambda path: figure.savefig(path, format="png", metadata=png),
        ".pdf": lambda path: figure.savefig(path, format="pdf", metadata=pdf),
    }
    temporary = {suffix: target.with_name(f".{target.name}.{os.getpid()}{suffix}") for suffix in writers}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        figure.draw_without_rendering()  # lays the panels out, once for both pictures
        figure.set_layout_engine("none")
        for suffix, write in writers.items():
            write(temporary[suffix])
        for suffix, path in temporary.items():
            os.replace(path, target.with_name(target.name + suffix))
    except OSError as error:
        fix = "free some space, or make the folder writable"
        raise FigureError(str(target.parent), f"the figure could not be written: {error.strerror}.", fix) from error
    finally:
        for path in temporary.values():
            with suppress(OSError):  # gone already, or there was no folder to write into
                path.unlink()
    return [target.with_name(target.name + suffix) for suffix in (".pdf", ".png", ".parquet")]
