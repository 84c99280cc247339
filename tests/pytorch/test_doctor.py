"""python -m fusewright doctor, on machines that are made up by their environment."""
import json
import os
import subprocess
import sys

import pytest
import torch


def doctor(*arguments, with_torch=False, clean=False, **environment):
    """Without torch unless asked: its import takes seconds. A blocked import looks as a missing package does."""
    command = [sys.executable, "-W", "ignore"]
    if not with_torch:
        code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'fusewright'; from fusewright.__main__ import main; sys.exit(main())"
        command += ["-c", code]
    else:
        command += ["-m", "fusewright"]
    inherited = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")} if clean else dict(os.environ)
    return subprocess.run([*command, *arguments], capture_output=True, text=True, env={**inherited, **environment}, timeout=120)


def parts_of(run):
    report = json.loads(run.stdout)
    return {part["part"]: part for part in report["parts"]}


def expected_code(parts):
    codes = {"torch": 5, "CUDA driver": 4, "NVRTC": 5, "CPU backend": 5, "kernel cache": 7}
    return next((codes[name] for name, part in parts.items() if not part["ok"]), 0)


def test_report(tmp_path):
    run = doctor("doctor", "--json", with_torch=True, FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    parts = parts_of(run)
    assert list(parts) == ["package", "torch", "CUDA driver", "NVRTC", "CPU backend", "kernel cache"]
    assert run.returncode == expected_code(parts) == (0 if torch.cuda.is_available() else 4)
    assert parts["torch"]["facts"]["version"] == torch.__version__ and "builtin_methods" in parts["torch"]["facts"]["roads"]
    assert parts["CPU backend"]["ok"] and parts["kernel cache"]["ok"] and parts["kernel cache"]["facts"]["folder"] == str(tmp_path)
    for part in parts.values():
        assert part["ok"] == (not part["problems"])
        assert all(problem["problem"] and problem["remedy"] for problem in part["problems"])


def test_text(tmp_path):
    run = doctor("doctor", FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    assert run.stdout.startswith("package: ok\n") and "\nCPU backend: ok\n  compiles for: cpu" in run.stdout
    assert run.stdout.endswith("\nCPU: no: expected the package torch, got none; GPU: no: expected the package torch, got none\n")
    if not torch.cuda.is_available():
        assert run.stderr == ""
        assert "CUDA driver: does not work\n  problem: expected the CUDA driver" in run.stdout and "\n  remedy: " in run.stdout


def test_summary(tmp_path):
    run = doctor("doctor", with_torch=True, FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    last = run.stdout.splitlines()[-1]
    if torch.cuda.is_available():
        assert last == "CPU: ready; GPU: ready"
    else:
        assert last.startswith("CPU: ready; GPU: no: expected the CUDA driver")
    assert run.stdout.count("CPU: ready") == 1 and "libcuda" not in run.stderr


@pytest.mark.parametrize("variable, folder", [("FUSEWRIGHT_CACHE_DIR", ""), ("XDG_CACHE_HOME", "fusewright"), ("HOME", ".cache/fusewright"),
                                              ("TMPDIR", f"fusewright-{os.getuid()}")])
def test_the_folder_of_the_cache(tmp_path, variable, folder):
    facts = parts_of(doctor("doctor", "--json", clean=True, **{variable: str(tmp_path)}))["kernel cache"]["facts"]
    assert facts["folder"] == str((tmp_path / folder).resolve()) and os.listdir(facts["folder"])
    assert facts["moved by"] == "FUSEWRIGHT_CACHE_DIR"


def test_without_torch(tmp_path):
    run = doctor("doctor", "--json", FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    parts = parts_of(run)
    assert run.returncode == 5 and not parts["torch"]["ok"] and parts["CPU backend"]["ok"]
    assert parts["torch"]["problems"][0]["problem"] == "expected the package torch, got none"


def test_without_toolkit(tmp_path):
    """A setting is the only candidate: a file that is no NVRTC is the same as none."""
    run = doctor("doctor", "--json", FUSEWRIGHT_NVRTC=str(tmp_path / "none.so"), FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    part = parts_of(run)["NVRTC"]
    assert not part["ok"] and "nvidia-cuda-nvrtc" in part["problems"][0]["remedy"] and "none.so" in part["problems"][0]["log"]


def test_without_the_cpu_library(tmp_path):
    run = doctor("doctor", "--json", FUSEWRIGHT_CPU_LIBRARY=str(tmp_path / "none.so"), FUSEWRIGHT_CACHE_DIR=str(tmp_path / "cache"))
    parts = parts_of(run)
    assert not parts["CPU backend"]["ok"] and "FUSEWRIGHT_CPU_LIBRARY" in parts["CPU backend"]["problems"][0]["remedy"]


def test_without_home(tmp_path):
    run = doctor("doctor", "--json", clean=True, TMPDIR=str(tmp_path))
    assert parts_of(run)["CPU backend"]["ok"] and run.returncode == 5


def test_a_cache_that_keeps_nothing(tmp_path):
    run = doctor("doctor", "--json", FUSEWRIGHT_CACHE_SIZE="0", FUSEWRIGHT_CACHE_DIR=str(tmp_path))
    part = parts_of(run)["kernel cache"]
    assert not part["ok"] and "in each process" in part["problems"][0]["problem"]


def test_wrong_settings():
    run = doctor("doctor", "--json", FUSEWRIGHT_STRICT="perhaps")
    part = parts_of(run)["settings from the environment"]
    assert not part["ok"] and "FUSEWRIGHT_STRICT" in part["problems"][0]["problem"]


def test_command_line():
    import fusewright

    assert doctor("--version").stdout == f"fusewright {fusewright.__version__}\n"
    assert doctor().returncode == 2 and doctor("nobody").returncode == 2
    assert "doctor" in doctor("--help").stdout


@pytest.mark.gpu
def test_devices():
    parts = parts_of(doctor("doctor", "--json", with_torch=True))
    assert torch.cuda.get_device_name(0) in parts["CUDA driver"]["facts"]["cuda:0"]
