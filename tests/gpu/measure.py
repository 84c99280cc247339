#!/usr/bin/env python3
"""Measures kernels of a folder of write-gpu-cases on real tensor lists: measure.py [--no-peers] FOLDER [OUT.json]

One launch over a list of tensors, beside a device-to-device copy of the same bytes and torch's fused
optimizer in the same run. Method: the queue is filled before the events, the median of 21.
"""

import json
import math
import pathlib
import statistics
import sys

import numpy
import torch

import driver

DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
          "e4m3fn": torch.float8_e4m3fn, "e4m3fn.sat": torch.float8_e4m3fn,
          "e5m2": torch.float8_e5m2, "e5m2.sat": torch.float8_e5m2}
EVICT_LAST, NORMAL = 0x14F0000000000000, 0x16F0000000000000


MODELS = json.loads((pathlib.Path(__file__).resolve().parents[2] / "bench/tables/models.json").read_text())
LISTS = {name: [math.prod(shape) for _, shape in MODELS[name]["tensors"]] for name in ("llama-1.1b", "resnet-50")}


def median_us(run, before=None):
    """GPU time of run(); the queue is ahead of the host, as in training."""
    filler = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for _ in range(24):
        if before:
            before()
        filler.random_(0, 255) if len(times) < 3 else filler.add_(1)
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(2_000_000)
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times[3:])


CHUNK = [("first", "u8"), ("count", "u4"), ("head", "u4"), ("segment", "u4"), ("group", "u4"), ("entry", "u4"), ("reserved", "u4")]


def on_device(array):
    return torch.from_numpy(array.view(numpy.uint8)).cuda()


def chunk_table(sizes, chunk):
    """Records of tensors that all stand on 256-byte boundaries and share row 0 of the scalars."""
    rows = []
    for segment, size in enumerate(sizes):
        first = numpy.arange(0, size, chunk, dtype=numpy.uint64)
        row = numpy.zeros(len(first), dtype=CHUNK)
        row["first"], row["count"], row["segment"] = first, numpy.minimum(chunk, size - first), segment
        rows.append(row)
    return numpy.concatenate(rows)


