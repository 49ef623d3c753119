"""Arrays on CUDA devices: what PyTorch, CuPy and JAX users get. Without a device these skip."""

import itertools
import threading

import fathom
import numpy as np
import pytest
from devices import Cupy, Torch

if not fathom.info().devices:
    pytest.skip("no CUDA device, or a build without CUDA", allow_module_level=True)

RANDOM = np.random.default_rng(0)
MASK = (RANDOM.random((57, 83)) > 0.05).astype(np.uint8)
STACK = (RANDOM.random((3, 2, 20, 31)) > 0.1).astype(np.uint8)


def free_memory():
    return Torch().library.cuda.mem_get_info()[0]


OPTIONS = [
    {},
    {"squared": True},
    {"signed": True},
    {"spacing": (2, 0.5)},
    {"metric": "chessboard"},
    {"border": "sites"},
    {"border": "periodic", "max_distance": 3},
    {"sites": "labels"},
    {"region": (slice(3, 40), None)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_same_bytes_as_on_the_host(library, options):
    x = library.put(MASK)
    expected = fathom.distance_transform(MASK, return_indices=True, **options)
    got = fathom.distance_transform(x, return_indices=True, **options)
    for ours, theirs in zip(got, expected):
        array = library.get(ours)
        assert array.dtype == theirs.dtype
        np.testing.assert_array_equal(array, theirs)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int32", "float16", "float32"])
def test_element_types(library, dtype):
    x = library.put(MASK.astype(dtype))
    np.testing.assert_array_equal(library.get(fathom.distance_transform(x)), fathom.distance_transform(MASK))


def test_other_calls(library):
    labels = np.zeros((40, 50), np.int32)
    labels[3, 4], labels[30, 41] = 7, 9
    x = library.put(labels)
    np.testing.assert_array_equal(
        library.get(fathom.nearest_site(x, sites="nonzero")), fathom.nearest_site(labels, sites="nonzero")
    )
    np.testing.assert_array_equal(library.get(fathom.signed_distance(x)), fathom.signed_distance(labels))
    for distance in (np.inf, 12.5):
        grown = library.get(fathom.expand_labels(x, distance))
        np.testing.assert_array_equal(grown, fathom.expand_labels(labels, distance))
        assert grown.dtype == labels.dtype
    values = np.where(RANDOM.random((40, 50)) < 0.3, np.float32(np.nan), 3).astype("f4") * np.arange(50, dtype="f4")
    filled = library.get(fathom.fill_nearest(library.put(values)))
    np.testing.assert_array_equal(filled, fathom.fill_nearest(values))
    gaps = values > 60
    filled = library.get(fathom.fill_nearest(library.put(values), library.put(gaps), max_distance=4))
    np.testing.assert_array_equal(filled, fathom.fill_nearest(values, gaps, max_distance=4))
    with pytest.raises(TypeError, match="missing must be given"):
        fathom.fill_nearest(x)


def test_batches(library):
    got, indices = fathom.distance_transform(library.put(STACK), ndim=2, return_indices=True)
    expected, places = fathom.distance_transform(STACK, ndim=2, return_indices=True)
    np.testing.assert_array_equal(library.get(got), expected)
    np.testing.assert_array_equal(library.get(indices), places)
    grown = library.get(fathom.expand_labels(library.put(STACK), ndim=2))
    np.testing.assert_array_equal(grown, fathom.expand_labels(STACK, ndim=2))


def test_no_axes_and_no_elements(library):
    assert library.get(fathom.distance_transform(library.put(np.uint8(0)))).item() == 0
    assert library.get(fathom.distance_transform(library.put(np.zeros((0, 5), "u1")))).shape == (0, 5)
    assert library.get(fathom.expand_labels(library.put(np.zeros((3, 0), "i4")))).shape == (3, 0)


def test_layouts(with_streams):
    big = (RANDOM.random((12, 14, 16)) > 0.2).astype("f4")
    x = with_streams.put(big)
    for axes in itertools.permutations(range(3)):
        view = x.permute(axes) if hasattr(x, "permute") else x.transpose(axes)
        for part in (np.s_[:], np.s_[::2, 1:], np.s_[:, :, ::3]):
            got = fathom.distance_transform(view[part], ndim=2)
            np.testing.assert_array_equal(
                with_streams.get(got), fathom.distance_transform(big.transpose(axes)[part], ndim=2)
            )


def test_results_go_where_the_caller_says(with_streams):
    expected, places = fathom.distance_transform(MASK, return_indices=True)
    x = with_streams.put(MASK)
    out, indices_out = with_streams.empty(MASK.shape, "float32"), with_streams.empty((2, *MASK.shape), "int64")
    distances, indices = fathom.distance_transform(x, return_indices=True, out=out, indices_out=indices_out)
    assert distances is out and indices is indices_out
    np.testing.assert_array_equal(with_streams.get(out), expected)
    np.testing.assert_array_equal(with_streams.get(indices_out), places)
    turned = with_streams.empty(MASK.shape[::-1], "float32").T
    assert fathom.distance_transform(x, out=turned) is turned
    np.testing.assert_array_equal(with_streams.get(turned), expected)
    grown = with_streams.empty(MASK.shape[::-1], "uint8").T
    assert fathom.expand_labels(x, out=grown) is grown
    np.testing.assert_array_equal(with_streams.get(grown), fathom.expand_labels(MASK))


def test_order_on_the_current_stream(with_streams):
    """A long queue stands before the call; who does not wait for it, on the same stream, reads zeros."""
    image = np.ones((1500, 1500), np.uint8)
    image[700, 300] = 0
    expected = fathom.distance_transform(image)
    ready = with_streams.put(image)
    zeros = with_streams.put(np.zeros_like(image))
    stream = with_streams.stream()
    with_streams.synchronize()
    for give in (False, True):
        with with_streams.on(stream):
            x = zeros + 0
            slow = with_streams.put(np.ones((4096, 4096), "f4"))
            for _ in range(20):
                slow = slow @ slow * 1e-4
            x += ready
            if not give:
                result = fathom.distance_transform(x) + 0
        if give:
            result = fathom.distance_transform(x, stream=stream)
            stream.synchronize()
        else:
            with_streams.synchronize()
        np.testing.assert_array_equal(with_streams.get(result), expected)


def test_calls_do_not_wait(with_streams):
    """The call returns while the stream still works on what stands before it."""
    x = with_streams.put(MASK)
    fathom.distance_transform(x)
    stream = with_streams.stream()
    with with_streams.on(stream):
        slow = with_streams.put(np.ones((8192, 8192), "f4"))
        slow = slow @ slow
        stream.synchronize()
        for _ in range(40):
            slow = slow @ slow * 1e-4
        fathom.distance_transform(x)
        done = stream.query() if hasattr(stream, "query") else stream.done
    assert not done
    with_streams.synchronize()


def test_graphs_replay_the_call():
    torch = Torch().library
    x = torch.from_numpy(MASK).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = fathom.distance_transform(x)
    for mask in (MASK, MASK[::-1].copy()):
        x.copy_(torch.from_numpy(mask))
        graph.replay()
        np.testing.assert_array_equal(result.cpu().numpy(), fathom.distance_transform(mask))


def test_device_memory_can_be_released(with_streams):
    x = with_streams.put(np.ones((64, 512, 512), np.uint8))
    fathom.nearest_site(x, ndim=2)
    with_streams.synchronize()
    before = free_memory()
    fathom.release_device_memory()
    assert free_memory() > before
    np.testing.assert_array_equal(with_streams.get(fathom.distance_transform(with_streams.put(MASK))),
                                  fathom.distance_transform(MASK))


def test_streams_of_any_kind(with_streams):
    x, expected = with_streams.put(MASK), fathom.distance_transform(MASK)
    stream = with_streams.stream()
    handle = getattr(stream, "cuda_stream", None) or stream.ptr

    class Protocol:
        def __cuda_stream__(self):
            return 0, handle

    for given in (stream, handle, Protocol(), 0):
        result = fathom.distance_transform(x, stream=given)
        with_streams.synchronize()
        np.testing.assert_array_equal(with_streams.get(result), expected)
    for wrong, error in (("text", TypeError), (-1, ValueError), (True, TypeError)):
        with pytest.raises(error, match="stream"):
            fathom.distance_transform(x, stream=wrong)


def test_many_threads_with_streams_of_their_own(with_streams):
    images = [(RANDOM.random((200 + n, 300)) > 0.01).astype("u1") for n in range(8)]
    expected = [fathom.distance_transform(image) for image in images]
    wrong = []

    def work(at):
        stream = with_streams.stream()
        with with_streams.on(stream):
            x = with_streams.put(images[at])
            for _ in range(20):
                result = fathom.distance_transform(x)
            stream.synchronize()
            if not np.array_equal(with_streams.get(result), expected[at]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_mixed_places_are_refused(with_streams):
    x = with_streams.put(MASK)
    with pytest.raises(ValueError, match="out lies on the host, but the input on CUDA device 0"):
        fathom.distance_transform(x, out=np.empty(MASK.shape, "f4"))
    with pytest.raises(ValueError, match="out lies on a CUDA device, but the input on the host"):
        fathom.distance_transform(MASK, out=with_streams.empty(MASK.shape, "float32"))
    with pytest.raises(ValueError, match="missing lies on the host"):
        fathom.fill_nearest(x, MASK)
    with pytest.raises(ValueError, match="missing lies on a CUDA device"):
        fathom.fill_nearest(MASK, x)
    with pytest.raises(ValueError, match="backend cpu"):
        fathom.distance_transform(x, backend="cpu")


def test_results_have_memory_of_their_own():
    torch = Torch().library
    memory = torch.zeros(MASK.shape, device="cuda")
    x = memory.view(torch.uint8)[:, : MASK.shape[1]]
    with pytest.raises(ValueError, match="overlap"):
        fathom.distance_transform(x, out=memory)


def test_errors_name_the_argument(with_streams):
    x = with_streams.put(MASK)
    for arguments, error, words in [
        ({"out": with_streams.empty((3, 4), "float32")}, ValueError, r"out has the shape \(3, 4\)"),
        ({"out": with_streams.empty(MASK.shape, "int32")}, TypeError, "out has the dtype int32; it must have float32"),
        ({"spacing": (1, 2, 3)}, ValueError, "spacing has 3 values"),
        ({"spacing": -1}, ValueError, "spacing"),
    ]:
        with pytest.raises(error, match=words):
            fathom.distance_transform(x, **arguments)
    with pytest.raises(TypeError, match="x has the dtype complex64"):
        fathom.distance_transform(with_streams.put(MASK.astype("c8")))


def test_progress_says_when_the_work_is_on_its_way(with_streams):
    shares = []
    fathom.distance_transform(with_streams.put(MASK), progress=shares.append)
    assert shares == [1.0]


def test_pytorch_autograd_and_half_precision():
    torch = Torch().library
    x = torch.from_numpy(MASK).cuda().bfloat16().requires_grad_()
    result = fathom.distance_transform(x)
    assert result.dtype == torch.float32 and not result.requires_grad
    np.testing.assert_array_equal(result.cpu().numpy(), fathom.distance_transform(MASK))
    labels = torch.from_numpy(MASK).cuda().bfloat16() * 3
    grown = fathom.expand_labels(labels)
    assert grown.dtype == torch.bfloat16
    np.testing.assert_array_equal(grown.float().cpu().numpy(), fathom.expand_labels(MASK * 3))


def test_interface_of_cuda_alone():
    cupy = Cupy().library

    class OnlyInterface:
        def __init__(self, array):
            self.array = array

        @property
        def __cuda_array_interface__(self):
            return self.array.__cuda_array_interface__

        @property
        def shape(self):
            return self.array.shape

    result = fathom.distance_transform(OnlyInterface(cupy.asarray(MASK)), return_indices=True)
    for ours, expected in zip(result, fathom.distance_transform(MASK, return_indices=True)):
        np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(ours)), expected)
        np.testing.assert_array_equal(cupy.asnumpy(cupy.from_dlpack(ours)), expected)


def test_host_arrays_by_way_of_the_device():
    np.testing.assert_array_equal(fathom.distance_transform(MASK, backend="cuda"), fathom.distance_transform(MASK))
    with pytest.raises(ValueError, match="stream is for arrays on a CUDA device"):
        fathom.distance_transform(MASK, stream=0)
