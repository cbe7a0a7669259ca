// What a CUDA kernel for sampling needs of its machine and of FlashInfer, for one thread on the CPU: a block has one
// thread, so a sum over the block is a sum over that thread's vector, and a barrier is nothing.
//
// Compiled by torch_bridge/engines/cuda_header.py. Nothing here decides a token but `DeviceSamplingFromProb`, which
// takes the first token at which the running sum of the masses that satisfy a predicate exceeds u.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct OneThread {
  uint32_t x = 0, y = 0, z = 0;
};
static OneThread blockIdx, threadIdx;
static inline void __syncthreads() {}

namespace cub {
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING };
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING };
struct ReduceStorage {};

// A compiler that follows the standard reads `block.Sum<Size>(values)` in a template as two comparisons, as the word
// `template` is missing there: so `Sum` is a value that may be compared, and the second comparison is the sum.
struct Sum {
  Sum operator<(uint32_t) const { return *this; }
  template <typename T, size_t Size>
  T operator>(const T (&values)[Size]) const {
    T total(0);
    for (const T value : values) total += value;
    return total;
  }
};

template <typename T, uint32_t Threads, BlockReduceAlgorithm>
struct BlockReduce {
  static_assert(Threads == 1, "one thread is all that there is");
  explicit BlockReduce(ReduceStorage&) {}
  cub::Sum Sum;
};
}  // namespace cub

namespace flashinfer {
template <typename T>
T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

template <typename T, uint32_t Size>
struct vec_t {
  T values[Size];
  void fill(T value) { std::fill(values, values + Size, value); }
  void load(const T* from) { std::memcpy(values, from, sizeof values); }
  T& operator[](uint32_t i) { return values[i]; }
};

namespace sampling {
using std::max;

template <uint32_t Threads, cub::BlockScanAlgorithm, cub::BlockReduceAlgorithm>
struct SamplingTempStorage {
  struct {
    cub::ReduceStorage reduce;
  } block_prim;
  struct {
    double value;
  } block_aggregate;
  int sampled_id, last_valid_id;
};

template <uint32_t Size, uint32_t Threads, cub::BlockScanAlgorithm Scan, cub::BlockReduceAlgorithm Reduce, bool,
          typename T, typename Predicate>
void DeviceSamplingFromProb(uint32_t chunk, uint32_t d, Predicate counts, T u, vec_t<T, Size> masses, T& total,
                            SamplingTempStorage<Threads, Scan, Reduce>* storage) {
  for (uint32_t j = 0; j < Size; ++j) {
    const uint32_t token = chunk * Threads * Size + j;
    if (token >= d || !counts(masses[j])) continue;
    total += masses[j];
    storage->last_valid_id = static_cast<int>(token);
    if (total > u && storage->sampled_id == static_cast<int>(d)) storage->sampled_id = static_cast<int>(token);
  }
}
}  // namespace sampling
}  // namespace flashinfer