def flat(dtype, sizes):
    """One buffer per operand; tensors are 256-byte aligned views."""
    width = torch.empty(0, dtype=DTYPES[dtype]).element_size()
    step = 256 // width
    starts = numpy.concatenate([[0], numpy.cumsum([(size + step - 1) // step * step for size in sizes])])
    buffer = torch.empty(int(starts[-1]), dtype=torch.float32, device="cuda").normal_().abs_().mul_(1e-3).to(DTYPES[dtype])
    return buffer, starts[:-1] * width + buffer.data_ptr()


def measure_ours(gpu, folder, kernel, sizes):
    blob = numpy.fromfile(folder / f"{kernel['name']}.bin", numpy.uint8)
    place = kernel["defaults"]
    scalars = on_device(blob[place["at"]:place["at"] + place["size"]])
    function = gpu.kernel(folder / f"{kernel['name']}.cubin", kernel["symbol"])
    operands = [flat(operand["dtype"], sizes) for operand in kernel["operands"]]
    columns = [on_device(addresses.astype(numpy.uint64)) for _, addresses in operands]
    records = chunk_table(sizes, kernel["chunk"])
    chunks = on_device(records)
    bytes_moved = sum(sum(sizes) * operand[0].element_size() * (description["read"] + description["written"])
                      for operand, description in zip(operands, kernel["operands"]))

    def run(policy=EVICT_LAST):
        parameter = driver.table_parameter(kernel["layout"], chunks.data_ptr(), [column.data_ptr() for column in columns],
                                           scalars.data_ptr(), False, policy)
        function.launch(len(records), kernel["threads"], parameter, torch.cuda.current_stream().cuda_stream)

    return median_us(run), median_us(lambda: run(NORMAL)), bytes_moved


def measure_copy(bytes_moved):
    half = min(bytes_moved // 2, 4 << 30)
    source, target = (torch.empty(half, dtype=torch.uint8, device="cuda") for _ in range(2))
    return median_us(lambda: target.copy_(source)) * bytes_moved / (2 * half)


def measure_torch(what, sizes):
    parameters = [torch.randn(size, device="cuda").requires_grad_() for size in sizes]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    if what.startswith("adamw"):
        optimizer = torch.optim.AdamW(parameters, fused=True)
    else:
        optimizer = torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=True)
    optimizer.step()
    graph_time = median_us(optimizer.step)
    return graph_time


WANTED = {
    "adamw f32": "adamw for sm_{}: p=f32 g=f32 m=f32 v=f32 amsgrad=false decay=decoupled",
    "adamw bf16 grad": "adamw for sm_{}: p=f32 g=bf16 m=f32 v=f32 amsgrad=false decay=decoupled",
    "adamw bf16 grad + copy": "adamw for sm_{}: p=f32 g=bf16 m=f32 v=f32 p.copy=bf16 amsgrad=false decay=decoupled +copy",
    "adamw all bf16": "adamw for sm_{}: p=bf16 g=bf16 m=bf16 v=bf16 amsgrad=false decay=decoupled",
    "sgd momentum f32": "sgd for sm_{}: p=f32 g=f32 b=f32 maximize=false momentum=classical",
    "lion f32": "lion for sm_{}: p=f32 g=f32 m=f32",
    "scale f32": "scale for sm_{}: x=f32 y=f32",
    "scale bf16": "scale for sm_{}: x=bf16 y=bf16",
    "cast f32 to bf16": "cast for sm_{}: x=f32 y=bf16",
    "cast f32 to e4m3fn": "cast for sm_{}: x=f32 y=e4m3fn",
}


def main():
    with_peers = "--no-peers" not in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--no-peers"]
    folder = pathlib.Path(arguments[0])
    gpu = driver.Driver()
    arch = gpu.capability
    kernels = {kernel["what"]: kernel for kernel in json.loads((folder / "manifest.json").read_text())}
    rows = []
    print(f"{'case':24} {'list':12} {'regs':>4} {'GB':>6} {'us':>9} {'GB/s':>6} {'% copy':>7} {'% normal policy':>15} {'torch fused %':>13}")
    for name, sizes in LISTS.items():
        for title, what in WANTED.items():
            kernel = kernels.get(what.format(arch)) or next((k for w, k in kernels.items() if w.startswith(what.format(arch))), None)
            if kernel is None:
                print(f"{title:24} {name:12} not in the folder")
                continue
            ours, normal, moved = measure_ours(gpu, folder, kernel, sizes)
            copy = measure_copy(moved)
            peer = measure_torch(title, sizes) if with_peers and title in ("adamw f32", "sgd momentum f32") else None
            torch.cuda.empty_cache()
            rows.append({"case": f"{title}, {name}", "us": ours, "percent_of_copy": 100 * copy / ours,
                         "percent_of_copy_normal_policy": 100 * copy / normal, "bytes": moved,
                         "peers": {"torch fused": {"us": peer, "percent_of_copy": 100 * copy / peer}} if peer else {},
                         "registers": kernel["registers"], "schedule": kernel["schedule"]})
            print(f"{title:24} {name:12} {kernel['registers']:4} {moved / 1e9:6.2f} {ours:9.1f} {moved / ours / 1e3:6.0f} "
                  f"{100 * copy / ours:7.1f} {100 * copy / normal:15.1f} {f'{100 * copy / peer:.1f}' if peer else '':>13}", flush=True)
    if len(arguments) > 1:
        versions = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                    "driver": gpu.version}
        pathlib.Path(arguments[1]).write_text(json.dumps({"rows": rows, "versions": versions}, indent=1))


if __name__ == "__main__":
    main()
