#include "compiler/cpu/Random.h"

using namespace mlir;

namespace fw::cpu {

namespace {

/// Words of 32 bits in lanes of 64: a product needs them, and all of it stays in one width.
class Words {
public:
  explicit Words(const Lanes &lanes) : lanes(lanes) {}

  Value constant(uint64_t value) const { return lanes.integer(64, value); }
  Value low(Value x) const { return lanes.make<arith::AndIOp>(x, constant(0xFFFFFFFF)); }
  Value high(Value x) const { return lanes.make<arith::ShRUIOp>(x, constant(32)); }
  Value times(Value x, uint32_t factor) const {
    return lanes.make<arith::MulIOp>(x, constant(factor));
  }
  Value mix(Value a, Value b, Value c) const {
    return lanes.make<arith::XOrIOp>(lanes.make<arith::XOrIOp>(a, b), c);
  }
  Value plus(Value x, uint32_t step) const {
    return low(lanes.make<arith::AddIOp>(x, constant(step)));
  }

private:
  const Lanes &lanes;
};

/// The four words that a counter gives under a key.
void philox(const Words &words, Value key, std::array<Value, 4> &c) {
  Value k0 = words.low(key), k1 = words.high(key);
  for (int round = 0; round < 10; ++round) {
    Value a = words.times(c[0], 0xD2511F53u), b = words.times(c[2], 0xCD9E8D57u);
    c = {words.mix(words.high(b), c[1], k0), words.low(b), words.mix(words.high(a), c[3], k1),
         words.low(a)};
    k0 = words.plus(k0, 0x9E3779B9u);
    k1 = words.plus(k1, 0xBB67AE85u);
  }
}

} // namespace

Value drawBits(const Lanes &lanes, Value seed, Value numbers, Value offset, uint32_t draw) {
  const Words words(lanes);
  Value block = lanes.make<arith::ShRUIOp>(numbers, words.constant(3));
  std::array<Value, 4> c = {words.low(block), words.high(block), words.low(lanes.splat(offset)),
                            words.constant(draw)};
  philox(words, lanes.splat(seed), c);
  // Half words from the lowest bits of the first word up: bit 2 and 1 of a number choose the word.
  auto isSet = [&](uint64_t bit) {
    return lanes.compare(arith::CmpIPredicate::ne,
                         lanes.make<arith::AndIOp>(numbers, words.constant(bit)),
                         words.constant(0));
  };
  Value isSecond = isSet(2);
  Value word = lanes.select(isSet(4), lanes.select(isSecond, c[3], c[2]),
                            lanes.select(isSecond, c[1], c[0]));
  Value half = lanes.select(isSet(1), lanes.make<arith::ShRUIOp>(word, words.constant(16)), word);
  return lanes.make<arith::AndIOp>(half, words.constant(0xFFFF));
}

} // namespace fw::cpu
