"""What the ranks of test_optim_ranks.py do; each function is called on all of them."""
import copy

import torch
import torch.distributed as dist

from fusewright.optim import AdamW
from optim_reference import parameters

SHAPES = [(5, 3), (1, 4), (8,)]


def device_of(rank):
    return torch.device("cuda", rank) if dist.get_backend() == "nccl" else torch.device("cpu")


def empty_groups(rank):
    """One rank has all parameters, the other none. What both are told, in three steps."""
    device, told = device_of(rank), []
    params = parameters([(4,)], device=device) if rank == 0 else []
    optimizer = AdamW([{"params": params}], max_norm=1.0, guard=True, process_group=dist.group.WORLD)
    for value in (2.0, float("nan"), 0.5):
        if value == 0.5:
            params, optimizer = copy.deepcopy((params, optimizer))  # has the same group
        for p in params:
            p.grad = torch.full_like(p, value)
        optimizer.step()
        told.append((optimizer.norm.item(), optimizer.applied.item()))
    return told


def sharded_steps(rank, options):
    """Steps of DTensors, with a save and a load between; the whole parameters and moments, and how far they are from those of
    one process."""
    try:
        from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh
    except ImportError:  # before torch 2.5
        from torch.distributed._tensor import Shard, distribute_tensor, init_device_mesh
    device = device_of(rank)
    mesh = init_device_mesh(device.type, (dist.get_world_size(),))
    whole = parameters(SHAPES, device=device)
    shards = [torch.nn.Parameter(distribute_tensor(p.detach(), mesh, [Shard(0)])) for p in whole]
    first, second = AdamW(whole, lr=0.1, **options), AdamW(shards, lr=0.1, **options)
    random = torch.Generator().manual_seed(3)
    for step in range(6):
        for p, q in zip(whole, shards):
            gradient = torch.randn(p.shape, generator=random).to(device)
            p.grad, q.grad = gradient, distribute_tensor(gradient, mesh, [Shard(0)])
        first.step()
        second.step()
        if step == 3:
            saved = second.state_dict()
            assert all(type(saved["state"][i]["exp_avg"]) is type(q) or type(saved["state"][i]["exp_avg"]).__name__ == "DTensor"
                       for i, q in enumerate(shards))
            second = AdamW(shards, lr=0.1, **options)
            second.load_state_dict(saved)
    distances = [(q.detach().full_tensor() - p.detach()).abs().max().item() for p, q in zip(whole, shards)]
    moments = [(second.state[q]["exp_avg"].full_tensor() - first.state[p]["exp_avg"]).abs().max().item() for p, q in zip(whole, shards)]
    norms = (first.norm.item(), second.norm.item()) if options.get("max_norm") else (0.0, 0.0)
    return distances, moments, norms, second.statistics()["gradients_copied"]
