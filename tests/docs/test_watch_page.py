"""docs/watch.md and docs/alarm.md name what the commands have, and their Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from scaling_collapse.cli.app import load
from scaling_collapse.cli.on_alarm import variables
from scaling_collapse.diagnose.alarm import Alarm, Kind
from scaling_collapse.diagnose.family_check import FamilyCheck
from tests.house.files import ROOT
from tests.unit.curves.support import curve
from tests.unit.diagnose.support import after, course, noisy

WATCH, ALARM = ((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("watch", "alarm"))
AN_ALARM = Alarm("a", "spike", 1, None, False, (1, 1), 1, "")


def test_every_option_of_watch_is_on_the_page() -> None:
    options = [option for parameter in load("watch").params for option in parameter.opts if option.startswith("--")]
    assert len(options) > 10
    assert [option for option in options if f"`{option}" not in WATCH and f"({option}" not in WATCH] == []


def test_variables_and_json_keys_are_on_the_page() -> None:
    names = [name.removeprefix("COLLAPSE") for name in variables(AN_ALARM, Path("x"))]
    assert [name for name in names if f"{name}`" not in WATCH] == []
    keys = [f'"{key}"' for key in AN_ALARM.as_json()]
    assert ", ".join(keys) in WATCH
    check = FamilyCheck((), 1, 1, 1, "", 1, True, (), (), 1, 1, ()).as_json()
    assert " ".join(WATCH.split()).find(f"{{{', '.join(check)}}}") > 0


def test_every_kind_of_alarm_is_on_the_page() -> None:
    assert [kind for kind in get_args(Kind) if f"`{kind}`" not in ALARM] == []


def test_the_python_on_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", ALARM, re.M | re.S)
    t_hat, rng = np.arange(1, 5001) / 5000, np.random.default_rng(0)
    faulty = noisy(rng, course(t_hat) * after(t_hat, 0.6, 0.1))
    given = {"finished_curve": curve(noisy(rng, course(t_hat)), "other"), "losses": list(enumerate(faulty, 1))}
    exec(compile(block, "alarm.md", "exec"), given)
    kind, onset = capsys.readouterr().out.splitlines()[0].split()[:2]
    assert kind == "drift"
    assert int(onset) == pytest.approx(3000, abs=200)
