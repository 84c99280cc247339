#!/usr/bin/env python3
"""gpu_twins.py FOLDER: runs what write_twins wrote there on this machine's GPU and compares it with the
host's results, bit for bit. Needs the driver (libcuda.so.1) and nothing else."""
import array
import ctypes
import sys
from pathlib import Path

COUNT, THREADS = 65536, 256


def check(status, what):
    if status != 0:
        sys.exit(f'gpu_twins: error: expected {what} to succeed, got CUDA error {status}')


def run(cubin, words):
    """The output of kernel `twins` in a buffer of so many 64-bit words."""
    cuda = ctypes.CDLL('libcuda.so.1')
    device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory = ctypes.c_uint64()
    check(cuda.cuInit(0), 'cuInit')
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), 'cuDeviceGet')
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), 'cuDevicePrimaryCtxRetain')
    check(cuda.cuCtxSetCurrent(context), 'cuCtxSetCurrent')
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), 'cuModuleLoadData')
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, b'twins'), 'cuModuleGetFunction')
    check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(8 * words)), 'cuMemAlloc')
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p))
    check(cuda.cuLaunchKernel(function, COUNT // THREADS, 1, 1, THREADS, 1, 1, 0, None, arguments, None), 'the launch')
    check(cuda.cuCtxSynchronize(), 'the kernel')
    out = ctypes.create_string_buffer(8 * words)
    check(cuda.cuMemcpyDtoH_v2(out, memory, ctypes.c_size_t(8 * words)), 'cuMemcpyDtoH')
    return out.raw


def main(folder):
    names = (folder / 'rows.txt').read_text().splitlines()
    expected = (folder / 'expected.bin').read_bytes()
    got = run((folder / 'twins.cubin').read_bytes(), len(expected) // 8)
    failed = 0
    for row, name in enumerate(names):
        part = slice(8 * COUNT * row, 8 * COUNT * (row + 1))
        if got[part] == expected[part]:
            continue
        here, there = array.array('Q', got[part]), array.array('Q', expected[part])
        wrong = [i for i in range(COUNT) if here[i] != there[i]]
        print(f'{name}: {len(wrong)} of {COUNT} differ, input {wrong[0]}: GPU {here[wrong[0]]:#x}, host {there[wrong[0]]:#x}')
        failed += 1
    print(f'{len(names) - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
