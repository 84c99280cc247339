// What is behind fw_scaler: a plan of the op loss_scale over numbers that it owns.
#pragma once

#include "runtime/api/Border.h"
#include "runtime/api/Handles.h"
#include "runtime/scaling/PageLocked.h"
#include "runtime/scaling/State.h"

namespace fw::api {

/// A handle of the C API, made and ended by its functions.
template <auto destroy> struct Destroy {
  template <class T> void operator()(T *handle) const { destroy(handle); }
};
template <class T, auto destroy> using Handle = std::unique_ptr<T, Destroy<destroy>>;
using OpHandle = Handle<fw_op, fw_op_destroy>;
using RequestHandle = Handle<fw_request, fw_request_destroy>;
using ProgramHandle = Handle<fw_program, fw_program_destroy>;
using PlanHandle = Handle<fw_plan, fw_plan_destroy>;
using BufferHandle = Handle<fw_buffer, fw_buffer_destroy>;

constexpr size_t mostReports = 8; ///< operands `skipped` of the op
scaling::Rules rulesOf(const fw_scaler_options &options);

} // namespace fw::api

struct fw_scaler {
  /// `options` are complete: every name is there.
  fw_scaler(std::shared_ptr<fw::api::ContextState> state, const fw_scaler_options &options);

  /// One step of the scale by what optimizers report, in the order of `stream`.
  void update(std::span<const void *const> skipped, fw_stream stream);
  /// Notes that gradients are unscaled; once between two updates.
  void claim(const void *owner);
  void release(const void *owner) { std::erase(claimed, owner); }

  /// Brings a state to the device, and waits until it is there.
  void put(const fw::scaling::State &state, fw_stream stream);
  /// What the device holds when the stream has come here.
  fw::scaling::State fetch(fw_stream stream) const;
  /// Until what updates of the stream left has arrived.
  void wait(fw_stream stream);
  /// The last state that has arrived; the log hears what is new in it.
  const fw::scaling::State &look();

  /// On the device.
  fw::scaling::State *memory() const {
    return reinterpret_cast<fw::scaling::State *>(buffer->data());
  }
  const fw::scaling::Rules rules;

private:
  fw::api::RequestHandle makeRequest(fw_op *op, const fw_scaler_options &options);
  void makeMemory();
  void makePlan(const fw_request *request, const fw_scaler_options &options);
  void *addressOf(std::string_view operand) const;
  void point(std::span<const void *const> skipped);
  /// Queues a copy of the state to the host, and waits for it where `isAwaited`.
  fw::Result<void> sendToHost(fw_stream stream, bool isAwaited);
  bool isOnCpu() const { return place.device == FW_DEVICE_CPU; }

  fw_context context; // outlives what is made from it
  fw::launch::Place place;
  fw::api::BufferHandle buffer;
  fw::scaling::PageLocked copy; ///< of `buffer`, which the device sends with each update
  fw::api::PlanHandle plan;
  std::vector<const void *> reports; ///< where the plan reads them
  std::vector<const void *> claimed; ///< owners whose gradients are unscaled since the last update
  fw::scaling::State arrived;
};
