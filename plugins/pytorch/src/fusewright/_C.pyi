"""The C API (fusewright.h has the whole contract). Errors are `Error`; wrong Python types are TypeError or ValueError."""
from os import PathLike
from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Tuple, Union

from torch import Tensor

__all__ = ["Context", "Counter", "Error", "Op", "Plan", "Program", "Request", "Scaler", "current_stream",
           "has_gradients", "raise_versions", "shipped_ops", "torch_roads", "versions"]

class Error(RuntimeError):
    """str() is "expected ..., got ...; what to do"."""

    code: str
    """Name of the status: "USAGE", "OP_TEXT", "DEVICE", "TOOLCHAIN", "STRICT_MISS", "CACHE", "OUT_OF_MEMORY", "INTERNAL"."""
    remedy: str
    file: str
    """"" and lines of 0 where the error is about no place of a file."""
    line: int
    column: int
    log: str

class Context:
    """Settings and caches. Any number of threads may use it."""

    def __new__(cls, cache_dir: Union[str, PathLike[str], None] = None, strict: int = -1) -> Context: ...
    def op(self, name: str, /) -> Op: ...
    def parse(self, text: str, file: Optional[str] = None, name: Optional[str] = None) -> Op: ...
    def counters(self) -> Dict[str, int]: ...
    def devices(self) -> List[Dict[str, Any]]:
        """CUDA devices: device name target compute_major compute_minor driver_version multiprocessors memory_bytes.
        `Error` with code "DEVICE" where the driver is missing or too old."""

class Op:
    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def options(self) -> Dict[str, Tuple[str, ...]]:
        """Name -> values; the first is the default."""
    @property
    def features(self) -> Tuple[str, ...]: ...
    def request(self) -> Request: ...

class Request:
    """Belongs to one thread at a time. The first five only note what is wanted; what does not fit is told by the others."""

    def dtype(self, operand: str, dtype: str) -> None: ...
    def option(self, name: str, value: str) -> None: ...
    def feature(self, name: str, /) -> None: ...
    def absent(self, operand: str, /) -> None: ...
    def schedule(self, name: str, value: int) -> None: ...
    def target(self, target: str, /) -> None:
        """"cpu", "cuda:0", or an arch."""
    def operands(self) -> List[Dict[str, Any]]:
        """name role dtype scope read written optional init, in the order of a plan's tensors."""
    def scalars(self) -> List[Dict[str, Any]]:
        """name kind range value is_step."""
    def evaluate(self, tensors: Sequence[GivenTensor], scalars: Optional[Scalars] = None) -> Dict[str, Tuple[List[float], List[float]]]:
        """Name of each written operand -> (values, bounds) of all its elements: the reference in double precision, for a
        list of CPU tensors as a plan takes. Every right result is within values +- bounds."""
    def compile(self) -> Program: ...
    def text(self, stage: Literal["semantic", "phases", "cuda", "ptx", "llvm"], /) -> str: ...

class Program:
    @property
    def key(self) -> str: ...
    @property
    def origin(self) -> Literal["memory", "disk", "compiled"]: ...
    @property
    def compile_ms(self) -> float: ...
    def kernels(self) -> List[Dict[str, Any]]: ...
    def preload(self, device: int, /) -> None: ...

class Counter:
    """A scalar that is counted: a run reads one more than the tensor holds, and writes it back once the step is applied."""

    def __new__(cls, tensor: Tensor) -> Counter: ...
    @property
    def tensor(self) -> Tensor: ...

Scalar = Union[float, Sequence[float], Tensor, Counter, "Scaler"]
"""One number, or one per entry; tensors and counters are float32, float64, int32 or int64 numbers in memory of the plan's
device, read when a run's turn on the stream comes."""

Scalars = Dict[str, Scalar]
AllReduce = Callable[[Tensor, Literal["sum", "max"]], Any]
"""Reduces a float64 tensor in place over all ranks; it must not be kept."""

GivenTensor = Union[Tensor, Tuple[Tensor, int], None]
"""None: the operand is absent. (tensor, number): the shard's first element has that number in the unsharded tensor."""

class Plan:
    """Tensors made ready once. Belongs to one thread at a time. Keeps programs, scalars and owners alive, and not the tensors."""

    def __new__(cls, context: Context, groups: Sequence[Tuple[Program, Sequence[GivenTensor], Optional[Scalars]]]) -> Plan: ...
    def run(self, stream: int, scalars: Optional[Scalars] = None, world: Optional[AllReduce] = None) -> None: ...
    def step(self, stream: int, scalars: Optional[Scalars] = None, world: Optional[AllReduce] = None, watches: int = -1) -> int:
        """0: queued. 1: nothing was run: a watched tensor is no longer what the plan was made for; make a new plan."""
    def watch(self, group: int, operand: str, owners: Sequence[Tensor], attribute: Optional[Literal["grad"]] = None) -> int:
        """step() takes the addresses of owners[i], or of owners[i].grad. Returns the watch's bit in step()'s mask."""
    def set_pointers(self, group: int, operand: str, tensors: Sequence[Optional[Tensor]]) -> None: ...
    def set_scalars(self, group: int, scalars: Optional[Scalars]) -> None: ...
    def info(self) -> Dict[str, Any]:
        """device launches entries elements blocks streamed_bytes workspace_bytes exchanges."""

class Scaler:
    """A loss scale in a device's memory, with what decides about it. Belongs to one thread at a time."""

    def __new__(
        cls,
        context: Context,
        *,
        device: str = "cpu",
        mode: Literal["dynamic", "static"] = "dynamic",
        refill: Literal["clean", "growth"] = "clean",
        denormals: Literal["keep", "flush"] = "keep",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        min_scale: float = ...,
        max_scale: float = ...,
        growth_interval: int = 2000,
        hysteresis: int = 1,
    ) -> Scaler: ...
    def scalar(self) -> Scaler:
        """What a plan takes as the scalar "all.scale"."""
    def scale_tensor(self) -> Tensor:
        """0-d float32 over the scale's memory; to be read alone."""
    def claim(self, owner: object, /) -> None: ...
    def release(self, owner: object, /) -> None: ...
    def update(self, skipped: Sequence[Tensor], stream: int) -> None: ...
    def read(self) -> Dict[str, Any]:
        """outcome ("applied", "bad_gradient", "bad_norm", "left_out", "bad_number") tensor report updates skips
        skips_in_a_row growth_count hysteresis_left scale previous_scale."""
    def wait(self, stream: int, /) -> None: ...
    def save(self, stream: int, /) -> Dict[str, float]: ...
    def load(self, state: Dict[str, float], stream: int) -> None: ...

def shipped_ops() -> List[str]: ...
def versions() -> Dict[str, str]: ...
def torch_roads() -> Dict[str, bool]: ...
def current_stream(device_index: int, /) -> int: ...
def has_gradients(owners: List[Tensor], gradients: List[Tensor], flat: Tensor) -> Optional[bool]:
    """Whether owners[i].grad is gradients[i], with memory of `flat`, or None. None: by attributes alone."""
def raise_versions(tensors: List[Tensor], /) -> bool:
    """Tells autograd that they have changed in place. False: this torch has no such road, and nothing was done."""
