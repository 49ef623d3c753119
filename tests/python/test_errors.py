"""What is wrong is named, before any work."""

import fathom
import numpy as np
import pytest

MASK = np.ones((4, 5), np.uint8)


def f4(*shape):
    return np.full(shape, 9, np.float32)


RULES = ("it must be 'zero', 'nonzero', 'labels', or a comparison by >=, >, <=, <, == or != such as '>=0.5' or "
         r"\('>=', 0.5\)")
READ_ONLY = f4(4, 5)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("arguments, error, words", [
    ({"x": "text"}, TypeError, "x is a path or text, not an array; read the file first"),
    ({"x": MASK * 1j}, TypeError, "x has the dtype complex128; it must be bool, integer or float"),
    ({"x": np.array([None])}, TypeError, "x has the dtype object"),
    ({"x": [[1, 2], [3]]}, TypeError, "x must be an array of numbers"),
    ({"x": np.zeros((1,) * 9)}, ValueError, "8 are supported|1 to 8 axes"),
    ({"sites": "zeros"}, ValueError, f"sites is 'zeros'; {RULES}"),
    *[({"sites": bad}, ValueError, f"sites is {bad!r}; {RULES}") for bad in (">=x", ">=", "=5", "<>5", "==", "", "5")],
    ({"sites": 3}, TypeError, "sites is 3"),
    *[({"sites": bad}, TypeError, "sites is") for bad in (("~", 3), ("=", 3), ("<",), ("<", None), ("zero", 0), MASK)],
    ({"sites": ("==", 10**400)}, TypeError, "sites is"),
    *[({"sites": bad}, ValueError, "sites are compared with NaN, which nothing is more or less than; give a number")
      for bad in (">=nan", "<nan", (">", np.nan), ("<=", np.float32(np.nan)))],
    ({"spacing": (1, 2, 3)}, ValueError, "spacing has 3 values; give one number, or one for each of the 2 axes"),
    ({"spacing": [1]}, ValueError, "spacing has 1 values"),
    ({"spacing": "2"}, TypeError, "spacing must be a number"),
    ({"spacing": (1, "a")}, TypeError, "spacing must be a number"),
    ({"spacing": 0}, ValueError, "spacing of axis 0 is 0"),
    ({"spacing": (1, np.nan)}, ValueError, "spacing of axis 1"),
    ({"metric": "manhattan"}, ValueError, "metric is 'manhattan'; it must be one of 'euclidean', 'taxicab', 'chessboard'"),
    ({"metric": []}, TypeError, "metric is"),
    ({"border": "closed"}, ValueError, "border is 'closed'"),
    ({"border": ("open",)}, ValueError, "border has 1 values"),
    ({"border": 1}, TypeError, "border must be"),
    ({"squared": True, "signed": True}, ValueError, "sign"),
    ({"squared": True, "metric": "taxicab"}, ValueError, "[Ss]quared"),
    ({"squared": True, "spacing": 2, "dtype": "u4"}, ValueError, "ask for float64"),
    ({"max_distance": -1}, ValueError, "max_distance is -1.0; it must be 0 or more"),
    ({"max_distance": np.nan}, ValueError, "max_distance is nan"),
    ({"max_distance": "far"}, TypeError, "max_distance must be a number"),
    ({"region": [slice(0, 2)]}, ValueError, "region has 1 slices; give one for each of the 2 axes"),
    ({"region": (slice(0, 4, 2), None)}, ValueError, "region has a slice with the step 2"),
    ({"region": ((0, 5), None)}, ValueError, "region has the range 0:5"),
    ({"region": (3, 4)}, TypeError, "region must hold"),
    ({"region": 3}, TypeError, "region must be a sequence"),
    ({"ndim": 0}, ValueError, "ndim is 0; it must be from 1 to the 2 axes"),
    ({"ndim": 3}, ValueError, "ndim is 3"),
    ({"ndim": 1.5}, TypeError, "ndim must be an integer"),
    ({"dtype": "u1"}, TypeError, "dtype is uint8; it must be float32 or float64"),
    ({"dtype": "f4", "squared": True}, TypeError, "dtype is float32; it must be uint32 or uint64 or float64"),
    ({"dtype": "nonsense"}, TypeError, "dtype must be a dtype"),
    ({"dtype": "f8", "out": f4(4, 5)}, TypeError, "out has the dtype float32, but dtype is float64"),
    ({"out": f4(5, 4)}, ValueError, r"out has the shape \(5, 4\); it must have \(4, 5\)"),
    ({"out": MASK.copy()}, TypeError, "out has the dtype uint8; it must have float32 or float64"),
    ({"out": READ_ONLY}, ValueError, "out is read-only"),
    ({"out": [[0.0] * 5] * 4}, TypeError, "out must be an array, not list"),
    ({"indices_out": f4(2, 4, 5)}, ValueError, "indices_out is given, but return_indices is False"),
    ({"indices_out": f4(2, 4, 5), "return_indices": True}, TypeError, "indices_out has the dtype float32"),
    ({"indices_out": np.zeros((4, 5), int), "return_indices": True}, ValueError, "indices_out has the shape"),
    ({"backend": "gpu"}, ValueError, "backend is 'gpu'; it must be one of 'auto', 'cpu', 'cuda'"),
    ({"threads": 0}, ValueError, "threads is 0; it must be 1 or more"),
    ({"threads": 1.5}, TypeError, "threads must be an integer"),
    ({"stream": 7}, ValueError, "stream is for arrays on a CUDA device; x lies on the host"),
    ({"progress": 3}, TypeError, "progress must be"),
], ids=str)
def test_distance_transform(arguments, error, words):
    x = arguments.pop("x", MASK) if "x" in arguments else MASK
    with pytest.raises(error, match=words):
        fathom.distance_transform(x, **{k: v for k, v in arguments.items() if k != "x"})
    if isinstance(arguments.get("out"), np.ndarray) and arguments["out"].dtype == np.float32:
        assert (arguments["out"] == 9).all()


def test_outputs_of_their_own():
    x = f4(4, 5)
    with pytest.raises(ValueError, match="out shares memory with the input"):
        fathom.distance_transform(x, out=x)
    both = np.zeros((3, 4, 5), np.int64)
    with pytest.raises(ValueError, match="overlap"):
        fathom.distance_transform(x, out=both[0].view("f8"), indices_out=both[:2], return_indices=True)


def test_a_batch_without_images_is_checked_too():
    with pytest.raises(ValueError, match="spacing"):
        fathom.distance_transform(np.zeros((0, 4, 5)), ndim=2, spacing=-1)


def test_surfaces_and_other_calls():
    with pytest.raises(ValueError, match="surface is 'edges'"):
        fathom.signed_distance(MASK, surface="edges")
    with pytest.raises(TypeError, match="dtype is float32; it must be int32 or int64"):
        fathom.nearest_site(MASK, dtype="f4")
    with pytest.raises(TypeError, match="labels has the dtype"):
        fathom.expand_labels(MASK * 1j)
    with pytest.raises(TypeError, match="out has the dtype float32; it must have uint8"):
        fathom.expand_labels(MASK, out=f4(4, 5))


def test_memory_that_no_machine_has():
    with pytest.raises(MemoryError):
        fathom.distance_transform(np.broadcast_to(np.uint8(1), (2**21, 2**21, 2**6)))
