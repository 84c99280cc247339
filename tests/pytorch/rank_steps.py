"""What ranks do in tests of fusewright.distributed. Functions get their rank first, and return plain numbers."""
import math

import torch
import torch.distributed as dist

from fusewright import optim
from fusewright.amp import GradScaler, clip_grad_norm_
from fusewright.distributed import AllReduce, check_shards, groups_of, local_gradient, local_tensor

try:
    from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh
except ImportError:  # torch 2.4
    from torch.distributed._tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh

SHAPES = [(5, 3), (1, 4), (4,), (300, 7), (2, 2, 2)]


def device_of(rank):
    return torch.device("cuda", rank) if dist.get_backend() == "nccl" else torch.device("cpu")


def kind_of():
    return "cuda" if dist.get_backend() == "nccl" else "cpu"


def bits(tensor):
    return tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).tolist()


def refused(call, *texts):
    """The error's text, which has `texts`."""
    try:
        call()
    except (ValueError, RuntimeError, TypeError) as error:
        assert all(text in str(error) for text in texts), str(error)
        return str(error)
    raise AssertionError("expected an error, got none")


# ---- AllReduce


def reduce(rank, kind, numbers):
    """The rank's own numbers, reduced."""
    data = torch.tensor(numbers[rank], dtype=torch.float64, device=device_of(rank))
    AllReduce()(data, kind)
    return data.tolist(), bits(data)


def reduce_over(rank, groups, numbers):
    """Over several groups, one behind the other; every rank makes all groups."""
    made = [[dist.new_group(ranks) for ranks in each] for each in groups]
    mine = [group for each, all_ranks in zip(made, groups) for group, ranks in zip(each, all_ranks) if rank in ranks]
    data = torch.tensor([numbers[rank]], dtype=torch.float64, device=device_of(rank))
    AllReduce(mine)(data, "sum")
    return data.item(), AllReduce(mine).size


# ---- Parts of a list on each rank


def full_list(seed, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) * scale for shape in SHAPES]


def part(rank, tensors, parts):
    return [tensors[i] for i in parts[rank]]


def train_parts(rank, parts, steps, bad, options, uses_scaler, device=None):
    """Trains the rank's tensors of a list. bad: step -> (tensor, element, value)."""
    device = torch.device(device or device_of(rank))
    parameters = [torch.nn.Parameter(x.to(device)) for x in part(rank, full_list(0), parts)]
    if not parameters:
        parameters = [torch.nn.Parameter(torch.zeros(0, device=device))]
    optimizer = optim.AdamW(parameters, lr=0.05, process_group=dist.group.WORLD, **options)
    scaler = GradScaler(device, init_scale=64.0) if uses_scaler else None
    if scaler:
        scaler.scale(torch.ones((), device=device))
    told = []
    for step in range(steps):
        scale = scaler.get_scale() if scaler else 1.0
        gradients = full_list(1 + step, scale)
        if step in bad:
            number, element, value = bad[step]
            gradients[number].view(-1)[element] = value
        for p, g in zip(parameters, part(rank, gradients, parts) or [torch.zeros(0)]):
            p.grad = g.to(device)
        if scaler and step % 2:
            scaler.unscale_(optimizer)
        before = [p.detach().clone() for p in parameters]
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        is_same = all(torch.equal(a, b) for a, b in zip(before, parameters))
        norm = optimizer.norm.item() if options.get("max_norm") else None
        told.append((optimizer.applied.item(), norm, scale, is_same))
    return [p.tolist() for p in parameters], told


def check_foreign(rank, bad_rank):
    """One of torch's optimizers on each rank, the scaler's process group."""
    p = torch.nn.Parameter(torch.ones(3, device=device_of(rank)))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler = GradScaler(kind_of(), init_scale=8.0, process_group=dist.group.WORLD)
    scaler.scale(torch.ones((), device=p.device))
    p.grad = torch.full_like(p, math.inf if rank == bad_rank else 8.0)
    scaler.step(optimizer)
    scaler.update()
    return p.tolist(), scaler.get_scale()


# ---- DTensor


def mesh_of(*shape):
    return init_device_mesh(kind_of(), shape, mesh_dim_names=("outer", "inner")[-len(shape):])


def sharded(x, mesh, placements):
    return distribute_tensor(x.to(mesh.device_type), mesh, placements)


