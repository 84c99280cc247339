"""The C API by ctypes, as much of it as plans of tensors need: no extension, no build."""
import collections
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

CPU, CUDA = 1, 2


class Error(Structure):
    _fields_ = [("struct_size", c_uint32), ("code", c_int32), ("text", c_char_p), ("remedy", c_char_p), ("file", c_char_p),
                ("line", c_int32), ("column", c_int32), ("log", c_char_p)]


class Tensor(Structure):
    _fields_ = [("struct_size", c_uint32), ("device", c_int32), ("device_id", c_int32), ("rank", c_int32), ("dtype", c_char_p),
                ("data", c_void_p), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("first_element", c_uint64)]


class Scalar(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("name", c_char_p), ("value", c_double),
                ("values", POINTER(c_double)), ("count", c_size_t), ("data", c_void_p), ("dtype", c_char_p),
                ("advance", c_int32), ("reserved2", c_uint32)]


class Group(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("program", c_void_p), ("tensors", POINTER(Tensor)),
                ("tensor_count", c_size_t), ("scalars", POINTER(Scalar)), ("scalar_count", c_size_t)]


class PlanInfo(Structure):
    _fields_ = [("struct_size", c_uint32), ("launches", c_uint32), ("device", c_int32), ("device_id", c_int32),
                ("entries", c_uint64), ("elements", c_uint64), ("blocks", c_uint64), ("streamed_bytes", c_uint64),
                ("workspace_bytes", c_uint64)]


class OperandInfo(Structure):
    _fields_ = [("struct_size", c_uint32), ("read", c_int32), ("written", c_int32), ("optional", c_int32), ("name", c_char_p),
                ("role", c_char_p), ("dtype", c_char_p), ("init", c_double), ("scope", c_char_p)]


class Counters(Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32),
                *((name, c_uint64) for name in ("memory_hits", "disk_hits", "compiles", "waits", "cache_faults", "launches",
                                                "modules", "table_uploads"))]


Operand = collections.namedtuple("Operand", "name role dtype scope")


def scalar(name, value):
    return Scalar(struct_size=ctypes.sizeof(Scalar), name=name.encode(), value=value)


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.fw_last_error.restype = POINTER(Error)
        self.context = self.make("fw_context_create", None)

    def check(self, status):
        if status:
            error = self.c.fw_last_error().contents
            raise SystemExit(f"error: {error.text.decode()}; {error.remedy.decode()}\n{error.log.decode()}")

    def call(self, name, *arguments):
        """Integers are passed as addresses: every number of the API that this file passes is a size or a handle."""
        self.check(getattr(self.c, name)(*[c_size_t(a) if isinstance(a, int) else a for a in arguments]))

    def make(self, name, *arguments):
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        return made

    def launches(self):
        """Kernels that were launched so far."""
        counters = Counters(struct_size=ctypes.sizeof(Counters))
        self.call("fw_context_counters", self.context, byref(counters))
        return counters.launches


class Program:
    """A request of bench/tables/cases.json, compiled for `target`."""

    def __init__(self, library, case, target):
        self.library = library
        op = library.make("fw_op_find", library.context, case["op"].encode())
        request = library.make("fw_request_create", op)
        library.call("fw_request_target", request, target.encode())
        for key, value in case.get("options", {}).items():
            library.call("fw_request_option", request, key.encode(), value.encode())
        for key, value in case.get("dtypes", {}).items():
            library.call("fw_request_dtype", request, key.encode(), value.encode())
        for feature in case.get("features", []):
            library.call("fw_request_feature", request, feature.encode())
        self.program = library.make("fw_compile", library.context, request)
        self.operands = self.read_operands(request)
        library.c.fw_request_destroy(request)
        library.c.fw_op_destroy(op)

    def read_operands(self, request):
        count, operands = c_size_t(), []
        self.library.call("fw_request_operand_count", request, byref(count))
        for index in range(count.value):
            info = OperandInfo(struct_size=ctypes.sizeof(OperandInfo))
            self.library.call("fw_request_operand", request, index, byref(info))
            operands.append(Operand(*(text.decode() for text in (info.name, info.role, info.dtype, info.scope))))
        return operands

    def of_entries(self):
        """Operands of an entry of a list."""
        return [operand for operand in self.operands if operand.scope != "all"]

    def of_all(self):
        """Operands with one value in all, which stand behind the entries."""
        return [operand for operand in self.operands if operand.scope == "all"]


class Plan:
    """Groups of (entries, scalars); an entry is (shape, address of each operand). `of_all`: addresses of the operands
    with one value in all."""

    def __init__(self, program, groups, of_all=(), device=CUDA):
        self.library, self.kept = program.library, []
        array = (Group * len(groups))(*[self.group(program, entries, of_all, scalars, device) for entries, scalars in groups])
        self.plan = self.library.make("fw_plan_create", self.library.context, array, len(groups))
        self.info = PlanInfo(struct_size=ctypes.sizeof(PlanInfo))
        self.library.call("fw_plan_describe", self.plan, byref(self.info))

    def tensors(self, operands, shape, addresses, device):
        sizes = (c_int64 * len(shape))(*shape)
        self.kept.append(sizes)
        return [Tensor(struct_size=ctypes.sizeof(Tensor), device=device, rank=len(shape), dtype=operand.dtype.encode(),
                       data=address, shape=sizes)
                for operand, address in zip(operands, addresses, strict=True)]

    def group(self, program, entries, of_all, scalars, device):
        tensors = []
        for shape, addresses in entries:
            tensors += self.tensors(program.of_entries(), shape, addresses, device)
        tensors += self.tensors(program.of_all(), [1], of_all, device)
        tensor_array, scalar_array = (Tensor * len(tensors))(*tensors), (Scalar * len(scalars))(*scalars)
        self.kept += [tensor_array, scalar_array]
        return Group(struct_size=ctypes.sizeof(Group), program=program.program, tensors=tensor_array,
                     tensor_count=len(tensors), scalars=scalar_array, scalar_count=len(scalars))

    def run(self, stream=0, scalars=()):
        values = (Scalar * len(scalars))(*scalars)
        self.library.check(self.library.c.fw_plan_run(self.plan, values, c_size_t(len(scalars)), c_void_p(stream), None))

    def close(self):
        self.library.c.fw_plan_destroy(self.plan)
