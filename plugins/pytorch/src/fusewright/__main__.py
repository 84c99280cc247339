"""python -m fusewright: what works on this machine."""
import argparse
import sys

import fusewright
from fusewright import doctor


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m fusewright", description="Fused training kernels from equations, for PyTorch.")
    parser.add_argument("--version", action="version", version=f"fusewright {fusewright.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor.add_command(commands)
    options = parser.parse_args(arguments)
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