def full(tensor):
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def train_dtensors(rank, shape, placements, name, options, steps=6, with_arena=False):
    """The sharded run, and the run of one process; (bits of parameters, norms) of both."""
    mesh = mesh_of(*shape)
    layout = [Shard(0) if place == "shard" else Replicate() for place in placements]
    results = []
    for is_sharded in (True, False):
        lay = (lambda x: sharded(x, mesh, layout)) if is_sharded else (lambda x: x.to(mesh.device_type))
        parameters = [torch.nn.Parameter(lay(x)) for x in full_list(0)]
        optimizer = getattr(optim, name)(parameters, lr=0.05, **options)
        arena = optimizer.use_arena() if with_arena else None
        norms = []
        for step in range(steps):
            for p, g in zip(parameters, full_list(1 + step)):
                p.grad = lay(g) if p.grad is None else p.grad
                if step and with_arena:
                    p.grad += lay(g)
                elif step:
                    p.grad = lay(g)
            optimizer.step()
            norms.append(optimizer.norm.item() if options.get("max_norm") else 0.0)
            if arena is not None:
                optimizer.zero_grad()
        state = [full(x) for p in parameters for x in optimizer.state[p].values() if torch.is_tensor(x)]
        results.append(([full(p).tolist() for p in parameters], [x.tolist() for x in state], norms))
        empty = sum(local_tensor(p).numel() == 0 for p in parameters)
    return results, empty


def shards_of(rank):
    parameters = [sharded(x, mesh_of(dist.get_world_size()), [Shard(0)]) for x in full_list(0)]
    return [local_tensor(p).numel() for p in parameters]


def pending(rank):
    """The local part of a DTensor that a collective still writes."""
    mesh = mesh_of(dist.get_world_size())
    x = sharded(torch.arange(8.0).view(4, 2), mesh, [Shard(0)]).redistribute(mesh, [Replicate()], async_op=True)
    kind, local = type(x._local_tensor).__name__, local_tensor(x)
    return kind, type(local) is torch.Tensor, local.tolist()


def clip_dtensors(rank, shape, layouts, order):
    """clip_grad_norm_ over gradients in several layouts, beside torch over whole ones."""
    mesh = mesh_of(*shape)
    named = {"s": Shard(0), "r": Replicate()}
    parameters, whole = [], []
    for number, x in enumerate(full_list(3)):
        layout = layouts[number % len(layouts)]

        def lay(y, layout=layout):
            return y.to(mesh.device_type) if layout == "plain" else sharded(y, mesh, [named[c] for c in layout])

        p, q = torch.nn.Parameter(lay(torch.zeros_like(x))), torch.nn.Parameter(torch.zeros_like(x, dtype=torch.float64))
        p.grad, q.grad = lay(x), x.double()
        parameters.append(p)
        whole.append(q)
    norm = clip_grad_norm_(parameters, 2.0, order)
    wanted = torch.nn.utils.clip_grad_norm_(whole, 2.0, order)
    errors = [(full(p.grad).cpu().double() - q.grad).abs() / q.grad.abs().clamp(min=1e-3) for p, q in zip(parameters, whole)]
    return norm.item(), wanted.item(), max(error.max().item() for error in errors)


def scale_dtensors(rank, bad_rank, foreign):
    """A scaler over sharded gradients of which one rank's part has an infinity."""
    mesh = mesh_of(dist.get_world_size())
    parameters = [torch.nn.Parameter(sharded(x, mesh, [Shard(0)])) for x in full_list(0)]
    make = torch.optim.SGD if foreign else optim.SGD
    optimizer = make(parameters, lr=0.5)
    scaler = GradScaler(kind_of(), init_scale=8.0)
    scaler.scale(torch.ones((), device=mesh.device_type))
    changes = []
    for step in range(3):
        for p, g in zip(parameters, full_list(1)):
            p.grad = sharded(g * scaler.get_scale(), mesh, [Shard(0)])
        if step == 1 and rank == bad_rank:
            local_gradient(parameters[3]).view(-1)[5] = math.nan
        before = [local_tensor(p.detach()).clone() for p in parameters]
        if step == 2:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        changes.append([not torch.equal(local_tensor(p.detach()), q) for p, q in zip(parameters, before) if q.numel()])
    return changes, scaler.get_scale(), [full(p).tolist() for p in parameters]


def scale_mixed(rank, bad_rank, foreign, unscales):
    """Parameters that are sharded in several ways, and plain ones, under a scaler; one rank's part is bad."""
    mesh = mesh_of(2, 2)
    layouts = [[Replicate(), Shard(0)], [Shard(0), Shard(0)], None, [Shard(0), Replicate()], [Replicate(), Replicate()]]

    def lay(x, layout):
        return x.to(mesh.device_type) if layout is None else sharded(x, mesh, layout)

    parameters = [torch.nn.Parameter(lay(x, layout)) for x, layout in zip(full_list(0), layouts)]
    optimizer = (torch.optim.SGD if foreign else optim.SGD)(parameters, lr=0.5)
    scaler = GradScaler(kind_of(), init_scale=8.0)
    scaler.scale(torch.ones((), device=mesh.device_type))
    for p, g, layout in zip(parameters, full_list(1), layouts):
        p.grad = lay(g * 8, layout)
    if rank == bad_rank:
        local_gradient(parameters[3]).view(-1)[5] = math.nan
    before = [local_tensor(p.detach()).clone() for p in parameters]
    if unscales:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return [torch.equal(local_tensor(p.detach()), q) for p, q in zip(parameters, before) if q.numel()], scaler.get_scale()


