"""What a wheel carries is enough: nothing is needed beyond what NumPy itself needs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fathom
import pytest

BUILD = os.environ.get("FATHOM_BUILD_DIR", "")
OF_EVERY_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*")  # NumPy's needs, too


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if not BUILD:
        pytest.skip("FATHOM_BUILD_DIR does not name a build folder")
    site = tmp_path_factory.mktemp("site")
    subprocess.run(["cmake", "--install", BUILD, "--component", "python", "--prefix", site], check=True, capture_output=True)
    for file in Path(fathom.__file__).parent.rglob("*.py"):
        target = site / "fathom" / file.relative_to(Path(fathom.__file__).parent)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(file, target)
    return site


def needed(library):
    listing = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"NEEDED.*\[(.*)\]", listing)


def test_libraries_are_carried_along(site):
    libraries = {path.name: path for path in (site / "fathom").glob("*.so*")}
    extensions = [name for name in libraries if name.startswith("_core.")]
    assert len(extensions) == 1
    for library in libraries.values():
        missing = [name for name in needed(library) if name not in libraries and not OF_EVERY_SYSTEM.fullmatch(name)]
        assert not missing, f"{library.name} needs {missing}"


def test_the_ones_carried_along_are_loaded(site):
    code = (
        "import numpy, fathom; fathom.distance_transform(numpy.zeros((300, 300)), threads=2)\n"
        "print(*{line.split()[-1] for line in open('/proc/self/maps') if '/lib' in line})"
    )
    mapped = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(site)},
    ).stdout.split()
    carried = {path.name for path in (site / "fathom").glob("lib*.so*")}
    from_elsewhere = [path for path in mapped if Path(path).name.split(".so")[0] in
                      {name.split(".so")[0] for name in carried} and not path.startswith(str(site))]
    assert carried and not from_elsewhere
