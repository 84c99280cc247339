# What all folders of .mlir tests share. `lit -sv build/tests/<room>` runs one of them.
import os

import lit.formats

config.name = os.path.relpath(config.test_source_root, config.source_root)
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
config.excludes = ["inputs", "golden"]
config.environment["PATH"] = os.pathsep.join([config.llvm_bindir, os.environ.get("PATH", "")])

# One switch makes every test print its module, read it again and compare; both ways may run at once.
fw_opt = os.path.join(config.build_root, "tools", "fw-opt")
if os.environ.get("FUSEWRIGHT_CHECK_ROUNDTRIP"):
    fw_opt += " --verify-roundtrip"
    config.test_exec_root = os.path.join(config.test_exec_root, "roundtrip")
config.substitutions.append((r"\bfw-opt\b", fw_opt))
