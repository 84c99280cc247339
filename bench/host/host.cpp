// The host side of PERFORMANCE 2: cold compiles (H4), programs from disk and memory (H5), fresh
// processes (H6) and the CPU backend through fw_launch (H8). Needs NVRTC, no GPU.
//
// usage: bench-host [--json FILE] [--arch ARCH] [--elements N]
#include "bench/host/Api.h"
#include "bench/host/Results.h"
#include "compiler/jit/Hash.h"
#include "compiler/jit/Nvrtc.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

using namespace bench;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsOf(const std::function<void()> &work) {
  auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<double> repeat(int rounds, const std::function<double()> &measure) {
  std::vector<double> values;
  for (int i = 0; i < rounds; ++i)
    values.push_back(measure());
  return values;
}

struct Options {
  std::string json, arch = "sm_90";
  int64_t elements = int64_t(1) << 24;
};

/// A folder of this run, gone when it ends.
class Folder {
public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "fusewright-bench-XXXXXX";
    if (!mkdtemp(name.data()))
      std::exit(1);
    root = name;
  }
  ~Folder() { std::filesystem::remove_all(root); }
  /// A new one below it.
  std::string fresh() {
    std::string path = root / ("cache" + std::to_string(made++));
    std::filesystem::create_directory(path);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  const std::filesystem::path &path() const { return root; }

private:
  std::filesystem::path root;
  int made = 0;
};

std::shared_ptr<const fw::jit::Nvrtc> openNvrtc() {
  auto settings = fw::jit::Settings::read();
  auto nvrtc = fw::jit::Nvrtc::open(settings ? *settings : fw::jit::Settings());
  if (!nvrtc) {
    std::fprintf(stderr, "error: %s\n", fw::render(nvrtc.error()).c_str());
    std::exit(5);
  }
  return *nvrtc;
}

//===-- H4 ---===//

double emptyKernelMs(const fw::jit::Nvrtc &nvrtc, const std::string &arch) {
  return millisecondsOf([&] {
    if (!nvrtc.compile("extern \"C\" __global__ void empty() {}\n", "empty.cu", arch,
                       nvrtc.flags()))
      std::exit(5);
  });
}

/// From text to cubin, with nothing cached.
double coldCompileMs(const char *op, const std::string &arch, const std::string &cacheDir) {
  fw_context *context = makeContext(cacheDir);
  fw_program *program = nullptr;
  double ms = millisecondsOf([&] {
    fw_request *request = makeRequest(context, op, arch);
    program = compile(context, request);
    fw_request_destroy(request);
  });
  fw_program_destroy(program);
  fw_context_destroy(context);
  return ms;
}

void measureColdCompiles(std::vector<Row> &rows, const fw::jit::Nvrtc &nvrtc,
                         const Options &options, Folder &folder) {
  emptyKernelMs(nvrtc, options.arch); // NVRTC's own start
  for (size_t i = 0; i < fw_shipped_op_count(); ++i) {
    const char *op = fw_shipped_op_name(i);
    // In turn, so that a slow minute of the machine meets both.
    std::vector<double> empty, cold;
    for (int round = 0; round < 9; ++round) {
      empty.push_back(emptyKernelMs(nvrtc, options.arch));
      cold.push_back(coldCompileMs(op, options.arch, folder.fresh()));
    }
    double unit = median(empty), ms = median(cold);
    rows.push_back({"H4",
                    std::string(op) + " " + options.arch + ", in empty kernels",
                    ms / unit,
                    "x",
                    4,
                    2,
                    {{"empty kernel ms", unit}, {"cold compile ms", ms}}});
  }
}

//===-- H5 ---===//

void measureWarmPrograms(std::vector<Row> &rows, const Options &options, Folder &folder) {
  std::string cacheDir = folder.fresh();
  coldCompileMs("adamw", options.arch, cacheDir);
  auto fromDisk = repeat(51, [&] {
    fw_context *context = makeContext(cacheDir);
    // Opening the folder belongs to the context's first program, which is H6.
    fw_request *other = makeRequest(context, "sgd", options.arch);
    fw_program_destroy(compile(context, other));
    fw_request *request = makeRequest(context, "adamw", options.arch);
    double ms = millisecondsOf([&] { fw_program_destroy(compile(context, request)); });
    fw_request_destroy(request);
    fw_request_destroy(other);
    fw_context_destroy(context);
    return ms;
  });
  rows.push_back({"H5", "adamw from disk", median(fromDisk), "ms", 1, 0.2});

  fw_context *context = makeContext(cacheDir);
  fw_request *request = makeRequest(context, "adamw", options.arch);
  fw_program_destroy(compile(context, request));
  constexpr int calls = 100'000;
  auto byHandle = repeat(11, [&] {
    return millisecondsOf([&] {
             for (int i = 0; i < calls; ++i)
               fw_program_destroy(compile(context, request));
           }) *
           1e3 / calls;
  });
  rows.push_back({"H5", "adamw by handle from memory", median(byHandle), "us", 0.5, 0.1});
  fw_request_destroy(request);
  fw_context_destroy(context);
}

//===-- H6 ---===//

/// A hundred different ops of an optimizer's size in one file.
std::string hundredOps() {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "op op" + std::to_string(i) +
            " over elements {\n  param p;  grad g;  state m = 0, v = 0;  step t\n"
            "  hyper lr = 1e-3 >= 0, a = 0.9 in [0, 1), b = 0.999 in [0, 1), eps = 1e-8 >= 0\n"
            "  m = a*m + (1 - a)*g\n  v = b*v + (1 - b)*g^2\n"
            "  p = p - lr*(m/(1 - a^t))/(sqrt(v/(1 - b^t)) + eps) - " +
            std::to_string(i) + "*lr*p\n}\n";
  return text;
}

/// Load, first program and a hundred programs of one fresh process.
std::vector<double> runLoader(const std::string &loader, const std::string &library,
                              const std::string &target, const std::string &file,
                              const std::string &cacheDir) {
  setenv("FUSEWRIGHT_CACHE_DIR", cacheDir.c_str(), 1);
  FILE *pipe = popen((loader + " '" + library + "' " + target + " '" + file + "'").c_str(), "r");
  std::vector<double> values(3);
  bool read = pipe && std::fscanf(pipe, "%lf %lf %lf", &values[0], &values[1], &values[2]) == 3;
  if (!pipe || pclose(pipe) != 0 || !read)
    std::exit(1);
  return values;
}

void measureFreshProcesses(std::vector<Row> &rows, const std::string &folderOfPrograms,
                           const Options &options, Folder &folder) {
  std::string file = folder.path() / "bench.fuse";
  std::ofstream(file) << hundredOps();
  for (const std::string &target : {options.arch, std::string("cpu")}) {
    std::string cacheDir = folder.fresh();
    auto run = [&] {
      return runLoader(folderOfPrograms + "/bench-load", FW_BENCH_LIBRARY, target, file, cacheDir);
    };
    run(); // fills the cache
    std::vector<double> load, first, hundred;
    for (int round = 0; round < 15; ++round) {
      std::vector<double> values = run();
      load.push_back(values[0]);
      first.push_back(values[1]);
      hundred.push_back(values[2]);
    }
    if (target != "cpu")
      rows.push_back({"H6", "library load", median(load), "ms", 2, 1});
    rows.push_back({"H6", "first program of a process, " + target, median(first), "ms", 5, 3});
    rows.push_back({"H6", "100 programs of a process, " + target, median(hundred), "ms", 50, 20});
  }
}

//===-- H8 ---===//

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
void bareStream(float *__restrict p, const float *__restrict g, float *__restrict m,
                float *__restrict v, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    p[i] += g[i];
    m[i] += g[i];
    v[i] += g[i];
  }
}

