"""Settings and fixtures of all tests of the PyTorch package."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a CUDA device that torch can use")


def pytest_collection_modifyitems(items):
    import torch

    if torch.cuda.is_available():
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a GPU that torch can use"))


@pytest.fixture(scope="session")
def context():
    """A context whose kernels stay in this run's folder (FUSEWRIGHT_CACHE_DIR of the build's tests)."""
    from fusewright import _C

    return _C.Context()


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request):
    return request.param
