#!/usr/bin/env python3
"""Runs every kernel of the matrix on the GPU: run_cases.py WRITE_GPU_CASES [FOLDER]

The program WRITE_GPU_CASES compiles the kernels for the device's arch and writes their cases; each
cubin is then loaded by the driver and run on them, with tables in device memory and with everything in
the kernel's parameter. Every stored word must be that of the bit reference (any NaN stands for any
other), and no byte may change but those of the outputs.
Without NumPy or a GPU the test is skipped with exit status 77 and the reason.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

try:
    import driver
    import numpy
    GPU = driver.Driver()
except Exception as error:  # no module, no driver, no device: each is a reason
    print(f"skipped: needs NumPy and a GPU: {type(error).__name__}: {error}")
    sys.exit(SKIPPED)

EVICT_LAST = 0x14F0000000000000

# Words of a dtype, and which of them are NaN.
UNSIGNED = {"f32": numpy.uint32, "f64": numpy.uint64, "f16": numpy.uint16, "bf16": numpy.uint16,
            "e4m3fn": numpy.uint8, "e4m3fn.sat": numpy.uint8, "e5m2": numpy.uint8, "e5m2.sat": numpy.uint8}
MAGNITUDE_OF_NAN = {"f32": 0x7f800001, "f64": 0x7ff0000000000001, "f16": 0x7c01, "bf16": 0x7f81,
                    "e4m3fn": 0x7f, "e4m3fn.sat": 0x7f, "e5m2": 0x7d, "e5m2.sat": 0x7d}


def is_nan(words, dtype):
    magnitude = words & numpy.array((1 << (words.itemsize * 8 - 1)) - 1, words.dtype)
    return magnitude >= numpy.array(MAGNITUDE_OF_NAN[dtype], words.dtype)


class Blob:
    def __init__(self, path):
        self.bytes = numpy.fromfile(path, numpy.uint8)

    def part(self, place):
        return self.bytes[place["at"]:place["at"] + place["size"]]


def run_with_tables(function, kernel, case, blob, arena):
    tables = case["tables"]
    if not tables["grid"]:
        return
    chunks, scalars = (GPU.upload(blob.part(tables[name])) for name in ("chunks", "scalars"))
    columns = [GPU.upload(blob.part(column).view(numpy.uint64) + numpy.uint64(arena.address.value))
               for column in tables["columns"]]
    parameter = driver.table_parameter(kernel["layout"], chunks.address.value,
                                       [column.address.value for column in columns], scalars.address.value,
                                       tables["per_entry"], EVICT_LAST)
    function.launch(tables["grid"], kernel["threads"], parameter)
    GPU.call("cuCtxSynchronize")  # before the tables are freed


def run_with_parameter(function, kernel, case, blob, arena):
    inline = case["parameter"]
    if not inline["grid"]:
        return
    parameter = blob.part(inline["bytes"]).copy()
    layout, words = kernel["layout"], parameter.view(numpy.uint64)
    count = int(parameter.view(numpy.uint32)[layout["segment_count"] // 4]) * len(kernel["operands"])
    words[layout["addresses"] // 8:][:count] += numpy.uint64(arena.address.value)
    words[layout["policy"] // 8] = EVICT_LAST
    function.launch(inline["grid"], kernel["threads"], parameter)


def run_case(run, function, kernel, case, blob):
    """A list of what is wrong; empty if all words are right."""
    before = blob.part(case["arena"])
    arena = GPU.upload(before)
    run(function, kernel, case, blob, arena)
    after = numpy.frombuffer(arena.read(), numpy.uint8)
    faults = []
    expected_bytes = before.copy()
    for output in case.get("outputs") or []:
        expected = blob.part(output["expected"])
        span = slice(output["offset"], output["offset"] + len(expected))
        got, want = after[span].view(UNSIGNED[output["dtype"]]), expected.view(UNSIGNED[output["dtype"]])
        wrong = (got != want) & ~(is_nan(got, output["dtype"]) & is_nan(want, output["dtype"]))
        if wrong.any():
            i = int(numpy.argmax(wrong))
            faults.append(f"{case['name']}: {output['operand']}: {int(wrong.sum())} words differ, first at {i}: "
                          f"expected {int(want[i]):#x}, got {int(got[i]):#x}")
        expected_bytes[span] = after[span]
    if (after != expected_bytes).any():
        faults.append(f"{case['name']}: bytes outside the outputs were changed")
    return [f"{run.__name__}: {fault}" for fault in faults]


def main():
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    subprocess.run([sys.argv[1], str(folder), f"sm_{GPU.capability}"], check=True)
    failed = 0
    kernels = json.loads((folder / "manifest.json").read_text())
    for kernel in kernels:
        function = GPU.kernel(folder / f"{kernel['name']}.cubin", kernel["symbol"])
        blob = Blob(folder / f"{kernel['name']}.bin")
        faults = [fault for case in kernel["cases"] for run in (run_with_tables, run_with_parameter)
                  for fault in run_case(run, function, kernel, case, blob)]
        failed += bool(faults)
        for fault in faults[:4]:
            print(f"FAILED {kernel['name']} ({kernel['what']}): {fault}")
    cases = sum(len(kernel["cases"]) for kernel in kernels)
    print(f"sm_{GPU.capability}: {len(kernels)} cubins loaded, {cases} cases two ways, {failed} kernels with wrong words")
    print(f"{len(kernels) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
