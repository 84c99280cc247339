// H8 for ops over rows: norms and softmaxes on all cores of the CPU against a bare stream of the
// same reads and writes. Prints percent of the stream, one line an op, dtype and width.
#include <fusewright/fusewright.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double medianSeconds(int rounds, const std::function<void()> &work) {
  std::vector<double> times(static_cast<size_t>(rounds));
  work();
  for (double &time : times) {
    auto start = Clock::now();
    work();
    time = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[size_t(rounds) / 2];
}

void need(fw_status status) {
  if (status == FW_OK)
    return;
  std::fprintf(stderr, "%s\n", fw_last_error()->text);
  std::exit(1);
}

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void stream(const uint32_t *a, const uint32_t *b, uint32_t *__restrict out, size_t words) {
  if (b)
    for (size_t i = 0; i < words; ++i)
      out[i] = a[i] ^ b[i];
  else
    for (size_t i = 0; i < words; ++i)
      out[i] = a[i] + 1;
}

void onAllCores(size_t words, const std::function<void(size_t, size_t)> &range) {
  const size_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (size_t t = 0; t < threads; ++t)
    pool.emplace_back(range, words * t / threads, words * (t + 1) / threads);
  for (std::thread &thread : pool)
    thread.join();
}

struct Row {
  const char *op;
  size_t streamsIn;                   ///< operands with a value per element that are read
  std::vector<const char *> operands; ///< 'x' of elements, 'r' of rows, 'c' of columns
};

class Bench {
public:
  Bench(fw_context *context, const Row &row, const char *dtype, int64_t rows, int64_t columns)
      : context(context), row(row), rows(rows), columns(columns),
        bytes(std::strcmp(dtype, "f32") == 0 ? 4 : 2) {
    need(fw_op_find(context, row.op, &op));
    need(fw_request_create(op, &request));
    need(fw_request_dtype(request, "in", dtype));
    need(fw_request_target(request, "cpu"));
    need(fw_compile(context, request, &program));
    for (size_t k = 0; k < row.operands.size(); ++k)
      add(row.operands[k][0], dtype);
  }
  ~Bench() {
    fw_program_destroy(program);
    fw_request_destroy(request);
    fw_op_destroy(op);
  }

  double percent() {
    std::vector<fw_tensor> tensors;
    for (Operand &operand : operands) {
      fw_tensor tensor = {};
      tensor.struct_size = sizeof tensor;
      tensor.device = FW_DEVICE_CPU;
      tensor.dtype = operand.dtype;
      tensor.rank = int32_t(operand.shape.size());
      tensor.shape = operand.shape.data();
      tensor.data = operand.memory.data();
      tensors.push_back(tensor);
    }
    auto *in = reinterpret_cast<uint32_t *>(operands[0].memory.data());
    auto *other =
        row.streamsIn == 2 ? reinterpret_cast<uint32_t *>(operands[1].memory.data()) : nullptr;
    std::vector<uint32_t> out(size_t(rows * columns) * bytes / 4);
    double best = 0;
    for (int turn = 0; turn < 3; ++turn) {
      const double bare = medianSeconds(3, [&] {
        onAllCores(out.size(), [&](size_t from, size_t to) {
          stream(in + from, other ? other + from : nullptr, out.data() + from, to - from);
        });
      });
      const double ours = medianSeconds(3, [&] {
        need(fw_launch(context, program, tensors.data(), tensors.size(), nullptr, 0, nullptr));
      });
      best = std::max(best, 100 * bare / ours);
    }
    return best;
  }

private:
  struct Operand {
    const char *dtype;
    std::vector<int64_t> shape;
    std::vector<char> memory;
  };

  void add(char kind, const char *dtype) {
    const bool isElement = kind == 'x';
    Operand &operand = operands.emplace_back();
    operand.dtype = isElement ? dtype : "f32";
    operand.shape = isElement     ? std::vector<int64_t>{rows, columns}
                    : kind == 'r' ? std::vector<int64_t>{rows}
                                  : std::vector<int64_t>{columns};
    const size_t count = size_t(isElement ? rows * columns : kind == 'r' ? rows : columns);
    const size_t each = isElement ? bytes : 4;
    operand.memory.resize(count * each);
    for (size_t i = 0; i < count; ++i) {
      const float x = 0.001f * float(i * 37 % 2000) - 1;
      uint32_t word;
      std::memcpy(&word, &x, 4);
      word >>= 32 - 8 * each;
      std::memcpy(&operand.memory[i * each], &word, each);
    }
  }

  fw_context *context;
  const Row &row;
  int64_t rows, columns;
  size_t bytes;
  fw_op *op = nullptr;
  fw_request *request = nullptr;
  fw_program *program = nullptr;
  std::vector<Operand> operands;
};

} // namespace

int main(int count, char **arguments) {
  const int64_t elements = count > 1 ? std::atoll(arguments[1]) : int64_t(1) << 24;
  fw_context *context = nullptr;
  need(fw_context_create(nullptr, &context));
  const Row table[] = {{"softmax", 1, {"x", "x"}},
                       {"log_softmax", 1, {"x", "x"}},
                       {"rms_norm", 1, {"x", "x", "r", "c"}},
                       {"layer_norm", 1, {"x", "c", "c", "x", "r", "r"}},
                       {"softmax_backward", 2, {"x", "x", "x"}}};
  for (const Row &row : table)
    for (const char *dtype : {"f32", "bf16"})
      for (int64_t columns : {64, 256, 1024, 4096, 16384, 65536}) {
        Bench bench(context, row, dtype, elements / columns, columns);
        std::printf("%-18s %-5s %6lld  %5.1f %%\n", row.op, dtype, static_cast<long long>(columns),
                    bench.percent());
        std::fflush(stdout);
      }
  fw_context_destroy(context);
}
