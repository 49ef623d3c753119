"""Libraries of arrays on CUDA devices, as the tests use them."""

import numpy as np
import pytest


class Library:
    def kept(self, dtype):
        """What an element type becomes in arrays of the library."""
        return dtype


class Torch(Library):
    def __init__(self):
        self.library = pytest.importorskip("torch")
        if not self.library.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        self.kind = self.library.Tensor

    def put(self, array):
        x = self.library.from_numpy(np.array(array)).cuda()
        self.synchronize()  # streams that do not wait for this copy may read it next
        return x

    def get(self, x):
        assert isinstance(x, self.kind) and x.is_cuda
        return x.cpu().numpy()

    def empty(self, shape, dtype):
        return self.library.full(shape, 9, dtype=getattr(self.library, dtype), device="cuda")

    def stream(self):
        return self.library.cuda.Stream()

    def on(self, stream):
        return self.library.cuda.stream(stream)

    def on_device(self, number):
        return self.library.cuda.device(number)

    def synchronize(self):
        self.library.cuda.synchronize()


class Cupy(Library):
    def __init__(self):
        self.library = pytest.importorskip("cupy")
        self.kind = self.library.ndarray

    def put(self, array):
        x = self.library.asarray(array)
        self.synchronize()
        return x

    def get(self, x):
        assert isinstance(x, self.kind)
        return self.library.asnumpy(x)

    def empty(self, shape, dtype):
        return self.library.full(shape, 9, dtype)

    def stream(self):
        return self.library.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def on_device(self, number):
        return self.library.cuda.Device(number)

    def synchronize(self):
        self.library.cuda.Device().synchronize()


class Jax(Library):
    def __init__(self):
        jax = pytest.importorskip("jax")
        if jax.default_backend() != "gpu":
            pytest.skip("this JAX has no CUDA")
        self.library = jax.numpy
        self.kind = jax.Array
        self.kept = jax.dtypes.canonicalize_dtype  # 32 bits, unless it is told otherwise

    def put(self, array):
        return self.library.asarray(array)

    def get(self, x):
        assert isinstance(x, self.kind) and x.devices() == self.library.zeros(1).devices()
        return np.asarray(x)
