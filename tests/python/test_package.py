"""The package as it is installed: what it imports, carries and says about itself."""

import doctest
import importlib.util
import os
import pkgutil
import runpy
import subprocess
import sys
from pathlib import Path

import fathom
import numpy as np
import pytest

FOLDER = Path(fathom.__file__).parent
SETTINGS = Path(__file__).parents[2] / "pyproject.toml"
EXAMPLES = Path(__file__).with_name("typing_examples.py")
OPTIONAL = {"fathom.torch": "torch", "fathom.compat.pytorch3d": "torch"}


def modules():
    yield fathom
    for found in pkgutil.walk_packages(fathom.__path__, "fathom."):
        needs = next((OPTIONAL[name] for name in OPTIONAL if f"{found.name}.".startswith(f"{name}.")), None)
        if needs and importlib.util.find_spec(needs) is None:
            continue
        yield importlib.import_module(found.name)


class Finder(doctest.DocTestFinder):
    """Finds the methods, too, of classes that say that they are of another module than they stand in."""

    def _from_module(self, module, thing):
        home = getattr(thing, "__globals__", {}).get("__name__", getattr(thing, "__module__", None))
        return home == module.__name__ or (home == "fathom.stream" and module.__name__ == "fathom.stream._raster")


def test_docstring_examples():
    tried = 0
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for module in modules():
        for test in Finder().find(module, module.__name__):
            result = runner.run(test)
            assert result.failed == 0, test.name
            tried += result.attempted
    assert tried > 250


def test_every_public_call_has_an_example():
    for module in fathom, fathom.morphology, fathom.published, fathom.stream:
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not isinstance(thing, type):
                assert ">>>" in thing.__doc__ and "Examples\n" in thing.__doc__, f"{module.__name__}.{name}"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    ).stdout


def test_import_pulls_in_numpy_alone():
    code = (
        "import sys, numpy; before = set(sys.modules); import fathom\n"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    assert set(run(code).split()) <= {"fathom", "numpy"} | sys.stdlib_module_names


def test_import_is_quick():
    """Beside NumPy, whose own import everybody pays who has an array. In time of the processor: others may be at work."""
    code = "import time, numpy; t = time.process_time(); import fathom; print(time.process_time() - t)"
    assert min(float(run(code)) for _ in range(15)) < 0.1


@pytest.mark.skipif("cuda" in fathom.info().backends, reason="a build with CUDA")
def test_a_build_for_the_cpu_says_how_to_have_cuda():
    with pytest.raises(fathom.DeviceError) as failure:
        fathom.distance_transform(np.zeros((2, 2)), backend="cuda")
    assert str(failure.value) == (
        "this build of Fathom has no CUDA backend; use backend auto or cpu, or a build with FATHOM_CUDA=ON "
        "(Python: fathom-distance-cuda12 or -cuda13)"
    )


def test_types():
    pytest.importorskip("mypy", reason="mypy is not installed")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, "--config-file", SETTINGS, FOLDER, EXAMPLES],
        capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(FOLDER.parent)},
    )
    assert checked.returncode == 0, checked.stdout
    assert (FOLDER / "py.typed").exists()


def test_results_are_of_the_types_that_are_promised():
    runpy.run_path(str(EXAMPLES))


@pytest.mark.parametrize("part", ["fathom.torch", "fathom.compat.pytorch3d"])
def test_what_needs_pytorch_says_so(part):
    code = f"import sys; sys.modules['torch'] = None\nimport {part}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.splitlines()[-1] == (
        f"ModuleNotFoundError: {part} needs PyTorch, which is not installed; install it with: pip install torch"
    )
