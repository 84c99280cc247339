// Parts of the struct that a skeleton is filled with, alike for all patterns.
#pragma once

#include "compiler/dialect/Fuse.h"

#include <string>
#include <vector>

namespace fw::emit {

/// A kernel, and what it reads of the scalar program before it.
struct KernelParts {
  fuse::ProgramOp program;
  fuse::KernelOp kernel;
  llvm::SmallVector<fuse::ResultOp> slots;

  KernelParts(fuse::ProgramOp program, fuse::KernelOp kernel);
  /// Of a program over axes.
  fuse::DomainAttr domain() { return *program.getDomain(); }
  /// The type of the numbers that slots are read from: ints need more digits than f32 has.
  std::string tableType();
  /// What the last block of a reducing kernel runs; null for others.
  fuse::ScalarsOp scalarsBehind();
};

/// Operands with their places among those of the kernel.
using Streams = std::vector<std::pair<unsigned, fuse::OperandAttr>>;

/// CUDA's name of a storage dtype: fw::bf16.
std::string storageText(llvm::StringRef dtype);

/// "template <int W> struct NAME" with `Holder<dtype, W>` of each stream.
std::string printStreams(llvm::StringRef name, const Streams &streams,
                         llvm::StringRef holder = "fw::Raw");

/// A line for each stream: BEGIN member, its pointer END.
std::string printAccesses(llvm::StringRef begin, llvm::StringRef end, const Streams &streams,
                          llvm::StringRef pointers = "pointers");

/// struct Uniform and the function that fills it from a row of scalars of type `table`.
std::string printUniform(KernelParts parts, llvm::StringRef table);

} // namespace fw::emit
