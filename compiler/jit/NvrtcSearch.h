// Where NVRTC may be, in order. A pure function of the environment and of folder listings.
#pragma once

#include "compiler/jit/Knobs.h"

#include <functional>
#include <string>
#include <vector>

namespace fw::jit {

/// Names in a folder, sorted; empty when there is no such folder.
using FolderLister = std::function<std::vector<std::string>(const std::string &folder)>;
FolderLister diskLister();

/// The path behind links; the path itself when there is none.
using LinkResolver = std::function<std::string(const std::string &path)>;
LinkResolver diskResolver();

struct SearchWorld {
  Environment environment = processEnvironment();
  FolderLister list = diskLister();
  LinkResolver resolve = diskResolver();
};

/// A path, or a bare name for the loader to find; `place` says in words where it was looked for.
struct NvrtcCandidate {
  std::string path;
  std::string place;
};

/// FUSEWRIGHT_NVRTC alone where it is set; else the loader's path, CUDA_HOME and CUDA_PATH, the
/// packages of the virtual environment and of the python3 on PATH, conda, /usr/local/cuda*, what
/// tools/install-deps has fetched. Newest version first in each.
std::vector<NvrtcCandidate> nvrtcCandidates(const Settings &settings,
                                            const SearchWorld &world = {});

} // namespace fw::jit
