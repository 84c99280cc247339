#include "tests/driver/fake/State.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <sstream>

namespace fw::driver::fake {
namespace {

struct ErrorRow {
  CUresult number;
  const char *name, *text;
};

constexpr ErrorRow errors[] = {
#define FAKE_ERROR(number, name, text) {number, "CUDA_ERROR_" #name, text},
#include "tests/driver/fake/errors.def"
#undef FAKE_ERROR
};

const ErrorRow *findError(CUresult result) {
  for (const ErrorRow &row : errors)
    if (row.number == result)
      return &row;
  return nullptr;
}

std::vector<Device> devicesOf(const std::string &capabilities) {
  std::vector<Device> devices;
  std::istringstream list(capabilities);
  for (std::string each; std::getline(list, each, ',');) {
    int major = 0, minor = 0;
    if (sscanf(each.c_str(), "%d.%d", &major, &minor) == 2)
      devices.push_back({.capability = 10 * major + minor});
  }
  return devices;
}

/// Registers the kernels of every shared object in a list with ':' between.
CUresult loadTwins(const std::string &files) {
  std::istringstream list(files);
  for (std::string file; std::getline(list, file, ':');) {
    void *object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *found = object ? dlsym(object, "fake_cuda_bundle") : nullptr;
    if (!found)
      return Answer::SHARED_OBJECT_INIT_FAILED;
    const auto bundle = reinterpret_cast<fake_cuda_bundle_function>(found);
    for (const fake_cuda_kernel *kernel = bundle(); kernel->symbol; ++kernel)
      State::get().twins.emplace(kernel->symbol, *kernel);
  }
  return Answer::SUCCESS;
}

bool exists(CUdevice device) { return device >= 0 && size_t(device) < world().devices.size(); }

} // namespace

CUresult cuInit(unsigned flags) {
  FAKE_CALL(cuInit, NOTHING);
  State &state = State::get();
  if (flags)
    return Answer::INVALID_VALUE;
  if (state.settings.initResult)
    return state.settings.initResult;
  if (state.world.isInitialized)
    return Answer::SUCCESS;
  state.world.devices = devicesOf(state.settings.capabilities);
  if (state.world.devices.empty())
    return Answer::NO_DEVICE;
  if (CUresult result = loadTwins(state.settings.kernels))
    return result;
  state.world.isInitialized = true;
  return Answer::SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  FAKE_CALL(cuDriverGetVersion, NOTHING);
  if (!version)
    return Answer::INVALID_VALUE;
  *version = State::get().settings.version;
  return Answer::SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  FAKE_CALL(cuGetErrorName, NOTHING);
  const ErrorRow *row = findError(result);
  *name = !row ? nullptr : result ? row->name : "CUDA_SUCCESS";
  return row ? Answer::SUCCESS : Answer::INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  FAKE_CALL(cuGetErrorString, NOTHING);
  const ErrorRow *row = findError(result);
  *text = row ? row->text : nullptr;
  return row ? Answer::SUCCESS : Answer::INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count) {
  FAKE_CALL(cuDeviceGetCount, INIT);
  if (!count)
    return Answer::INVALID_VALUE;
  *count = int(world().devices.size());
  return Answer::SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  FAKE_CALL(cuDeviceGet, INIT);
  if (!device)
    return Answer::INVALID_VALUE;
  if (!exists(ordinal))
    return Answer::INVALID_DEVICE;
  *device = ordinal;
  return Answer::SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  FAKE_CALL(cuDeviceGetName, INIT);
  if (!name || length <= 0)
    return Answer::INVALID_VALUE;
  if (!exists(device))
    return Answer::INVALID_DEVICE;
  const int capability = world().devices[size_t(device)].capability;
  snprintf(name, size_t(length), "Fake GPU %d.%d", capability / 10, capability % 10);
  return Answer::SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice number) {
  FAKE_CALL(cuDeviceGetAttribute, INIT);
  if (!value)
    return Answer::INVALID_VALUE;
  if (!exists(number))
    return Answer::INVALID_DEVICE;
  const Device &device = world().devices[size_t(number)];
  switch (attribute) {
#define FAKE_ATTRIBUTE(number, answer)                                                             \
  case number:                                                                                     \
    *value = answer;                                                                               \
    return Answer::SUCCESS;
#include "tests/driver/fake/attributes.def"
#undef FAKE_ATTRIBUTE
  }
  return Answer::INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  FAKE_CALL(cuDeviceTotalMem_v2, INIT);
  if (!bytes)
    return Answer::INVALID_VALUE;
  if (!exists(device))
    return Answer::INVALID_DEVICE;
  *bytes = State::get().settings.memoryBytes;
  return Answer::SUCCESS;
}

} // namespace fw::driver::fake
