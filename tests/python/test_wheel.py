"""What a wheel holds, from the build folder: the package, the command, and a refusal to share its folder."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import fathom
import numpy as np
import pytest

BUILD = os.environ.get("FATHOM_BUILD_DIR", "")
needs_command = pytest.mark.skipif(not Path(BUILD, "cli", "fathom").exists(), reason="a build without the command")
SETTINGS = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not BUILD:
        pytest.skip("FATHOM_BUILD_DIR does not name a build folder")
    site = tmp_path_factory.mktemp("site")
    install = ["cmake", "--install", BUILD, "--component", "python", "--prefix", site]
    subprocess.run(install, check=True, capture_output=True)
    for file in Path(fathom.__file__).parent.rglob("*.py"):
        target = site / "fathom" / file.relative_to(Path(fathom.__file__).parent)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    return site


def run(site, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, **options)


@needs_command
@pytest.mark.parametrize("form", ["script", "module"])
def test_command(site, tmp_path, form):
    command = [site / "bin" / "fathom"] if form == "script" else ["-m", "fathom"]
    assert run(site, *command, "--version").stdout == f"fathom {fathom.__version__}\n"
    np.save(tmp_path / "mask.npy", np.array([[1, 1, 0]], np.uint8))
    assert run(site, *command, "distance", "mask.npy", "-o", "field.npy", cwd=tmp_path).returncode == 0
    assert np.load(tmp_path / "field.npy").tolist() == [[2, 1, 0]]
    unknown = run(site, *command, "distance", "nothing.npy", "-o", "field.npy", cwd=tmp_path)
    assert unknown.returncode == 3 and unknown.stderr.startswith("fathom: ")


@needs_command
@pytest.mark.parametrize(("what", "expected"), [
    ("sorted({'numpy', 'fathom'} & set(sys.modules))", "[]"),  # to import them takes longer than most calls
    ("os.environ['FONTCONFIG_FILE'] == os.path.join(os.environ['PYTHONPATH'], 'fathom/fonts/fonts.conf')", "True"),
    ("[signal.getsignal(each) == signal.SIG_DFL for each in (signal.SIGPIPE, signal.SIGXFSZ)]", "[True, True]"),
])
def test_how_the_program_is_started(site, what, expected):
    code = (
        f"import os, runpy, signal, sys; os.execv = lambda *_: print({what})\n"
        f"runpy.run_path({str(site / 'bin' / 'fathom')!r}, run_name='__main__')"
    )
    assert run(site, "-c", code).stdout == f"{expected}\n"


@needs_command
def test_charts_have_letters_where_the_system_has_no_font(site, tmp_path):
    """Only the title differs, and no other font can be found: without any, Cairo draws boxes for what is not ASCII."""
    np.save(tmp_path / "mask.npy", np.array([[1, 1, 0]], np.uint8))
    settings = (site / "fathom" / "fonts" / "fonts.conf").read_text()
    alone = re.sub("<include.*</include>", "", settings).replace('prefix="xdg"', 'prefix="relative"')
    shutil.copytree(site / "fathom" / "fonts", tmp_path / "fonts")
    (tmp_path / "fonts" / "fonts.conf").write_text(alone)
    charts = []
    for title in "µ×":
        command = [site / "fathom" / "bin" / "fathom", "distance", "mask.npy", "-o", "field.npy"]
        done = subprocess.run([*command, "--preview", "chart.png", "--title", title], cwd=tmp_path, capture_output=True,
                              text=True, env={**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts" / "fonts.conf")})
        assert (done.returncode, done.stderr) == (0, "")
        charts.append((tmp_path / "chart.png").read_bytes())
    assert charts[0] != charts[1]


def test_build_without_the_command(site, tmp_path):
    shutil.copytree(site / "fathom", tmp_path / "fathom", ignore=shutil.ignore_patterns("bin"))
    called = run(tmp_path, "-m", "fathom", "--version")
    assert called.returncode == 70
    assert called.stderr == "fathom: this build of the package has no command; build it with FATHOM_CLI=ON\n"


@pytest.mark.parametrize("other", ["fathom_distance_cuda13-0.1.0.dist-info", "fathom-0.4.1-py3.11.egg-info"])
def test_refuses_to_share_its_folder(site, tmp_path, other):
    (tmp_path / "fathom").symlink_to(site / "fathom")
    (tmp_path / "fathom_distance-0.1.0.dist-info").mkdir()
    (tmp_path / "fathom_distance_tools-2.0.dist-info").mkdir()  # somebody else's
    assert run(tmp_path, "-c", "import fathom").returncode == 0
    (tmp_path / other).mkdir()
    names = sorted(["fathom-distance", other.partition("-")[0].replace("_", "-")])
    expected = (
        f"{names[0]} and {names[1]} are installed in one place and have overwritten each other's files: "
        f"run `pip uninstall {names[0]} {names[1]}`, then install the one you want\n"
    )
    assert run(tmp_path, "-c", "import fathom").stderr.endswith(f"ImportError: {expected}")
    if (site / "bin").exists():
        command = run(tmp_path, site / "bin" / "fathom", "--version")
        assert (command.returncode, command.stderr) == (70, f"fathom: {expected}")


def test_name_and_version():
    project = tomllib.loads(SETTINGS.read_text())["project"]
    assert (project["name"], project["version"]) == ("fathom-distance", fathom.__version__)
