// The C API for benchmarks: any failure ends the program with its message.
#pragma once

#include "fusewright/fusewright.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

inline void check(fw_status status) {
  if (status == FW_OK)
    return;
  std::fprintf(stderr, "error: %s; %s\n%s", fw_last_error()->text, fw_last_error()->remedy,
               fw_last_error()->log);
  std::exit(int(status));
}

inline fw_context *makeContext(const std::string &cacheDir) {
  fw_context_options options;
  fw_context_options_init(&options);
  options.cache_dir = cacheDir.c_str();
  fw_context *context = nullptr;
  check(fw_context_create(&options, &context));
  return context;
}

inline fw_request *makeRequest(fw_context *context, const char *op, const std::string &target) {
  fw_op *found = nullptr;
  fw_request *request = nullptr;
  check(fw_op_find(context, op, &found));
  check(fw_request_create(found, &request));
  check(fw_request_target(request, target.c_str()));
  fw_op_destroy(found);
  return request;
}

inline fw_program *compile(fw_context *context, const fw_request *request) {
  fw_program *program = nullptr;
  check(fw_compile(context, request, &program));
  return program;
}

} // namespace bench
