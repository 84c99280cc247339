# Sourced by tools/install-deps, tools/quickstart and tools/test: the choices that a build of this
# tree makes, each in one place. A value that is already in the environment wins.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
stage_report=()

# Compilers: the clang and lld that belong to our LLVM where they are installed, else the system's,
# which Meson finds by itself, with ccache. Meson adds no ccache to a compiler that is named to it.
choose_compilers() {
  local cached=
  command -v ccache >/dev/null && cached="ccache "
  if [[ -z "${CXX:-}" ]] && command -v clang-22 >/dev/null && command -v clang++-22 >/dev/null; then
    export CC="${CC:-${cached}clang-22}" CXX="${cached}clang++-22"
    command -v ld.lld-22 >/dev/null && export CC_LD="${CC_LD:-lld-22}" CXX_LD="${CXX_LD:-lld-22}"
  fi
  # What ccache must overlook to cache files that use a precompiled header.
  export CCACHE_SLOPPINESS="${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}"
}

# A file that includes MLIR takes up to 1.5 GB to compile, so memory bounds the jobs as cores do.
job_count() {
  local cores memory_kb by_memory
  cores=$(nproc)
  memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  by_memory=$((memory_kb / (1536 * 1024)))
  ((by_memory >= 1)) || by_memory=1
  echo "${FUSEWRIGHT_JOBS:-$((cores < by_memory ? cores : by_memory))}"
}

# configure FOLDER [meson options]: sets up a build folder; an existing one is brought up to date.
configure() {
  local folder=$1
  shift
  if [[ -f "$root/$folder/build.ninja" ]]; then
    meson configure "$root/$folder" "$@" >/dev/null
  else
    meson setup "$root/$folder" "$root" "$@"
  fi
}

build() {
  ninja -C "$root/$1" -j "$(job_count)" "${@:2}"
}

# stage NAME COMMAND...: runs a step, keeps its wall time for the closing table, passes its status on.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  echo "==> $name"
  "$@" || status=$?
  stage_report+=("$(printf '%-34s %4d s%s' "$name" $((SECONDS - start)) "$([[ $status == 0 ]] || echo "  failed ($status)")")")
  return "$status"
}

print_stages() {
  ((${#stage_report[@]} == 0)) || printf '%s\n' "" "time per stage" "${stage_report[@]}"
}

# CUDA 13 is the toolkit generation whose NVRTC knows every arch of compiler/target/archs.def.
nvrtc_major=13
# Where tools/install-deps keeps the NVRTC of PyPI.
nvrtc_folder="${XDG_DATA_HOME:-$HOME/.local/share}/fusewright/nvrtc"

has_nvrtc() {
  compgen -G "$1/libnvrtc.so.$nvrtc_major*" >/dev/null &&
    compgen -G "$1/libnvrtc-builtins.so.$nvrtc_major*" >/dev/null
}

# Prints the folder of the first NVRTC that the loader's path or a toolkit offers with its builtins.
toolkit_nvrtc() {
  local folder
  while read -r folder; do
    has_nvrtc "$folder" && echo "$folder" && return 0
  done < <(ldconfig -p 2>/dev/null | awk -v so="libnvrtc.so.$nvrtc_major" '$1 == so { sub("/[^/]*$", "", $NF); print $NF }'
           printf '%s\n' "${CUDA_HOME:-/usr/local/cuda}"/lib{64,} "/usr/local/cuda-$nvrtc_major".*/lib{64,})
  return 1
}

pip_nvrtc() {
  local folder="$nvrtc_folder/nvidia/cu$nvrtc_major/lib"
  has_nvrtc "$folder" && echo "$folder"
}

nvtx_folder="${XDG_DATA_HOME:-$HOME/.local/share}/fusewright/nvtx"

# nvtx_include USE_TOOLKIT: prints the folder that has the headers of NVTX 3, a toolkit's or the one that
# tools/install-deps fetched.
nvtx_include() {
  local folder folders=("$nvtx_folder/nvidia/cu$nvrtc_major/include")
  ! $1 || folders=("${CUDA_HOME:-/usr/local/cuda}/include" "${folders[@]}")
  for folder in "${folders[@]}"; do
    [[ ! -f "$folder/nvtx3/nvToolsExt.h" ]] || { echo "$folder"; return 0; }
  done
  return 1
}

# The product finds a toolkit's NVRTC by itself; the one of tools/install-deps is named to it.
find_nvrtc() {
  local folder
  if [[ -z "${FUSEWRIGHT_NVRTC:-}" ]] && ! toolkit_nvrtc >/dev/null && folder=$(pip_nvrtc); then
    export FUSEWRIGHT_NVRTC="$folder/libnvrtc.so.$nvrtc_major"
  fi
}

# The torch that tests of the PyTorch package take, and the oldest one that the package supports.
torch_version=2.11.0
oldest_torch_version=2.4.1
default_python="${FUSEWRIGHT_PYTHON:-python3}"

# Prints the Python that the oldest torch is tested with, the oldest one that the package supports.
oldest_python() {
  local candidate
  for candidate in "${FUSEWRIGHT_OLDEST_PYTHON:-}" python3.9 "$HOME"/.pyenv/versions/3.9.*/bin/python; do
    if [[ -n "$candidate" ]] && [[ "$("$candidate" -c 'import sys; print(*sys.version_info[:2])' 2>/dev/null)" == "3 9" ]]; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}

# torch_folder VERSION [PYTHON]: where tools/install-torch keeps an environment; one for another Python
# than the default one has a name of its own.
torch_folder() {
  local suffix=
  [[ -z "${2:-}" ]] || suffix="-$("$2" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')"
  echo "${XDG_DATA_HOME:-$HOME/.local/share}/fusewright/torch-$1$suffix"
}

# fail EXPECTED GOT REMEDY [STATUS]
fail() {
  printf 'error: expected %s, got %s; %s\n' "$1" "$2" "$3" >&2
  exit "${4:-1}"
}
