#!/usr/bin/env python3
"""Bundles emitted kernels for the host emulator: OUT.cpp KERNEL.cu...

A sanitized compilation costs a second for one kernel per file and a fifth of that in bundles, so the
unchanged texts are included one after another, each in a namespace of its own, with its macros
removed behind it. The file ends with the table `fw_bundle_<stem of OUT>` of tests/emulator/Bundle.h.

With --split N, OUT is a folder: it gets bundle_0.cpp, bundle_1.cpp ... of N kernels each, and the
names of these files are printed.
"""
import argparse
import re
from pathlib import Path

# extern "C" __global__ void [__launch_bounds__(...)] SYMBOL(
ENTRY = re.compile(r'__global__\s+void\s+(?:__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\)\s*)?(\w+)\s*\(')
COMMENT = re.compile(r'//[^\n]*')
MACRO = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)', re.M)


def entry_symbol(path, text):
    found = ENTRY.findall(COMMENT.sub('', text))
    if len(found) != 1:
        raise SystemExit(f'{path}: error: expected one __global__ function, got {len(found)}; give one kernel per file')
    return found[0]


def kernel_lines(stem, number, path):
    """The kernel in namespace <stem>_k<number>, under a C symbol that no other kernel of any bundle has."""
    text = path.read_text(encoding='utf-8')
    symbol = entry_symbol(path, text)
    macros = sorted(set(MACRO.findall(text)))
    for name in macros:  # headers of the bundle itself may have set a default
        yield f'#undef {name}'
    yield f'#define {symbol} {symbol}_{stem}_k{number}'
    yield f'namespace {stem}_k{number} {{  // no two bundles of a program may share a type'
    yield f'#include "{path.resolve()}"'
    yield f'FW_BUNDLE_ENTRY({symbol})'
    yield '}'
    for name in macros + [symbol]:
        yield f'#undef {name}'
    yield ''


def bundle_text(stem, paths):
    lines = ['#include "tests/emulator/Bundle.h"', '#include "tests/emulator/KernelText.h"', '']
    for number, path in enumerate(paths):
        lines += kernel_lines(stem, number, path)
    lines.append(f'extern "C" const fw::emulator::BundledKernel fw_bundle_{stem}[] = {{')
    for number, path in enumerate(paths):
        symbol = entry_symbol(path, path.read_text(encoding='utf-8'))
        lines.append(f'    FW_BUNDLE_ROW({stem}_k{number}, "{symbol}", "{path.name}"),')
    return '\n'.join(lines + ['    {}};', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--split', type=int, metavar='N', help='kernels per file')
    parser.add_argument('out', type=Path)
    parser.add_argument('kernels', type=Path, nargs='+')
    arguments = parser.parse_args()
    if not arguments.split:
        arguments.out.write_text(bundle_text(arguments.out.stem, arguments.kernels), encoding='utf-8')
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for at in range(0, len(arguments.kernels), arguments.split):
        out = arguments.out / f'bundle_{at // arguments.split}.cpp'
        out.write_text(bundle_text(out.stem, arguments.kernels[at:at + arguments.split]), encoding='utf-8')
        print(out)


if __name__ == '__main__':
    main()
