"""As much of the CUDA driver as the scripts of this folder need: libcuda.so.1 through ctypes."""

import ctypes
import struct

COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR = 75, 76


class Driver:
    """Device 0 with its primary context current, which is the one that torch uses too."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", ctypes.c_uint(0))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.capability = "".join(str(self.attribute(which, device)) for which in
                                  (COMPUTE_CAPABILITY_MAJOR, COMPUTE_CAPABILITY_MINOR))
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.version = version.value

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status != 0:
            raise OSError(f"expected {name} to succeed, got CUDA error {status}")

    def attribute(self, which, device):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, device)
        return value.value

    def upload(self, data):
        """Memory that holds these bytes and ends with its owner."""
        data = bytes(data)
        memory = Memory(self, len(data))
        if data:
            self.call("cuMemcpyHtoD_v2", memory.address, data, ctypes.c_size_t(len(data)))
        return memory

    def kernel(self, path, symbol):
        return Kernel(self, path.read_bytes(), symbol)


class Memory:
    def __init__(self, driver, size):
        self.driver, self.size, self.address = driver, size, ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(max(size, 1)))

    def read(self):
        out = ctypes.create_string_buffer(max(self.size, 1))
        self.driver.call("cuMemcpyDtoH_v2", out, self.address, ctypes.c_size_t(self.size))
        return out.raw[:self.size]

    def __del__(self):
        self.driver.call("cuMemFree_v2", self.address)


class Kernel:
    """A kernel of pattern `elements`: its one parameter is given as bytes."""

    def __init__(self, driver, cubin, symbol):
        self.driver, module, self.function = driver, ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), cubin)
        driver.call("cuModuleGetFunction", ctypes.byref(self.function), module, symbol.encode())

    def launch(self, grid, threads, parameter, stream=0):
        buffer = ctypes.create_string_buffer(bytes(parameter), len(parameter))
        arguments = (ctypes.c_void_p * 1)(ctypes.cast(buffer, ctypes.c_void_p))
        self.driver.call("cuLaunchKernel", self.function, grid, 1, 1, threads, 1, 1, 0,
                         ctypes.c_void_p(stream), arguments, None)


def table_parameter(layout, chunks, columns, scalars, per_entry, policy):
    """The parameter of a launch whose chunk records, pointer columns and scalars stand at these addresses."""
    parameter = bytearray(layout["bytes"])
    struct.pack_into("<Q", parameter, 0, chunks)
    struct.pack_into(f"<{len(columns)}Q", parameter, layout["pointers"], *columns)
    struct.pack_into("<Q", parameter, layout["scalars"], scalars)
    struct.pack_into("<Q", parameter, layout["policy"], policy)
    struct.pack_into("<I", parameter, layout["per_entry"], per_entry)
    return parameter
