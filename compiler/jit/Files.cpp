#include "compiler/jit/Files.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <sys/file.h>
#include <sys/random.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace fw::jit {

ssize_t Files::write(int file, const void *bytes, size_t count) {
  return ::write(file, bytes, count);
}
int Files::sync(int file) { return ::fdatasync(file); }
int Files::rename(const char *from, const char *to) { return ::rename(from, to); }
int Files::unlink(const char *path) { return ::unlink(path); }
int Files::flock(int file, int operation) { return ::flock(file, operation); }

FileHandle &FileHandle::operator=(FileHandle &&other) noexcept {
  std::swap(file, other.file);
  return *this;
}
FileHandle::~FileHandle() {
  if (file >= 0)
    ::close(file);
}
int FileHandle::release() { return std::exchange(file, -1); }

std::string systemText(int error) { return std::generic_category().message(error); }

std::string stagingName(std::string_view host, long pid, uint64_t random) {
  std::string name;
  for (char c : host.substr(0, 64))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  char tail[64];
  std::snprintf(tail, sizeof tail, "-%ld-%016llx", pid, static_cast<unsigned long long>(random));
  return name + tail;
}

static std::string hostName() {
  char host[65] = {};
  ::gethostname(host, sizeof host - 1);
  return host;
}

bool isOfEndedProcess(const std::string &name) {
  const size_t tail = std::min(name.find('-'), name.size()); // a host's name has none there
  long pid = 0;
  unsigned long long random = 0;
  return std::sscanf(name.c_str() + tail, "-%ld-%llx", &pid, &random) == 2 && pid > 0 &&
         name == stagingName(hostName(), pid, random) && ::kill(pid_t(pid), 0) != 0 &&
         errno == ESRCH;
}

std::string freshStagingName() {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != ssize_t(sizeof random))
    random = uint64_t(reinterpret_cast<uintptr_t>(&random)) ^
             uint64_t(::clock()); // early boot; O_EXCL still guards
  return stagingName(hostName(), ::getpid(), random);
}

} // namespace fw::jit
