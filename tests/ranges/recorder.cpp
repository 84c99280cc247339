// A profiler's injection library that writes every range to stderr, one line a call. NVTX loads
// what NVTX_INJECTION64_PATH names.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace {

nvtxDomainHandle_t NVTX_API createDomain(const char *name) {
  std::fprintf(stderr, "domain %s\n", name);
  static int handle;
  return reinterpret_cast<nvtxDomainHandle_t>(&handle);
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t *attributes) {
  std::fprintf(stderr, "push %s\n", attributes->message.ascii);
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t) {
  std::fprintf(stderr, "pop\n");
  return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getTable) {
  auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(getTable(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) ||
      size <= NVTX_CBID_CORE2_DomainRangePop)
    return 0;
  auto set = [&](int place, auto *function) {
    *table[place] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, &createDomain);
  set(NVTX_CBID_CORE2_DomainRangePushEx, &push);
  set(NVTX_CBID_CORE2_DomainRangePop, &pop);
  return 1;
}
