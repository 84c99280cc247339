"""Optimizers over two processes: shards of DTensors, ranks without parameters."""
import math

import pytest
import torch

import optim_ranks
from ranks import Ranks


@pytest.fixture(scope="module", params=["gloo", pytest.param("nccl", marks=pytest.mark.gpu)])
def two(request):
    if request.param == "nccl" and torch.cuda.device_count() < 2:
        pytest.skip("needs 2 GPUs")
    ranks = Ranks(2, request.param)
    yield ranks
    ranks.close()


def test_a_rank_without_parameters_takes_part(two):
    for told in two.call(optim_ranks.empty_groups):
        assert [applied for _, applied in told] == [1, 0, 1]
        assert told[0][0] == 4 and math.isnan(told[1][0]) and told[2][0] == 1


@pytest.mark.parametrize("options", [{}, {"max_norm": 0.5}, {"ema_decay": 0.9, "guard": True}], ids=str)
def test_shards_step_as_the_whole(two, options):
    """To the bit without a norm; shards may be uneven or empty."""
    for distances, moments, norms, copied in two.call(optim_ranks.sharded_steps, options):
        limit = 1e-6 if "max_norm" in options else 0
        assert max(distances) <= limit and max(moments) <= limit and copied == 0
        assert norms[0] == pytest.approx(norms[1], rel=1e-6)
