"""Print the static MLIR archives of an LLVM installation, one path a line (used by meson.build).

All of them may be named on a link line: the linker pulls members by need.
"""

import pathlib
import sys

SKIP = ("Test", "MLIRCAPI", "libMLIR-C", "MlirOptMain")  # the last defines main()

for path in sorted(pathlib.Path(sys.argv[1]).glob("libMLIR*.a")):
    if not any(word in path.name for word in SKIP):
        print(path)
