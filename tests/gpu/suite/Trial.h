// A plan and the memory of its tensors, on a GPU or on the CPU.
#pragma once

#include "tests/gpu/suite/Arena.h"

#include <cstring>

namespace suite {

struct Place {
  fw_device device = FW_DEVICE_CUDA;
  int32_t id = 0;
};
inline constexpr Place onCpu = {FW_DEVICE_CPU, 0};
inline constexpr Place onGpu = {FW_DEVICE_CUDA, 0};

/// Memory with bytes in it.
class Block {
public:
  Block(fw_context *context, Place place, const Bytes &bytes);
  void write(const Bytes &bytes, cuda::Handle stream = nullptr);
  Bytes read(cuda::Handle stream = nullptr) const;
  void *data() const { return fw_buffer_data(buffer.get()); }

private:
  api::Buffer buffer;
};

/// Numbers in memory, for scalars.
template <class T> class Numbers {
public:
  Numbers(fw_context *context, Place place, const std::vector<T> &numbers)
      : count(numbers.size()), block(context, place, bytesOf(numbers)) {}
  std::vector<T> read() const {
    std::vector<T> numbers(count);
    Bytes bytes = block.read();
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }
  void write(const std::vector<T> &numbers, cuda::Handle stream = nullptr) {
    block.write(bytesOf(numbers), stream);
  }
  T *data() const { return static_cast<T *>(block.data()); }
  const size_t count;

private:
  static Bytes bytesOf(const std::vector<T> &numbers) {
    auto *first = reinterpret_cast<const std::byte *>(numbers.data());
    return {first, first + numbers.size() * sizeof(T)};
  }
  Block block;
};

struct GroupSpec {
  const Kernel *kernel = nullptr;
  List list;
  Scalars scalars = {};
  Values values = Values::ANY;
};

/// Groups name the tensors of the first one for operands with one value in all.
class Trial {
public:
  Trial(fw_context *context, Place place, std::vector<GroupSpec> groups, uint64_t seed = 1);

  fw_plan *plan() const { return made.get(); }
  void run(const Scalars &scalars = {}, cuda::Handle stream = nullptr,
           const fw_world *world = nullptr);
  /// One fw_launch for each group.
  void launch(const Scalars &scalars = {}, cuda::Handle stream = nullptr);
  /// The tensors as they were at first.
  void reset(cuda::Handle stream = nullptr);

  /// Other bytes for a group's block.
  void write(size_t group, const Bytes &image) { blocks[group]->write(image); }

  fw_plan_info info() const;
  const Arena &arena(size_t group = 0) const { return *arenas[group]; }
  Bytes image(size_t group = 0, cuda::Handle stream = nullptr) const {
    return blocks[group]->read(stream);
  }
  std::vector<Bytes> images(cuda::Handle stream = nullptr) const;
  /// Addresses of one operand of all entries of a group, moved by some bytes.
  std::vector<void *> addresses(size_t group, const std::string &operand, ptrdiff_t by = 0) const;
  void *base(size_t group = 0) const { return blocks[group]->data(); }

private:
  std::vector<fw_tensor> tensorsOf(size_t group) const;

  fw_context *context;
  const Place place;
  std::vector<GroupSpec> groups;
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::unique_ptr<Block>> blocks;
  api::Plan made;
};

/// The C API's groups over tensors that live elsewhere.
struct GroupArray {
  explicit GroupArray(Place place) : place(place) {}
  void add(const Kernel &kernel, std::vector<fw_tensor> tensors, const Scalars &scalars = {});
  const std::vector<fw_plan_group> &array();
  const Place place;

private:
  struct Item {
    const fw_program *program;
    std::vector<fw_tensor> tensors;
    Scalars scalars;
  };
  std::vector<Item> items;
  std::vector<fw_plan_group> built;
};

/// The step of an optimizer.
Scalars step(double t);
/// A run on the legacy default stream.
fw_status runOf(fw_plan *plan, const Scalars &scalars);

/// Both ran the same: words and guards agree.
void expectSame(const Trial &gpu, const Trial &cpu, cuda::Handle stream = nullptr);
/// The blocks of a trial, word by word.
void expectImages(const Trial &trial, const std::vector<Bytes> &got,
                  const std::vector<Bytes> &expected);

/// Hands the call's status and words to the test; expects success.
#define EXPECT_OK(call) EXPECT_EQ(call, FW_OK) << api::lastError()
#define ASSERT_OK(call) ASSERT_EQ(call, FW_OK) << api::lastError()
/// The call has failed with this status, and words that hold these.
void expectFault(fw_status got, fw_status expected, const std::string &words, int line);
#define EXPECT_FAULT(call, status, words) ::suite::expectFault(call, status, words, __LINE__)

} // namespace suite
