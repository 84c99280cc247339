#include "compiler/jit/NvrtcSearch.h"

#include <algorithm>
#include <filesystem>

namespace fw::jit {
namespace {

constexpr const char *libraryNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

class Search {
public:
  explicit Search(const SearchWorld &world) : world(world) {}

  void loader() {
    for (const char *name : libraryNames)
      found.push_back({name, "the loader's path"});
  }

  /// A toolkit's prefix, or conda's.
  void prefix(const std::string &root, const std::string &place) {
    if (root.empty())
      return;
    for (const char *lib :
         {"/lib64", "/lib", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib"})
      folder(root + lib, place);
  }

  /// A Python installation.
  void python(const std::string &root, const std::string &place) {
    if (root.empty())
      return;
    for (const std::string &version : world.list(root + "/lib"))
      if (version.starts_with("python3"))
        for (const char *name : {"/site-packages", "/dist-packages"})
          packages(root + "/lib/" + version + name, place);
  }

  void pythonOnPath() {
    std::string path = variable("PATH");
    for (size_t begin = 0; begin < path.size();) {
      size_t end = std::min(path.find(':', begin), path.size());
      std::string bin = path.substr(begin, end - begin);
      begin = end + 1;
      std::vector<std::string> names = world.list(bin);
      if (std::find(names.begin(), names.end(), "python3") == names.end())
        continue;
      pythonAt(bin);
      return;
    }
  }

  void toolkits() {
    std::vector<std::string> names = world.list("/usr/local");
    for (auto name = names.rbegin(); name != names.rend(); ++name) // newest first
      if (name->starts_with("cuda"))
        prefix("/usr/local/" + *name, "/usr/local/cuda*");
  }

  /// The folder of tools/install-deps, which stands in tools/lib/env.sh too.
  void fetched() {
    std::string data = variable("XDG_DATA_HOME"), home = variable("HOME");
    if (data.empty() && !home.empty())
      data = home + "/.local/share";
    if (!data.empty())
      packages(data + "/fusewright/nvrtc", "what tools/install-deps fetched");
  }

  std::string variable(const char *name) const {
    const char *value = world.environment(name);
    return value ? value : "";
  }

  std::vector<NvrtcCandidate> found;

private:
  void folder(const std::string &path, const std::string &place) {
    std::vector<std::string> names = world.list(path);
    for (const char *name : libraryNames)
      if (std::find(names.begin(), names.end(), name) != names.end())
        found.push_back({path + "/" + name, place});
  }

  /// Python packages carry NVRTC for CUDA 13 and 12 in different folders.
  void packages(const std::string &root, const std::string &place) {
    for (const char *package : {"/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"})
      folder(root + package, place);
  }

  void pythonAt(const std::string &bin) {
    constexpr const char *place = "packages of the python3 on PATH";
    auto parent = [](const std::string &path) {
      return std::filesystem::path(path).parent_path().string();
    };
    python(parent(bin), place); // a virtual environment's own packages come before its base's
    std::string real = parent(parent(world.resolve(bin + "/python3")));
    if (real != parent(bin))
      python(real, place);
    if (std::filesystem::path(bin).filename() == "shims") // pyenv: a script that picks a version
      for (const std::string &version : world.list(parent(bin) + "/versions"))
        python(parent(bin) + "/versions/" + version, place);
    if (std::string home = variable("HOME"); !home.empty())
      python(home + "/.local", place);
    if (real == "/usr")
      python("/usr/local", place);
  }

  const SearchWorld &world;
};

} // namespace

FolderLister diskLister() {
  return [](const std::string &folder) {
    std::vector<std::string> names;
    std::error_code fault;
    for (std::filesystem::directory_iterator entry(folder, fault), end; !fault && entry != end;
         entry.increment(fault))
      names.push_back(entry->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  };
}

LinkResolver diskResolver() {
  return [](const std::string &path) {
    std::error_code fault;
    std::filesystem::path real = std::filesystem::canonical(path, fault);
    return fault ? path : real.string();
  };
}

std::vector<NvrtcCandidate> nvrtcCandidates(const Settings &settings, const SearchWorld &world) {
  if (const std::string &path = settings.text(Knob::nvrtc); !path.empty())
    return {{path, "FUSEWRIGHT_NVRTC"}};
  Search search(world);
  search.loader();
  search.prefix(search.variable("CUDA_HOME"), "CUDA_HOME");
  search.prefix(search.variable("CUDA_PATH"), "CUDA_PATH");
  search.python(search.variable("VIRTUAL_ENV"), "packages of VIRTUAL_ENV");
  search.pythonOnPath();
  search.prefix(search.variable("CONDA_PREFIX"), "CONDA_PREFIX");
  search.python(search.variable("CONDA_PREFIX"), "packages of CONDA_PREFIX");
  search.toolkits();
  search.fetched();
  return search.found;
}

} // namespace fw::jit
