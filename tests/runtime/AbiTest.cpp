// The sizes and offsets that programs in the field were built with. A failing line is an ABI break.
#include "fusewright/fusewright.h"
#include "runtime/api/Border.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace {

#define SIZE(type, size) static_assert(sizeof(type) == size && alignof(type) == 8, #type)
#define OFFSET(type, field, offset) static_assert(offsetof(type, field) == offset, #type "." #field)

SIZE(fw_error, 48);
OFFSET(fw_error, code, 4);
OFFSET(fw_error, text, 8);
OFFSET(fw_error, remedy, 16);
OFFSET(fw_error, file, 24);
OFFSET(fw_error, line, 32);
OFFSET(fw_error, column, 36);
OFFSET(fw_error, log, 40);

SIZE(fw_context_options, 72);
OFFSET(fw_context_options, strict, 4);
OFFSET(fw_context_options, cache_dir, 8);
OFFSET(fw_context_options, user_data, 16);
OFFSET(fw_context_options, log, 24);
OFFSET(fw_context_options, parallel_for, 32);
OFFSET(fw_context_options, device_allocate, 40);
OFFSET(fw_context_options, device_release, 48);
OFFSET(fw_context_options, read_only_cache_dirs, 56);
OFFSET(fw_context_options, read_only_cache_dir_count, 64);

SIZE(fw_counters, 72);
OFFSET(fw_counters, memory_hits, 8);
OFFSET(fw_counters, disk_hits, 16);
OFFSET(fw_counters, compiles, 24);
OFFSET(fw_counters, waits, 32);
OFFSET(fw_counters, cache_faults, 40);
OFFSET(fw_counters, launches, 48);
OFFSET(fw_counters, modules, 56);
OFFSET(fw_counters, table_uploads, 64);

SIZE(fw_device_info, 48);
OFFSET(fw_device_info, device_id, 4);
OFFSET(fw_device_info, name, 8);
OFFSET(fw_device_info, target, 16);
OFFSET(fw_device_info, compute_major, 24);
OFFSET(fw_device_info, compute_minor, 28);
OFFSET(fw_device_info, driver_version, 32);
OFFSET(fw_device_info, multiprocessors, 36);
OFFSET(fw_device_info, memory_bytes, 40);

SIZE(fw_option_info, 24);
OFFSET(fw_option_info, value_count, 4);
OFFSET(fw_option_info, name, 8);
OFFSET(fw_option_info, values, 16);

SIZE(fw_scalar_info, 40);
OFFSET(fw_scalar_info, is_step, 4);
OFFSET(fw_scalar_info, name, 8);
OFFSET(fw_scalar_info, kind, 16);
OFFSET(fw_scalar_info, range, 24);
OFFSET(fw_scalar_info, value, 32);

SIZE(fw_operand_info, 56);
OFFSET(fw_operand_info, read, 4);
OFFSET(fw_operand_info, written, 8);
OFFSET(fw_operand_info, optional, 12);
OFFSET(fw_operand_info, name, 16);
OFFSET(fw_operand_info, role, 24);
OFFSET(fw_operand_info, dtype, 32);
OFFSET(fw_operand_info, init, 40);
OFFSET(fw_operand_info, scope, 48);

SIZE(fw_kernel_info, 72);
OFFSET(fw_kernel_info, threads, 4);
OFFSET(fw_kernel_info, symbol, 8);
OFFSET(fw_kernel_info, target, 16);
OFFSET(fw_kernel_info, schedule, 24);
OFFSET(fw_kernel_info, registers, 32);
OFFSET(fw_kernel_info, spill_bytes, 36);
OFFSET(fw_kernel_info, chunk, 40);
OFFSET(fw_kernel_info, slots, 44);
OFFSET(fw_kernel_info, image, 48);
OFFSET(fw_kernel_info, image_bytes, 56);
OFFSET(fw_kernel_info, one_pass, 64);
OFFSET(fw_kernel_info, reserved, 68);

SIZE(fw_tensor, 56);
OFFSET(fw_tensor, device, 4);
OFFSET(fw_tensor, device_id, 8);
OFFSET(fw_tensor, rank, 12);
OFFSET(fw_tensor, dtype, 16);
OFFSET(fw_tensor, data, 24);
OFFSET(fw_tensor, shape, 32);
OFFSET(fw_tensor, strides, 40);
OFFSET(fw_tensor, first_element, 48);

