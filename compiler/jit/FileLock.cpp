#include "compiler/jit/FileLock.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace fw::jit {

FileLock::Outcome FileLock::acquire(std::chrono::milliseconds patience,
                                    const std::function<void()> &onWait) {
  using namespace std::chrono;
  auto deadline = steady_clock::now() + patience;
  milliseconds pause(1);
  bool waited = false;
  while (true) {
    switch (attempt()) {
    case Attempt::Held:
      held = true;
      return waited ? Outcome::HeldAfterWait : Outcome::Held;
    case Attempt::Failed:
      return Outcome::Unavailable;
    case Attempt::Stale: // its last owner removed the file between our open and our lock, or the
    case Attempt::Busy:  // file system gives a file two numbers, and every attempt will end so
      break;
    }
    if (steady_clock::now() >= deadline)
      return Outcome::TimedOut;
    if (!waited && onWait)
      onWait();
    waited = true;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, milliseconds(20));
  }
}

FileLock::Attempt FileLock::attempt() {
  if (!file) {
    file = FileHandle(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) {
      error = errno;
      return Attempt::Failed;
    }
  }
  if (files.flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    error = errno;
    return error == EWOULDBLOCK || error == EINTR ? Attempt::Busy : Attempt::Failed;
  }
  if (isStillNamed())
    return Attempt::Held;
  file = FileHandle();
  return Attempt::Stale;
}

bool FileLock::isStillNamed() const {
  struct stat ours, named;
  return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

FileLock::~FileLock() {
  if (!held)
    return;
  files.unlink(path.c_str());       // while the lock is held, so nobody's newer file is removed
  files.flock(file.get(), LOCK_UN); // a forked child may hold a copy of the descriptor
}

} // namespace fw::jit
