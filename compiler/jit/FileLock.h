// "One compile per key and host": an OS lock on a file, freed by the kernel when its owner dies.
#pragma once

#include "compiler/jit/Files.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace fw::jit {

class FileLock {
public:
  enum class Outcome { Held, HeldAfterWait, TimedOut, Unavailable };

  FileLock(Files &files, std::string path, mode_t mode)
      : files(files), path(std::move(path)), mode(mode) {}
  FileLock(const FileLock &) = delete;
  ~FileLock(); ///< removes the file and frees the lock, if it is held

  /// Waits at most `patience`. Unavailable: the file cannot be made or the file system has no
  /// locks; see fault().
  /// `onWait` is called once, before the first wait.
  Outcome acquire(std::chrono::milliseconds patience, const std::function<void()> &onWait = {});

  int fault() const { return error; }

private:
  enum class Attempt { Held, Busy, Stale, Failed };
  Attempt attempt();
  bool isStillNamed() const;

  Files &files;
  std::string path;
  mode_t mode;
  FileHandle file;
  bool held = false;
  int error = 0;
};

} // namespace fw::jit
