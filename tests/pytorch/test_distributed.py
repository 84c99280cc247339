"""Steps over several processes, by Gloo on the CPU and by NCCL on GPUs."""
import math

import pytest
import torch

import rank_steps
from fusewright.distributed import AllReduce, local_tensor
from ranks import Ranks

nan, inf = math.nan, math.inf


@pytest.fixture(scope="module", params=["gloo", pytest.param("nccl", marks=pytest.mark.gpu)])
def backend(request):
    if request.param == "nccl" and torch.cuda.device_count() < 2:
        pytest.skip("needs 2 GPUs")
    return request.param


@pytest.fixture(scope="module")
def two(backend):
    ranks = Ranks(2, backend)
    yield ranks
    ranks.close()


@pytest.fixture(scope="module")
def four(backend):
    if backend == "nccl" and torch.cuda.device_count() < 4:
        pytest.skip("needs 4 GPUs")
    ranks = Ranks(4, backend)
    yield ranks
    ranks.close()


def close(a, b, relative):
    a, b = (torch.tensor(x, dtype=torch.float64) for x in (a, b))
    torch.testing.assert_close(a, b, rtol=relative, atol=relative)


# ---- AllReduce


def test_without_a_process_group_it_says_so(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: False)  # whatever other tests have begun
    with pytest.raises(RuntimeError, match="torch.distributed that is not initialized"):
        AllReduce()


@pytest.mark.parametrize(
    "kind, numbers, wanted",
    [
        ("sum", [[1.0, 2.0], [3.0, -5.0]], [4.0, -3.0]),
        ("max", [[1.0, -inf], [3.0, -5.0]], [3.0, -5.0]),
        ("max", [[nan, 1.0], [3.0, nan]], [nan, nan]),
        ("max", [[nan], [nan]], [nan]),
        ("max", [[-inf], [-inf]], [-inf]),
        ("sum", [[inf], [-inf]], [nan]),
        ("sum", [[2.0**53], [1.0]], [2.0**53]),
    ],
)
def test_reductions(two, kind, numbers, wanted):
    first, second = two.call(rank_steps.reduce, kind, numbers)
    assert repr(first[0]) == repr(wanted) and first[1] == second[1]


def test_sums_have_the_same_bits_on_all_ranks(four):
    numbers = [[0.1, 1e16, 3.0], [0.2, 1.0, 1e-9], [0.3, -1e16, 7.0], [1e-17, 1.0, 0.1]]  # of which the order shows
    results = four.call(rank_steps.reduce, "sum", numbers)
    assert [bits for _, bits in results] == [results[0][1]] * 4
    assert results[0][0][1] in (0.0, 1.0, 2.0)
    close(results[0][0][::2], [0.6, 10.1 + 1e-9], 1e-12)


def test_several_groups_one_behind_the_other(four):
    results = four.call(rank_steps.reduce_over, [[[0, 1], [2, 3]], [[0, 2], [1, 3]]], [1.0, 10.0, 100.0, 1000.0])
    assert results == [(1111.0, 4)] * 4


def test_local_tensor_leaves_plain_tensors():
    x = torch.nn.Parameter(torch.ones(2))
    assert local_tensor(x) is x and local_tensor(None) is None


# ---- Each rank has its own tensors

PARTS = {"halves": [[0, 2, 4], [1, 3]], "all on one": [[0, 1, 2, 3, 4], []]}


@pytest.mark.parametrize("uses_scaler", [False, True])
@pytest.mark.parametrize("parts", PARTS)
def test_one_norm_clips_all_ranks(two, parts, uses_scaler):
    results = two.call(rank_steps.train_parts, PARTS[parts], 8, {}, {"max_norm": 3.0}, uses_scaler)
    whole = alone([0, 1, 2, 3, 4], 8, {})
    for rank, (parameters, told) in enumerate(results):
        assert [t[:3] for t in told] == [t[:3] for t in results[0][1]], "one norm, to the bit"
        close([t[1] for t in told], [norm for _, norm in whole[1]], 1e-6)
        assert min(t[1] for t in told) > 3.0
        for p, number in zip(parameters, PARTS[parts][rank]):
            close(p, whole[0][number], 1e-5)


def alone(numbers, steps, bad):
    """The run of one process over the whole list, by torch in float64."""
    parameters = [torch.nn.Parameter(x.double()) for x in rank_steps.full_list(0)]
    optimizer, told = torch.optim.AdamW(parameters, lr=0.05), []
    for step in range(steps):
        for p, g in zip(parameters, rank_steps.full_list(1 + step)):
            p.grad = g.double()
        norm = torch.nn.utils.clip_grad_norm_(parameters, 3.0).item()
        told.append((1.0, norm))
        if step not in bad:
            optimizer.step()
    return [p.tolist() for p in parameters], told


@pytest.mark.parametrize("uses_scaler", [False, True])
@pytest.mark.parametrize("options", [{"guard": True}, {"guard": True, "max_norm": 3.0}], ids=str)
@pytest.mark.parametrize("parts", PARTS)
def test_a_bad_gradient_of_one_rank_skips_all(two, parts, options, uses_scaler):
    bad = {2: (0, 3, inf), 3: (3, 100, nan), 6: (4, 0, -inf)}  # of rank 0 and of rank 1
    results = two.call(rank_steps.train_parts, PARTS[parts], 8, bad, options, uses_scaler)
    for rank, (_, told) in enumerate(results):
        assert [t[0] for t in told] == [0.0 if step in bad else 1.0 for step in range(8)]
        is_empty = not PARTS[parts][rank]
        assert [t[3] for t in told] == [step in bad or is_empty for step in range(8)]
        if uses_scaler:
            assert [t[2] for t in told] == [64.0] * 3 + [32.0] + [16.0] * 3 + [8.0]
    if options.get("max_norm"):
        whole = alone([0, 1, 2, 3, 4], 8, bad)
        for rank, (parameters, _) in enumerate(results):
            for p, number in zip(parameters, PARTS[parts][rank]):
                close(p, whole[0][number], 1e-5)


