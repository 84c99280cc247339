"""bundle.py TOOLS_FOLDER LIST OUT.cpp: one host bundle of the kernels that LIST names."""

import pathlib
import sys

sys.path.insert(0, sys.argv[1])
import emulate_bundle  # noqa: E402

kernels = [pathlib.Path(line) for line in pathlib.Path(sys.argv[2]).read_text().splitlines()]
out = pathlib.Path(sys.argv[3])
out.write_text(emulate_bundle.bundle_text(out.stem, kernels), encoding="utf-8")
