// write_twins FOLDER ARCH: a cubin whose kernel evaluates twins.def, and what the host says. The
// files go to a machine with a GPU of that arch, where gpu_twins.py compares.
//   twins.cubin    kernel twins(u64 *out): row r of out holds expression r for COUNT inputs
//   expected.bin   the same rows
//   rows.txt       the expressions
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <vector>

#include "compiler/jit/Nvrtc.h"
#include "compiler/target/Target.h"
#include "templates/Templates.h"
#include "templates/vocab/bf16.h"
#include "templates/vocab/columns.h"
#include "templates/vocab/f16.h"
#include "templates/vocab/fp8.h"
#include "templates/vocab/math.h"
#include "templates/vocab/pack.h"
#include "templates/vocab/wholes.h"

namespace {

constexpr unsigned COUNT = 65536;

// Compiled here, and as text for the device.
#define FW_SHARED_TEXT(...)                                                                        \
  __VA_ARGS__                                                                                      \
  const char *const sharedText = #__VA_ARGS__;
FW_SHARED_TEXT(
    FW_INLINE fw::u64 mixed(fw::u64 z) {
      z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
      z = (z ^ z >> 27) * 0x94D049BB133111EBu;
      return z ^ z >> 31;
    }
    /* Even inputs are any bits, odd ones lie within 2^-20 and 2^20. */
    FW_INLINE float floatInput(unsigned i) {
      const fw::u32 any = static_cast<fw::u32>(mixed(i + 1));
      const fw::u32 near = (any & 0x807FFFFFu) | (107 + any % 40) << 23;
      return fw::bitCast<float>(i % 2 ? near : any);
    } FW_INLINE double doubleInput(unsigned i) {
      const fw::u64 any = mixed(i + 1);
      const fw::u64 near = (any & 0x800FFFFFFFFFFFFFu) | (1003 + any % 40) << 52;
      return fw::bitCast<double>(i % 2 ? near : any);
    } FW_INLINE fw::u64 word(float x) {
      return x == x ? fw::bitCast<fw::u32>(x) : 0x7FC00000u;
    } FW_INLINE fw::u64 word(double x) {
      return x == x ? fw::bitCast<fw::u64>(x) : 0x7FF8000000000000u;
    } FW_INLINE fw::u64 word(fw::u8 x) { return x; } FW_INLINE fw::u64 word(fw::u16 x) {
      return x;
    } FW_INLINE fw::u64 word(bool x) { return x; } FW_INLINE fw::u64 word(fw::u32 x) {
      return x;
    } FW_INLINE fw::u64 word(fw::i64 x) { return static_cast<fw::u64>(x); }
    /* Two numbers packed at once, one put beside another, and words of two granules shifted. */
    template <class T>
    FW_INLINE fw::u32 packed(float x, float y) {
      fw::Raw<T, 2> raw;
      const float both[2] = {x, y};
      fw::pack(raw, both);
      return raw.words[0];
    } template <class T>
    FW_INLINE fw::u32 putBeside(float x, float y) {
      fw::Raw<T, 2> raw;
      const float both[2] = {x, x};
      fw::pack(raw, both);
      fw::put(raw, 1, y);
      return raw.words[0];
    } FW_INLINE fw::u32 shifted(fw::u32 seed, fw::u32 by) {
      fw::u32 words[8];
      fw::u32 out[4];
      for (fw::u32 k = 0; k < 8; ++k)
        words[k] = static_cast<fw::u32>(mixed(seed + k));
      fw::takeShifted(out, words, by);
      return out[0] ^ out[1] * 3 ^ out[2] * 5 ^ out[3] * 7;
    })

const char *const rows[] = {
#define FW_TWIN(...) #__VA_ARGS__,
#include "tests/templates/twins.def"
#undef FW_TWIN
};

/// Expression after expression for one input.
template <class Visit> void evaluateTwins(unsigned i, Visit visit) {
  [[maybe_unused]] const float x = floatInput(i), y = floatInput(i + COUNT);
  [[maybe_unused]] const double dx = doubleInput(i);
  [[maybe_unused]] const unsigned short code = static_cast<unsigned short>(i);
#define FW_TWIN(...) visit(word(__VA_ARGS__));
#include "tests/templates/twins.def"
#undef FW_TWIN
}

std::string kernelText(const fw::target::Arch &arch) {
  const std::string_view files[] = {"vocab/math.h",  "vocab/bf16.h",    "vocab/f16.h",
                                    "vocab/fp8.h",   "vocab/columns.h", "vocab/pack.h",
                                    "vocab/wholes.h"};
  const std::string vocabulary = *fw::templates::assemble(files);
  std::string text;
  for (std::string name : fw::templates::featuresAsked(vocabulary))
    if (fw::target::has(arch, *fw::target::findFeature(name))) {
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      text += "#define FW_HAS_" + name + " 1\n";
    }
  text += vocabulary + sharedText;
  text += "\nextern \"C\" __global__ void twins(fw::u64 *out) {\n"
          "  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, COUNT = " +
          std::to_string(COUNT) +
          ";\n"
          "  const float x = floatInput(i), y = floatInput(i + COUNT);\n"
          "  const double dx = doubleInput(i);\n"
          "  const unsigned short code = static_cast<unsigned short>(i);\n";
  for (size_t r = 0; r < std::size(rows); ++r)
    text += "  out[" + std::to_string(r) + " * COUNT + i] = word(" + rows[r] + ");\n";
  return text + "}\n";
}

int fail(const fw::Error &error) {
  fprintf(stderr, "%s\n%s\n", fw::render(error).c_str(), error.log.c_str());
  return static_cast<int>(error.code);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fprintf(stderr, "usage: write_twins FOLDER ARCH\n"), 2;
  const std::string folder = argv[1];
  fw::Result<const fw::target::Arch *> arch = fw::target::findArch(argv[2]);
  if (!arch)
    return fail(arch.error());
  auto nvrtc = fw::jit::Nvrtc::open(*fw::jit::Settings::read());
  if (!nvrtc)
    return fail(nvrtc.error());
  auto kernel = (*nvrtc)->compile(kernelText(**arch), "twins.cu", fw::target::compileName(**arch),
                                  (*nvrtc)->flags());
  if (!kernel)
    return fail(kernel.error());

  std::vector<fw::u64> expected(std::size(rows) * COUNT);
  for (unsigned i = 0; i < COUNT; ++i)
    evaluateTwins(i,
                  [&, r = size_t{0}](fw::u64 value) mutable { expected[r++ * COUNT + i] = value; });
  std::ofstream(folder + "/twins.cubin", std::ios::binary) << kernel->cubin;
  std::ofstream(folder + "/expected.bin", std::ios::binary)
      .write(reinterpret_cast<const char *>(expected.data()),
             static_cast<std::streamsize>(expected.size() * sizeof(fw::u64)));
  std::ofstream names(folder + "/rows.txt");
  for (const char *row : rows)
    names << row << "\n";
  return names ? 0 : 1;
}
