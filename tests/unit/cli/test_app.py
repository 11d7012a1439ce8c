from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from scaling_collapse import __version__
from scaling_collapse.cli import app, registry
from scaling_collapse.cli.app import main
from scaling_collapse.errors import RunError


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Registers a function as the command `probe`, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def register(function) -> None:
        monkeypatch.setattr(registry.Entry, "load", lambda entry: function)
        monkeypatch.setitem(registry.COMMANDS, "probe", registry.Entry("none:none", "Probe."))

    return register


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in registry.COMMANDS)
    assert main([]) == 0
    assert capsys.readouterr().out == out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"collapse {__version__}\n"


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (["plann"], ["'plann'", "Did you mean 'plan'?", "collapse --help"]),
        (["plan", "--sclae", "cpu"], ["--sclae", "collapse plan --help"]),
        (["plan", "--scale"], ["--scale"]),
        (["why", "a", "extra"], ["extra"]),
        (["plan", "--json", "--csv"], ["choose one of --json and --csv"]),
        (["plan", "--scale", "nowhere"], ["config/scale/nowhere.yaml", "unknown scale 'nowhere'"]),
        (["config", "chek"], ["'chek'", "Did you mean 'check'?"]),
        (["--scale", "cpu"], ["--scale"]),
    ],
)
def test_wrong_command_lines_are_one_line_and_exit_2(
    words: list[str], fragments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    for fragment in fragments:
        assert fragment in captured.err
    assert list(tmp_path.iterdir()) == []


def test_faults_of_the_user_show_where_problem_and_fix(command, capsys: pytest.CaptureFixture[str]) -> None:
    def probe() -> None:
        raise RunError("run x", "is\nbroken", "mend it")

    command(probe)
    assert main(["probe"]) == 2
    assert capsys.readouterr().err == "error: run x: is broken. Fix: mend it\n"


def test_faults_of_ours_go_to_the_log(command, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def probe() -> None:
        raise KeyError("surprise")

    command(probe)
    assert main(["probe"]) == 1
    err = capsys.readouterr().err
    assert err == "error: KeyError: 'surprise' (traceback: logs/collapse.log)\n"
    log = (tmp_path / "logs" / "collapse.log").read_text()
    assert "collapse probe" in log
    assert "Traceback" in log
    assert "KeyError: 'surprise'" in log


def test_an_unwritable_log_does_not_hide_the_fault(command, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")

    def probe() -> None:
        raise ValueError("surprise")

    command(probe)
    assert main(["probe"]) == 1
    assert "ValueError: surprise" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (typer.Abort(), 130), (typer.Exit(3), 3)])
def test_exit_codes(command, error: BaseException, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def probe() -> None:
        raise error

    command(probe)
    assert main(["probe"]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    script = (
        f"{sys.executable} -m scaling_collapse.cli.app plan --scale smoke --json | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    assert done.stderr == ""
    assert done.stdout == "[\n0\n"


@pytest.mark.parametrize(
    ("words", "needed"), [(["--help"], ()), (["plan", "--scale", "paper"], ("snakemake",)), (["config", "check"], ())]
)
def test_light_commands_import_nothing_heavy(words: list[str], needed: tuple[str, ...]) -> None:
    heavy = {"torch", "pandas", "numpy", "matplotlib", "scipy", "snakemake", "tokenizers"} - set(needed)
    script = (
        "import sys; from scaling_collapse.cli.app import main; "
        f"code = main({words!r}); print([m for m in {heavy!r} if m in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", list(registry.COMMANDS))
def test_every_command_exists(name: str) -> None:
    module = registry.COMMANDS[name].target.split(":")[0]
    importlib.import_module(f"scaling_collapse.cli.{module}")
    assert app.load(name).name == name