def refuse_layouts(rank):
    mesh = mesh_of(dist.get_world_size())
    size = dist.get_world_size()
    x = torch.ones(4, 3)
    replicated = torch.nn.Parameter(sharded(x, mesh, [Replicate()]))
    parts = torch.nn.Parameter(sharded(x, mesh, [Shard(0)]))
    check_shards([parts, torch.ones(2)], dist.group.WORLD)
    texts = [refused(lambda: check_shards([parts, replicated], dist.group.WORLD), "parameter 1", f"{size} ranks of the group")]
    replicated.grad = torch.ones_like(replicated)
    optimizer = optim.AdamW([replicated], max_norm=1.0, process_group=dist.group.WORLD)
    texts.append(refused(optimizer.step, "sharded over the process group"))
    partial = DTensor.from_local(x.to(mesh.device_type), mesh, [Partial()], run_check=False)
    texts.append(refused(lambda: groups_of(partial), "expected a tensor that is sharded or replicated"))
    parts.grad = sharded(x, mesh, [Replicate()])
    texts.append(refused(lambda: local_gradient(parts), "expected a gradient with the placements of its parameter"))
    for other in (replicated, torch.nn.Parameter(torch.ones(3, device=mesh.device_type))):
        whole = torch.nn.Parameter(sharded(x, mesh, [Shard(0)]))
        whole.grad, other.grad = torch.ones_like(whole), torch.ones_like(other)
        optimizer = optim.AdamW([whole, other], max_norm=1.0)  # the other's gradient would count once per rank
        texts.append(refused(optimizer.step, "whose parts are on the same ranks, for a common norm", "for parameter 1"))
    assert groups_of(parts) != () and groups_of(replicated) == () and groups_of(x) == ()
    return texts


def train_fsdp(rank, options, with_arena, steps=5):
    """fully_shard beside the model of one process."""
    from torch.distributed.fsdp import fully_shard

    device = device_of(rank)

    def model():
        torch.manual_seed(5)
        return torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, 1)).to(device)

    mesh = mesh_of(dist.get_world_size())
    plain, sharded_model = model(), model()
    for layer in sharded_model:
        if isinstance(layer, torch.nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(sharded_model, mesh=mesh)
    seen = []
    for each in (plain, sharded_model):
        optimizer = optim.AdamW(each.parameters(), lr=0.05, **options)
        if with_arena:
            optimizer.use_arena()
        scaler = GradScaler(kind_of(), init_scale=32.0)
        norms = []
        for step in range(steps):
            x = torch.randn(4, 6, generator=torch.Generator().manual_seed(step)).to(device)  # the same on all ranks
            scaler.scale(each(x).square().mean()).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            norms.append(optimizer.norm.item() if options.get("max_norm") else 0.0)
        seen.append(([full(p.detach()).tolist() for p in each.parameters()], norms, scaler.state().skips))
    return seen


def scale_a_loss(rank):
    """A loss that is a DTensor, as tensor parallel models have."""
    mesh = mesh_of(dist.get_world_size())
    p = torch.nn.Parameter(sharded(torch.ones(4, 3), mesh, [Shard(0)]))
    scaler = GradScaler(kind_of(), init_scale=8.0)
    scaler.scale((p * 2).sum()).backward()
    return full(p.grad).tolist()


def train_ddp(rank, with_arena, as_views, steps=8):
    """DistributedDataParallel under a scaler; one rank's batch overflows in step 3."""
    torch.manual_seed(5)
    device = device_of(rank)
    model = torch.nn.Sequential(torch.nn.Linear(6, 9), torch.nn.Tanh(), torch.nn.Linear(9, 1)).to(device)
    wrapped = torch.nn.parallel.DistributedDataParallel(
        model, device_ids=[rank] if device.type == "cuda" else None, gradient_as_bucket_view=as_views
    )
    optimizer, scaler = optim.AdamW(model.parameters(), lr=0.05, max_norm=0.1), GradScaler(kind_of(), init_scale=32.0)
    arena, looks = optimizer.use_arena() if with_arena else None, 0
    for step in range(steps):
        x = torch.randn(4, 6, generator=torch.Generator().manual_seed(10 * step + rank)).to(device)
        loss = wrapped(x).square().mean() * (math.inf if step == 3 and rank == 1 else 1.0)
        scaler.scale(loss).backward()
        if arena is not None and step > 3:
            looks += any(p.grad is not slot.gradient for p, slot in zip(model.parameters(), arena._segments[0].slots))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return [p.tolist() for p in model.parameters()], scaler.get_scale(), looks
