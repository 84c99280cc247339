"""python -m fusewright doctor: each part that a step needs is tried, and says what to do where it does not work."""
import json
import os
import platform

import fusewright
from fusewright import _C

_OLDEST_TORCH = (2, 4)
# Statuses of the C API that are exit codes too, as the command line has them.
_EXIT_CODES = {"DEVICE": 4, "TOOLCHAIN": 5, "CACHE": 7}


class Finding:
    """One part: facts, notes, and problems, which mean that it does not work."""

    def __init__(self, part):
        self.part, self.facts, self.notes, self.problems, self.code = part, {}, [], [], 0

    def problem(self, text, remedy, log="", code="TOOLCHAIN"):
        self.problems.append({"problem": text, "remedy": remedy, "log": log})
        self.code = self.code or _EXIT_CODES.get(code, 9)

    def error(self, error):
        text = str(error)[: -len("; " + error.remedy)] if error.remedy else str(error)
        self.problem(text, error.remedy, error.log, error.code)

    def as_dict(self):
        return {"part": self.part, "ok": not self.problems, "facts": self.facts, "notes": self.notes, "problems": self.problems}


def _examine_package():
    finding = Finding("package")
    finding.facts = {**_C.versions(), "path": os.path.dirname(fusewright.__file__), "python": platform.python_version()}
    return finding


def _examine_torch():
    finding = Finding("torch")
    try:
        import torch
    except ImportError as error:
        missing = getattr(error, "name", None) == "torch"
        finding.problem("expected the package torch, got none" if missing else f"expected a torch that can be imported, got: {error}",
                        "install a torch of 2.4 or later for this Python" if missing else "repair the installation of torch")
        return finding
    finding.facts = {"version": torch.__version__, "CUDA": torch.version.cuda or "none"}
    finding.facts["roads"] = ", ".join(name for name, found in _C.torch_roads().items() if found) or "attributes"
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if version < _OLDEST_TORCH:
        finding.problem(f"expected torch 2.4 or later, got {torch.__version__}", "update torch")
    finding.facts["CUDA devices"] = torch.cuda.device_count()
    return finding


def _examine_driver(context):
    finding = Finding("CUDA driver")
    try:
        devices = context.devices()
    except _C.Error as error:
        finding.error(error)
        return finding, None
    for device in devices:
        finding.facts[f"cuda:{device['device']}"] = f"{device['name']}, {device['target']}, {device['memory_bytes'] / 2**30:.1f} GiB"
    if not devices:
        finding.problem("expected a CUDA device, got none", "make one visible (CUDA_VISIBLE_DEVICES); the CPU backend works without", code="DEVICE")
        return finding, None
    return finding, devices[0]["target"]


def _request(context, target):
    request = context.op("axpby").request()
    request.target(target)
    return request


def _examine_nvrtc(context, target):
    """Compiles as far as PTX, so that no file of the cache changes. Without a device for an arch that every NVRTC knows."""
    finding = Finding("NVRTC")
    arch = target or "sm_90"
    try:
        text = _request(context, arch).text("ptx")
    except _C.Error as error:
        finding.error(error)
        return finding
    finding.facts = {"compiles for": arch, "PTX": next((line.strip() for line in text.splitlines() if line.startswith(".version")), "none")}
    return finding


def _examine_cpu(context):
    finding = Finding("CPU backend")
    try:
        program = _request(context, "cpu").compile()
    except _C.Error as error:
        finding.error(error)
        return finding
    finding.facts = {"compiles for": program.kernels()[0]["target"], "took_ms": round(program.compile_ms, 1)}
    return finding


def _folder_of(key):
    """Which of the folders that docs/reference/settings.md tells has the program; the C API does not say."""
    temporary = f"fusewright-{os.getuid()}"
    folders = [os.environ.get("FUSEWRIGHT_CACHE_DIR", ""), os.path.join(os.environ.get("XDG_CACHE_HOME", ""), "fusewright"),
               os.path.join(os.environ.get("HOME", ""), ".cache", "fusewright"),
               os.path.join(os.environ.get("TMPDIR") or "/tmp", temporary)]
    found = next((folder for folder in folders if folder and os.path.exists(os.path.join(folder, "index", key))), None)
    return found and os.path.realpath(found)


def _examine_cache():
    """A kernel of one context is found on disk by the next, or there is no folder that can be used."""
    finding = Finding("kernel cache")
    finding.facts = {"folder": os.environ.get("FUSEWRIGHT_CACHE_DIR") or "none", "moved by": "FUSEWRIGHT_CACHE_DIR"}
    try:
        for _ in range(2):
            context = _C.Context()
            program = _request(context, "cpu").compile()
            origin = program.origin
    except _C.Error as error:
        finding.error(error)
        return finding
    finding.facts["folder"] = _folder_of(program.key) or finding.facts["folder"]
    faults = context.counters()["cache_faults"]
    if faults:
        finding.notes.append(f"{faults} faults; FUSEWRIGHT_LOG=info tells them")
    if origin != "disk":
        finding.problem("expected a kernel on disk, got none: kernels are compiled anew in each process",
                        "point FUSEWRIGHT_CACHE_DIR at a folder of this user", code="CACHE")
    return finding


def examine():
    """All findings, in the order in which a step needs the parts."""
    findings = [_examine_package(), _examine_torch()]
    try:
        context = fusewright.context()
    except _C.Error as error:
        finding = Finding("settings from the environment")
        finding.error(error)
        return [*findings, finding]
    driver, target = _examine_driver(context)
    return [*findings, driver, _examine_nvrtc(context, target), _examine_cpu(context), _examine_cache()]


def _readiness(findings, parts):
    problem = next((problem["problem"] for finding in findings if finding.part in parts for problem in finding.problems), None)
    return "ready" if problem is None else f"no: {problem}"


def _summary(findings):
    """One line: where a step works, or the first reason why not."""
    common = ("package", "torch", "settings from the environment")
    gpu = _readiness(findings, (*common, "CUDA driver", "NVRTC"))
    if gpu == "ready" and not next(finding.facts["CUDA devices"] for finding in findings if finding.part == "torch"):
        gpu = "no: torch sees no CUDA device"
    return f"CPU: {_readiness(findings, (*common, 'CPU backend'))}; GPU: {gpu}"


def _print(findings):
    for finding in findings:
        print(f"{finding.part}: {'does not work' if finding.problems else 'ok'}")
        for name, fact in finding.facts.items():
            print(f"  {name}: {fact}")
        for note in finding.notes:
            print(f"  note: {note}")
        for problem in finding.problems:
            print(f"  problem: {problem['problem']}\n  remedy: {problem['remedy']}")
            for line in problem["log"].splitlines():
                print(f"  log: {line}")
    print(_summary(findings))


def _run(options):
    findings = examine()
    if options.json:
        print(json.dumps({"version": fusewright.__version__, "summary": _summary(findings), "parts": [finding.as_dict() for finding in findings]}, indent=2))
    else:
        _print(findings)
    return next((finding.code for finding in findings if finding.code), 0)


def add_command(commands):
    command = commands.add_parser(
        "doctor", help="try torch, GPUs, NVRTC, CPU backend and cache, and say what to do",
        epilog="The exit code is that of the first part that does not work: 4 for a GPU, 5 for torch, NVRTC or the CPU backend, "
               "7 for the cache. Without a GPU it is 4, and the rest may work all the same.")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)
