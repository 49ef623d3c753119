import pytest
from devices import Cupy, Jax, Torch
from hypothesis import settings

# The oracle looks at every pair of elements; the same examples every time, since a test that fails by chance helps nobody.
settings.register_profile("fathom", max_examples=40, deadline=None, derandomize=True, database=None)
settings.load_profile("fathom")


@pytest.fixture(params=[Torch, Cupy, Jax], ids=lambda c: c.__name__)
def library(request):
    return request.param()


@pytest.fixture(params=[Torch, Cupy], ids=lambda c: c.__name__)
def with_streams(request):
    return request.param()