SIZE(fw_scalar, 64);
OFFSET(fw_scalar, name, 8);
OFFSET(fw_scalar, value, 16);
OFFSET(fw_scalar, values, 24);
OFFSET(fw_scalar, count, 32);
OFFSET(fw_scalar, data, 40);
OFFSET(fw_scalar, dtype, 48);
OFFSET(fw_scalar, advance, 56);

SIZE(fw_plan_group, 48);
OFFSET(fw_plan_group, program, 8);
OFFSET(fw_plan_group, tensors, 16);
OFFSET(fw_plan_group, tensor_count, 24);
OFFSET(fw_plan_group, scalars, 32);
OFFSET(fw_plan_group, scalar_count, 40);

SIZE(fw_plan_info, 64);
OFFSET(fw_plan_info, launches, 4);
OFFSET(fw_plan_info, device, 8);
OFFSET(fw_plan_info, device_id, 12);
OFFSET(fw_plan_info, entries, 16);
OFFSET(fw_plan_info, elements, 24);
OFFSET(fw_plan_info, blocks, 32);
OFFSET(fw_plan_info, streamed_bytes, 40);
OFFSET(fw_plan_info, workspace_bytes, 48);
OFFSET(fw_plan_info, exchanges, 56);
OFFSET(fw_plan_info, reserved, 60);

SIZE(fw_world, 24);
OFFSET(fw_world, user_data, 8);
OFFSET(fw_world, all_reduce, 16);

SIZE(fw_scaler_options, 96);
OFFSET(fw_scaler_options, device, 8);
OFFSET(fw_scaler_options, mode, 16);
OFFSET(fw_scaler_options, refill, 24);
OFFSET(fw_scaler_options, denormals, 32);
OFFSET(fw_scaler_options, init_scale, 40);
OFFSET(fw_scaler_options, growth_factor, 48);
OFFSET(fw_scaler_options, backoff_factor, 56);
OFFSET(fw_scaler_options, min_scale, 64);
OFFSET(fw_scaler_options, max_scale, 72);
OFFSET(fw_scaler_options, growth_interval, 80);
OFFSET(fw_scaler_options, hysteresis, 88);

SIZE(fw_scaler_state, 80);
OFFSET(fw_scaler_state, outcome, 4);
OFFSET(fw_scaler_state, tensor, 8);
OFFSET(fw_scaler_state, report, 16);
OFFSET(fw_scaler_state, updates, 24);
OFFSET(fw_scaler_state, skips, 32);
OFFSET(fw_scaler_state, skips_in_a_row, 40);
OFFSET(fw_scaler_state, growth_count, 48);
OFFSET(fw_scaler_state, hysteresis_left, 56);
OFFSET(fw_scaler_state, scale, 64);
OFFSET(fw_scaler_state, previous_scale, 72);

// DLPack's numbers, so that converting a DLTensor is a copy.
static_assert(FW_DEVICE_CPU == 1 && FW_DEVICE_CUDA == 2);
static_assert(sizeof(fw_status) == 4 && FW_OK == 0 && FW_INTERNAL == 9);

// What callers of the first version of a struct give stays enough, however it grows.
#define FIRST(type, size) static_assert(fw::api::firstSize<type> == size, #type)
FIRST(fw_error, 48);
FIRST(fw_context_options, 40);
FIRST(fw_counters, 56);
FIRST(fw_option_info, 24);
FIRST(fw_scalar_info, 40);
FIRST(fw_operand_info, 48);
FIRST(fw_kernel_info, 64);
FIRST(fw_tensor, 56);
FIRST(fw_scalar, 40);
FIRST(fw_device_info, 48);
FIRST(fw_plan_group, 48);
FIRST(fw_plan_info, 56);
FIRST(fw_world, 24);
FIRST(fw_scaler_options, 96);
FIRST(fw_scaler_state, 80);
#define FW_STRUCT(type, size) static_assert(size <= sizeof(type), #type);
#include "runtime/api/structs.def"
#undef FW_STRUCT

TEST(Abi, versionIsTheHeaders) {
  EXPECT_EQ(fw_api_version(), uint32_t(FW_VERSION_MAJOR) << 16 | FW_VERSION_MINOR);
}

} // namespace