void streamOnAllCores(float *const *data, int64_t count) {
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t)
    pool.emplace_back(bareStream, data[0], data[1], data[2], data[3], count * t / threads,
                      count * (t + 1) / threads);
  for (std::thread &thread : pool)
    thread.join();
}

void measureCpu(std::vector<Row> &rows, const Options &options, Folder &folder) {
  fw_context *context = makeContext(folder.fresh());
  fw_request *request = makeRequest(context, "adamw", "cpu");
  fw_program *program = compile(context, request);
  float *data[4];
  fw_tensor tensors[4] = {};
  for (int k = 0; k < 4; ++k) {
    data[k] =
        static_cast<float *>(std::aligned_alloc(4096, size_t(options.elements) * sizeof(float)));
    std::fill(data[k], data[k] + options.elements, k == 1 ? 0.01f : 0.1f);
    tensors[k].struct_size = sizeof tensors[k];
    tensors[k].device = FW_DEVICE_CPU;
    tensors[k].rank = 1;
    tensors[k].dtype = "f32";
    tensors[k].data = data[k];
    tensors[k].shape = &options.elements;
  }
  fw_scalar step = {sizeof step, 0, "t", 10, nullptr, 0};
  double stream = 1e30, adamw = 1e30; // the best of each: what the machine can do
  for (int round = 0; round < 15; ++round) {
    stream = std::min(stream, millisecondsOf([&] { streamOnAllCores(data, options.elements); }));
    adamw = std::min(adamw, millisecondsOf([&] {
                       check(fw_launch(context, program, tensors, 4, &step, 1, nullptr));
                     }));
  }
  constexpr double bytes = 28; // p, m, v read and written, g read
  rows.push_back({"H8",
                  "adamw on the CPU, of a bare stream",
                  100 * stream / adamw,
                  "%",
                  85,
                  95,
                  {{"stream GB/s", bytes * double(options.elements) / stream * 1e-6},
                   {"adamw GB/s", bytes * double(options.elements) / adamw * 1e-6}}});
  for (float *memory : data)
    std::free(memory);
  fw_program_destroy(program);
  fw_request_destroy(request);
  fw_context_destroy(context);
}

Options readOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 < argc && !std::strcmp(argv[i], "--json"))
      options.json = argv[i + 1];
    else if (i + 1 < argc && !std::strcmp(argv[i], "--arch"))
      options.arch = argv[i + 1];
    else if (i + 1 < argc && !std::strcmp(argv[i], "--elements"))
      options.elements = (std::atoll(argv[i + 1]) + 1023) / 1024 * 1024;
    else {
      std::fprintf(stderr, "usage: bench-host [--json FILE] [--arch ARCH] [--elements N]\n");
      std::exit(2);
    }
  }
  return options;
}

} // namespace

int main(int argc, char **argv) {
  Options options = readOptions(argc, argv);
  Folder folder;
  auto nvrtc = openNvrtc();
  std::vector<Row> rows;
  measureColdCompiles(rows, *nvrtc, options, folder);
  measureWarmPrograms(rows, options, folder);
  measureFreshProcesses(rows, std::filesystem::canonical("/proc/self/exe").parent_path(), options,
                        folder);
  measureCpu(rows, options, folder);
  printTable(rows);
  if (!options.json.empty())
    writeJson(options.json, rows,
              {{"fusewright", fw::jit::compilerBuildId()},
               {"nvrtc", nvrtc->version()},
               {"cores", std::thread::hardware_concurrency()}});
}
