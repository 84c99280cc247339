#include "runtime/api/Border.h"

#include <exception>
#include <string>

namespace fw::api {

namespace {

constexpr fw_error noError = {sizeof(fw_error), FW_OK, "", "", "", 0, 0, ""};
constexpr fw_error outOfMemory = {sizeof(fw_error),
                                  FW_OUT_OF_MEMORY,
                                  "expected memory, got none; nothing was changed",
                                  "free memory, or work on smaller lists",
                                  "",
                                  0,
                                  0,
                                  ""};

/// The thread's last error; `view` points into `texts` or to constants.
struct LastError {
  Error texts;
  fw_error view = noError;
};
thread_local LastError lastError;

} // namespace

fw_status keepOutOfMemory() noexcept {
  lastError.view = outOfMemory;
  return FW_OUT_OF_MEMORY;
}

fw_status keepError(const Error &error) noexcept {
  try {
    lastError.texts = error;
    lastError.texts.text = shortened(error.text);
    lastError.texts.remedy = shortened(error.remedy);
  } catch (const std::bad_alloc &) {
    return keepOutOfMemory();
  }
  const Error &texts = lastError.texts;
  lastError.view = {sizeof(fw_error),     fw_status(texts.code), texts.text.c_str(),
                    texts.remedy.c_str(), texts.file.c_str(),    texts.line,
                    texts.column,         texts.log.c_str()};
  return lastError.view.code;
}

fw_status keepUnknown() noexcept {
  try {
    try {
      throw;
    } catch (const std::exception &exception) {
      return keepError({Code::INTERNAL,
                        std::string("expected no exception, got ") + exception.what(),
                        "please report it with what led to it"});
    }
  } catch (...) {
    lastError.view = noError;
    lastError.view.code = FW_INTERNAL;
    lastError.view.text = "expected no exception, got one of an unknown type";
    return FW_INTERNAL;
  }
}

} // namespace fw::api

// Outside of the namespace: GCC takes a definition inside for another function, and hides it.
extern "C" {

const fw_error *fw_last_error(void) { return &fw::api::lastError.view; }

uint32_t fw_api_version(void) { return uint32_t(FW_VERSION_MAJOR) << 16 | FW_VERSION_MINOR; }

const char *fw_status_text(fw_status status) {
  switch (status) {
#define FW_STATUS(name, value, meaning)                                                            \
  case FW_##name:                                                                                  \
    return meaning;
#include "fusewright/status.def"
#undef FW_STATUS
  default:
    return "an unknown status";
  }
}

} // extern "C"
