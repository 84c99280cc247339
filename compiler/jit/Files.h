// The file calls of the cache that can fail in interesting ways. Tests replace them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace fw::jit {

/// Each call has the meaning, the result and the errno of the system call of that name.
class Files {
public:
  virtual ~Files() = default;
  virtual ssize_t write(int file, const void *bytes, size_t count);
  virtual int sync(int file);
  virtual int rename(const char *from, const char *to);
  virtual int unlink(const char *path);
  virtual int flock(int file, int operation);
};

/// A file descriptor that closes itself.
class FileHandle {
public:
  explicit FileHandle(int file = -1) : file(file) {}
  FileHandle(FileHandle &&other) noexcept : file(other.release()) {}
  FileHandle &operator=(FileHandle &&other) noexcept;
  ~FileHandle();
  explicit operator bool() const { return file >= 0; }
  int get() const { return file; }
  int release();

private:
  int file;
};

/// errno as text: "No space left on device".
std::string systemText(int error);

/// A name that no other process on any host sharing the folder makes: host, pid and 64 random bits
/// (CASES N13).
std::string stagingName(std::string_view host, long pid, uint64_t random);
std::string freshStagingName();
/// True for a staging name of this host whose process is gone. A name that another host or nobody
/// made says nothing.
bool isOfEndedProcess(const std::string &stagingName);

} // namespace fw::jit
