#include "compiler/jit/NvrtcSearch.h"

#include <gtest/gtest.h>
#include <map>

namespace fw::jit {
namespace {

/// A machine made of listings: folder -> names.
SearchWorld worldOf(std::map<std::string, std::string> variables,
                    std::map<std::string, std::vector<std::string>> folders,
                    std::map<std::string, std::string> links = {}) {
  SearchWorld world;
  world.environment = [variables](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  world.list = [folders](const std::string &folder) {
    auto found = folders.find(folder);
    return found == folders.end() ? std::vector<std::string>() : found->second;
  };
  world.resolve = [links](const std::string &path) {
    auto found = links.find(path);
    return found == links.end() ? path : found->second;
  };
  return world;
}

std::vector<std::string> pathsOf(const SearchWorld &world, const Settings &settings = {}) {
  std::vector<std::string> paths;
  for (const NvrtcCandidate &candidate : nvrtcCandidates(settings, world))
    paths.push_back(candidate.path);
  return paths;
}

using Paths = std::vector<std::string>;

TEST(NvrtcSearch, overrideIsTheOnlyCandidate) {
  Settings settings;
  ASSERT_TRUE(settings.set(Knob::nvrtc, "/my/libnvrtc.so"));
  EXPECT_EQ(
      pathsOf(worldOf({{"CUDA_HOME", "/cuda"}}, {{"/cuda/lib64", {"libnvrtc.so.13"}}}), settings),
      Paths{"/my/libnvrtc.so"});
}

TEST(NvrtcSearch, emptyMachineAsksTheLoaderAlone) {
  EXPECT_EQ(pathsOf(worldOf({}, {})), (Paths{"libnvrtc.so.13", "libnvrtc.so.12"}));
}

TEST(NvrtcSearch, placesComeInTheDocumentedOrder) {
  SearchWorld world =
      worldOf({{"CUDA_HOME", "/home-cuda"},
               {"CUDA_PATH", "/path-cuda"},
               {"VIRTUAL_ENV", "/venv"},
               {"PATH", "/empty:/opt/py/bin"},
               {"CONDA_PREFIX", "/conda"}},
              {{"/home-cuda/lib64", {"libnvrtc.so.12", "libnvrtc.so.13"}},
               {"/path-cuda/targets/x86_64-linux/lib", {"libnvrtc.so.12"}},
               {"/venv/lib", {"python3.12"}},
               {"/venv/lib/python3.12/site-packages/nvidia/cu13/lib", {"libnvrtc.so.13"}},
               {"/opt/py/bin", {"python3"}},
               {"/opt/py/lib", {"libpython3.so", "python3.11"}},
               {"/opt/py/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib", {"libnvrtc.so.12"}},
               {"/conda/lib", {"libnvrtc.so.12"}},
               {"/usr/local", {"bin", "cuda-12.4", "cuda-13.0"}},
               {"/usr/local/cuda-12.4/lib64", {"libnvrtc.so.12"}},
               {"/usr/local/cuda-13.0/lib64", {"libnvrtc.so.13"}}});
  EXPECT_EQ(pathsOf(world),
            (Paths{"libnvrtc.so.13", "libnvrtc.so.12", "/home-cuda/lib64/libnvrtc.so.13",
                   "/home-cuda/lib64/libnvrtc.so.12",
                   "/path-cuda/targets/x86_64-linux/lib/libnvrtc.so.12",
                   "/venv/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
                   "/opt/py/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                   "/conda/lib/libnvrtc.so.12", "/usr/local/cuda-13.0/lib64/libnvrtc.so.13",
                   "/usr/local/cuda-12.4/lib64/libnvrtc.so.12"}));
}

TEST(NvrtcSearch, pythonBehindALinkAndDebianPackages) {
  SearchWorld world =
      worldOf({{"PATH", "/venv/bin"}},
              {{"/venv/bin", {"python3"}},
               {"/usr/lib", {"python3"}},
               {"/usr/lib/python3/dist-packages/nvidia/cu13/lib", {"libnvrtc.so.13"}},
               {"/usr/local/lib", {"python3.11"}},
               {"/usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib", {"libnvrtc.so.13"}}},
              {{"/venv/bin/python3", "/usr/bin/python3.11"}});
  EXPECT_EQ(pathsOf(world),
            (Paths{"libnvrtc.so.13", "libnvrtc.so.12",
                   "/usr/lib/python3/dist-packages/nvidia/cu13/lib/libnvrtc.so.13",
                   "/usr/local/lib/python3.11/dist-packages/nvidia/cu13/lib/libnvrtc.so.13"}));
}

TEST(NvrtcSearch, whatInstallDepsHasFetchedComesLast) {
  std::map<std::string, std::vector<std::string>> folders = {
      {"/me/.local/share/fusewright/nvrtc/nvidia/cu13/lib", {"libnvrtc.so.13"}},
      {"/data/fusewright/nvrtc/nvidia/cu13/lib", {"libnvrtc.so.13"}},
      {"/usr/local", {"cuda"}},
      {"/usr/local/cuda/lib64", {"libnvrtc.so.12"}}};
  std::map<std::string, std::string> variables = {{"HOME", "/me"}};
  EXPECT_EQ(pathsOf(worldOf(variables, folders)),
            (Paths{"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12",
                   "/me/.local/share/fusewright/nvrtc/nvidia/cu13/lib/libnvrtc.so.13"}));
  variables["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(pathsOf(worldOf(variables, folders)).back(),
            "/data/fusewright/nvrtc/nvidia/cu13/lib/libnvrtc.so.13");
}

TEST(NvrtcSearch, pyenvShimsLeadToTheVersions) {
  SearchWorld world = worldOf(
      {{"PATH", "/p/shims"}},
      {{"/p/shims", {"python3"}},
       {"/p/versions", {"3.11.4"}},
       {"/p/versions/3.11.4/lib", {"python3.11"}},
       {"/p/versions/3.11.4/lib/python3.11/site-packages/nvidia/cu13/lib", {"libnvrtc.so.13"}}});
  EXPECT_EQ(pathsOf(world).back(),
            "/p/versions/3.11.4/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
}

} // namespace
} // namespace fw::jit
