#!/usr/bin/env python3
"""Runs world-test as two processes of MPI. Without arguments says that there is no MPI.

usage: world.py [MPIEXEC PROGRAM]
"""
import os
import subprocess
import sys

# As in a container: as root, on fewer cores than ranks, without ptrace between processes and ssh.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_plm_rsh_agent": "sh"}
# What MPI keeps until the process ends is not ours.
SANITIZERS = {"ASAN_OPTIONS": ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_leaks=0"]))}


def main(arguments):
    if not arguments:
        print("skipped: MPI is not installed")
        return 77
    mpiexec, program = arguments
    return subprocess.run([mpiexec, "-n", "2", program, "--gtest_color=no"], env={**os.environ, **OPEN_MPI, **SANITIZERS}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
