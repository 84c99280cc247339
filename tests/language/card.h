// The op texts of the language card (docs: the guide's page on the language), one by one.
#pragma once

#include <string_view>

namespace card {

inline constexpr std::string_view adamw = R"(fuse 1

# Adam with decoupled weight decay. Loshchilov & Hutter 2019, algorithm 2.
op adamw over elements {
  option decay = decoupled | l2;  option amsgrad = false        # first value is the default
  param p;  grad g;  state m = 0, v = 0;  step t
  if amsgrad { state vmax = 0 }                                 # the operand exists only for that option value
  hyper lr = 1e-3 >= 0, beta1 = 0.9 in [0, 1), beta2 = 0.999 in [0, 1), eps = 1e-8 >= 0, weight_decay = 1e-2 >= 0

  if decay == l2 { d = g + weight_decay*p } else { d = g }      # statement-if: over options only
  m = beta1*m + (1 - beta1)*d                                   # E1
  v = beta2*v + (1 - beta2)*d^2                                 # E2
  c1 = 1 - beta1^t;  c2 = 1 - beta2^t                           # E3
  if amsgrad { vmax = max(vmax, v);  s = vmax } else { s = v }
  u = (m/c1) / (sqrt(s/c2) + eps)                               # E4
  if decay == l2 { p = p - lr*u } else { p = p - lr*(u + weight_decay*p) }   # E5
}
)";

inline constexpr std::string_view layerNorm = R"(
op layer_norm over rows {                                       # rows = [row; column]
  in x;  column w = 1 optional, b = 0 optional;  out y;  save mean, rstd;  hyper eps = 1e-5 > 0
  mean = avg(x)                                                 # E1
  rstd = rsqrt(avg((x - mean)^2) + eps)                         # E2
  y = (x - mean)*rstd*w + b                                     # E3
}
)";

inline constexpr std::string_view maskedSoftmax = R"(
op masked_softmax over [batch, head, query; key] {
  in x;  in keep[batch, 1, query, key] : bool;  in slope[head];  out y;  hyper scale = 1     # own axes; 1 = broadcast
  s = if keep then scale*x + slope*(index(key) - index(query)) else -inf
  t = max(s)
  e = if t == -inf then 0 else exp(s - t);  z = sum(e)          # fully masked rows give 0, NaN stays NaN
  y = if t == -inf then 0 else e/z
}
)";

inline constexpr std::string_view crossEntropy = R"(
op cross_entropy over rows {
  in x;  row target : int;  out loss[row];  hyper ignore : int = -100
  t = max(x);  z = log(sum(exp(x - t))) + t
  loss = if target == ignore then 0 else z - x[target]
}
)";

inline constexpr std::string_view batchNorm = R"(
op batch_norm over [c; n, h, w] {
  in x, weight[c], bias[c];  state running[c] = 0;  out y;  save mean, rstd;  hyper eps = 1e-5 > 0, momentum = 0.1
  mean = avg[c](x);  rstd = rsqrt(avg[c]((x - mean)^2) + eps)
  running = (1 - momentum)*running + momentum*mean
  y = (x - mean)*rstd*weight + bias
}
)";

inline constexpr std::string_view block = R"(
op block over rows { in x, r;  column w;  out y, r2;  r2 = x + r;  y = rms_norm(r2, w).y }   # ops call ops
)";

/// What the examples leave out of the card's list.
inline constexpr std::string_view rest = R"(
op loss_scale over [] { state scale = 65536, growth = 0;  in bad;  scale = if bad > 0 then scale/2 else scale;  growth = growth + 1 }
op quantised over [row; column] {
  in x, w;  in packed[row, column/128] : int;  state s[row, column/128] = 1;  state total[tensor], count_all[all]
  out y, q : int;  row r;  column c;  hyper low = -1 in (-2, 0], n : int = 3, on : bool = true
  a = absmax[group(128)](x);  b = sum[world](x*w);  d = any(x > 0) or all[row](x < 1) and not isnan(x)
  k = (packed >> 4) mod 16 + (packed << 2) div 3 + xor(packed, and_(packed, or_(packed, 1)))
  u = round_to(e4m3fn.sat, x/s)*largest(y) + stored(y) - old(s)
  v = swap_pairs(x, half) + swap_pairs(x, interleaved, 64) + random() + bits()/65536
  y = if on then other(x, w, eps = 1e-6, mode = fast).y else w[packed] + w[index(row), 2]*size(column)
  z = -x^2 + x^-2 - 2^n^2 + fma(x, w, 1) + count[column](x != 0) + max[row, column](x) + min(x, w) + clamp(x, 0, 1)
}
)";

} // namespace card
