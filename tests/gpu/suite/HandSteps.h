// Optimizers written by hand, with what features do written out in their equations: the other road
// to a step that a request with features asks for.
#pragma once

#include "tests/gpu/suite/Arena.h"

namespace suite {

/// An optimizer's equations over `old_p` and `used_g` for each param p and grad g, which give
/// `new_p`.
struct HandStep {
  std::string op, options, text; ///< as in a ProgramRow; text of ops of ours alone
  std::vector<std::string> params, grads;
  std::string declarations, body;

  ProgramRow row(std::string dtypes, std::string features) const {
    return {op, std::move(dtypes), options, std::move(features), text};
  }
};

/// Every shipped optimizer, and one of ours with two parameters.
const std::vector<HandStep> &handSteps();
const HandStep &handStep(const std::string &op);

/// The text of the op with these features. What the list's norm is, a launch says: hyper norm.
std::string textByHand(const HandStep &step, const std::vector<std::string> &features);

/// Where a step of `kernel`, which left `image`, is out of the bounds of the equations by hand over
/// `before`; empty: nowhere.
std::string checkByHand(fw_context *context, const HandStep &step, const Arena &arena,
                        const Bytes &before, const Bytes &image, const Scalars &scalars);

} // namespace suite