@pytest.mark.parametrize("bad", [0, 1, None])
def test_other_optimizers_decide_by_the_scalers_group(two, bad):
    wanted = ([0.5] * 3, 8.0) if bad is None else ([1.0] * 3, 4.0)
    assert two.call(rank_steps.check_foreign, bad) == [wanted] * 2


@pytest.mark.gpu
def test_gloo_carries_numbers_of_one_gpu():
    ranks = Ranks(2)
    try:
        options = {"guard": True, "max_norm": 3.0}
        results = ranks.call(rank_steps.train_parts, PARTS["halves"], 8, {2: (0, 3, inf)}, options, True, "cuda:0")
    finally:
        ranks.close()
    whole = alone([0, 1, 2, 3, 4], 8, {2})
    for rank, (parameters, told) in enumerate(results):
        assert [t[0] for t in told] == [0.0 if step == 2 else 1.0 for step in range(8)]
        for p, number in zip(parameters, PARTS["halves"][rank]):
            close(p, whole[0][number], 1e-5)


# ---- DTensor


def test_local_tensor_waits_for_a_collective(two):
    for kind, is_plain, values in two.call(rank_steps.pending):
        assert kind == "AsyncCollectiveTensor" and is_plain and values == torch.arange(8.0).view(4, 2).tolist()


@pytest.mark.parametrize("with_arena", [False, True])
@pytest.mark.parametrize("name", ["AdamW", "SGD", "Lion"])
def test_sharded_parameters_step_as_whole_ones(two, name, with_arena):
    results = two.call(rank_steps.train_dtensors, (2,), ["shard"], name, {}, 6, with_arena)
    assert [empty for _, empty in results] == [0, 0] and two.call(rank_steps.shards_of)[1][1] == 0
    for (ours, whole), _ in results:
        assert ours == whole, "to the bit, states too"


@pytest.mark.parametrize("shape, placements", [((4,), ["shard"]), ((2, 2), ["replicate", "shard"]), ((2, 2), ["shard", "shard"])])
def test_one_norm_over_a_mesh(four, shape, placements):
    results = four.call(rank_steps.train_dtensors, shape, placements, "AdamW", {"max_norm": 3.0})
    for (ours, whole), _ in results:
        assert ours[2] == results[0][0][0][2], "one norm, to the bit"
        close(ours[2], whole[2], 1e-6)
        for kind in (0, 1):
            for a, b in zip(ours[kind], whole[kind]):
                close(a, b, 1e-5)


@pytest.mark.parametrize("order", [2.0, 1.0, inf])
@pytest.mark.parametrize(
    "shape, layouts", [((4,), ["s"]), ((4,), ["s", "plain", "r"]), ((2, 2), ["rs", "ss", "rr", "sr", "plain"])], ids=str
)
def test_clipping_counts_each_element_once(four, shape, layouts, order):
    for norm, wanted, worst in four.call(rank_steps.clip_dtensors, shape, layouts, order):
        assert norm == pytest.approx(wanted, rel=1e-6) and worst < 1e-5


@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("bad", [0, 1])
def test_a_scaler_over_shards(two, bad, foreign):
    results = two.call(rank_steps.scale_dtensors, bad, foreign)
    for changes, scale, _ in results:
        assert [all(step) for step in changes] == [True, False, True] and not any(changes[1]) and scale == 4.0
    wanted = [(x - g).tolist() for x, g in zip(rank_steps.full_list(0), rank_steps.full_list(1))]
    for p, q in zip(results[0][2], wanted):
        close(p, q, 1e-5)


@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("bad", [None, 0, 3])
def test_one_decision_for_parameters_in_several_layouts(four, bad, foreign, unscales):
    for is_same, scale in four.call(rank_steps.scale_mixed, bad, foreign, unscales):
        assert is_same == [bad is not None] * len(is_same) and scale == (8.0 if bad is None else 4.0)


def test_what_would_count_twice_is_refused(two):
    first, second = two.call(rank_steps.refuse_layouts)
    assert len(first) == 6 and [t[:20] for t in first] == [t[:20] for t in second]


if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 6):  # has fully_shard

    @pytest.mark.parametrize("with_arena", [False, True])
    @pytest.mark.parametrize("options", [{}, {"max_norm": 0.05}], ids=str)
    def test_fully_sharded_models(two, options, with_arena):
        for whole, ours in two.call(rank_steps.train_fsdp, options, with_arena):
            close(ours[1], whole[1], 1e-5)
            assert ours[2] == whole[2] == 0
            for a, b in zip(ours[0], whole[0]):
                close(a, b, 1e-4)


def test_a_loss_may_be_a_dtensor(two):
    assert two.call(rank_steps.scale_a_loss) == [[[16.0] * 3] * 4] * 2


@pytest.mark.filterwarnings("ignore:gradients left their arena")
@pytest.mark.parametrize("as_views", [False, True])
def test_data_parallel_models(two, as_views):
    plain, inside = (two.call(rank_steps.train_ddp, with_arena, as_views) for with_arena in (False, True))
    for results in (plain, inside):
        assert results[0][:2] == results[1][:2] and results[0][1] == 16.0
    assert plain[0][0] == inside[0][0], "to the bit"
    assert inside[0][2] == 0 or as_views, "gradients stay in the arena"
