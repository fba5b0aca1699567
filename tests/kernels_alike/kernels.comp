// Small kernels that other languages say as well: kernels.cu, kernels.cl, kernels.wgsl. kernels.csv has the answers.
// The word with the kernel's name is defined, and BLOCK and ROWS where a block is not one row of two.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#pragma use_vulkan_memory_model
#ifndef BLOCK
#define BLOCK 2
#endif
#ifndef ROWS
#define ROWS 1
#endif
layout(local_size_x = BLOCK, local_size_y = ROWS) in;
layout(binding = 0) coherent buffer Data { int data[]; };
layout(binding = 1) coherent buffer Flags { int flags[]; };
layout(binding = 2) buffer Out { int result[]; };
#define T gl_GlobalInvocationID.x
#define ME gl_LocalInvocationID.x
#define DEVICE gl_ScopeQueueFamily
#define BUFFER gl_StorageSemanticsBuffer

#ifdef copy
void main() { result[T] = data[T]; }
#endif

#ifdef reverse
shared int tile[2];
void main() {
  tile[ME] = data[ME];
  barrier();
  result[ME] = tile[1 - ME];
}
#endif

#ifdef reverse_no_barrier
void main() {
  data[ME] += 10;
  result[ME] = data[1 - ME];
}
#endif

#ifdef counter
void main() { atomicAdd(flags[0], 1); }
#endif

#ifdef counter_plain
void main() { data[0]++; }
#endif

#ifdef wrap_add
void main() { result[T] = data[T] + 2; }
#endif

#ifdef wrap_mul
void main() { result[T] = data[T] * 0x10001; }
#endif

#ifdef shifts
void main() {
  result[0] = data[0] >> 3;
  result[1] = int(uint(data[0]) >> 28);
  result[2] = data[1] << 31;
  result[3] = data[0] << data[1];
}
#endif

#ifdef division
void main() {
  result[0] = data[0] / data[1];
  result[1] = int(uint(data[0]) / uint(data[1]));
  result[2] = int(uint(data[0]) % uint(data[1]));
}
#endif

#ifdef compare
void main() {
  result[0] = int(data[0] < data[1]);
  result[1] = int(uint(data[0]) < uint(data[1]));
}
#endif

#ifdef switch_by_thread
void main() {
  int x;
  switch (T) {
  case 0: x = 5; break;
  case 1:
  case 2: x = 6; break;
  default: x = 7;
  }
  result[T] = x;
}
#endif

#ifdef switch_by_memory
void main() {
  int x = 0;
  switch (data[T]) {
  case -1: x = 1; break;
  case 3: x = 2;
  case 4: x += 4; break;
  default: x = 8;
  }
  result[T] = x;
}
#endif

#ifdef loop_sum
void main() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += data[i];
  result[0] = sum;
}
#endif

#ifdef loop_break_continue
void main() {
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 1) continue;
    if (i == 4) break;
    for (int j = 0; j < i; ++j) sum += 10 * i + j;
  }
  result[0] = sum;
}
#endif

#ifdef loop_by_memory
void main() {
  uint a = data[0], b = data[1];
  while (b != 0) {
    uint rest = a % b;
    a = b;
    b = rest;
  }
  result[0] = int(a);
}
#endif

#ifdef do_while
void main() {
  int i = 0, sum = 0;
  do {
    sum += data[i++];
  } while (i < 3);
  result[0] = sum;
}
#endif

#ifdef structs
struct Pair { int first; int second; };
void main() {
  Pair pair = Pair(data[T], data[T] + 1);
  Pair other = pair;
  other.first = 7;
  result[2 * T] = pair.first * 10 + other.first;
  result[2 * T + 1] = other.second;
}
#endif

#ifdef private_array
void main() {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = i * i;
  own[ME + 2] = 20;
  result[0] = own[1] + own[2] + own[3];
}
#endif

#ifdef vectors
void main() {
  ivec4 v = ivec4(1, 2, 3, 4);
  v.y = data[0];
  ivec2 w = v.wy;
  result[0] = w.x * 100 + w.y * 10 + v.z;
}
#endif

#ifdef mp_barrier
void main() {
  if (ME == 0) data[0] = 7;
  memoryBarrierBuffer();
  barrier();
  memoryBarrierBuffer();
  if (ME == 1) result[0] = data[0];
}
#endif

#ifdef mp_missing_barrier
void main() {
  if (ME == 0) data[0] = 7;
  if (ME == 1) result[0] = data[0];
}
#endif

#ifdef mp_relaxed
void main() {
  if (T == 0) {
    data[0] = 7;
    atomicExchange(flags[0], 1);
  } else if (atomicAdd(flags[0], 0) == 1) {
    result[0] = data[0];
  }
}
#endif

#ifdef mp_release_acquire
void main() {
  if (T == 0) {
    data[0] = 7;
    atomicStore(flags[0], 1, DEVICE, BUFFER, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
  } else if (atomicLoad(flags[0], DEVICE, BUFFER, gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 1) {
    result[0] = data[0];
  }
}
#endif

#ifdef compare_and_swap
void main() { result[T] = atomicCompSwap(flags[0], 0, int(T) + 1); }
#endif

#ifdef exchange
void main() { result[T] = atomicExchange(flags[0], int(T) + 5); }
#endif

#ifdef atomic_max_min
void main() {
  int value = T == 0 ? data[0] : 3;
  atomicMax(flags[0], value);
  atomicMin(flags[1], value);
}
#endif

#ifdef atomic_bits
void main() {
  atomicOr(flags[0], 1 << T);
  atomicAnd(flags[1], ~(1 << T));
  atomicXor(flags[2], 3);
}
#endif

#ifdef atomic_wrap
void main() {
  result[0] = atomicAdd(flags[0], 1);
  result[1] = atomicAdd(flags[0], -2);
}
#endif

#ifdef barrier_divergent
void main() {
  if (ME == 0) {
    data[0] = 1;
    barrier();
  } else {
    data[1] = 2;
    barrier();
    result[0] = 3;
  }
}
#endif

#ifdef barrier_by_block
void main() {
  data[T] = int(T) + 1;
  if (gl_WorkGroupID.x == 1) {
    memoryBarrierBuffer();
    barrier();
    memoryBarrierBuffer();
    result[T] = data[gl_WorkGroupID.x * 2 + 1 - ME];
  }
}
#endif

#ifdef out_of_bounds
void main() { result[0] = data[2 + T]; }
#endif

#ifdef spin
void main() {
  if (T == 0) {
    while (atomicAdd(flags[0], 0) == 0) {}
    result[0] = 1;
  } else {
    atomicExchange(flags[0], 1);
  }
}
#endif

#ifdef lock
void main() {
  while (atomicExchange(flags[0], 1, DEVICE, BUFFER, gl_SemanticsAcquire | gl_SemanticsMakeVisible) != 0) {}
  data[0] += 1;
  atomicStore(flags[0], 0, DEVICE, BUFFER, gl_SemanticsRelease | gl_SemanticsMakeAvailable);
}
#endif

#ifdef histogram
shared int bins[2];
void main() {
  bins[ME] = 0;
  barrier();
  atomicAdd(bins[data[ME] & 1], 1);
  barrier();
  result[ME] = bins[ME];
}
#endif

#ifdef prefix_sum
shared int sums[4];
void main() {
  sums[ME] = data[ME];
  barrier();
  for (uint step_ = 1; step_ < 4; step_ *= 2) {
    int other = ME >= step_ ? sums[ME - step_] : 0;
    barrier();
    sums[ME] += other;
    barrier();
  }
  result[ME] = sums[ME];
}
#endif

#ifdef prefix_sum_race
shared int sums[2];
void main() {
  sums[ME] = data[ME];
  barrier();
  int other = ME >= 1 ? sums[ME - 1] : 0;
  sums[ME] += other;
  barrier();
  result[ME] = sums[ME];
}
#endif

#ifdef reduce
shared int sums[4];
void main() {
  sums[ME] = data[ME];
  barrier();
  for (uint half_ = 2; half_ > 0; half_ /= 2) {
    if (ME < half_) sums[ME] += sums[ME + half_];
    barrier();
  }
  if (ME == 0) result[0] = sums[0];
}
#endif

#ifdef two_dimensions
void main() {
  result[gl_LocalInvocationIndex] = int(10 * gl_LocalInvocationID.y + gl_LocalInvocationID.x);
}
#endif

#ifdef count_bits
void main() {
  result[0] = bitCount(data[0]);
  result[1] = bitfieldReverse(data[0]);
  result[2] = findLSB(data[0]);
  result[3] = findMSB(uint(data[0]));
}
#endif

#ifdef clamp_abs
void main() {
  int x = data[T];
  result[T] = clamp(x, -2, 5) + 10 * abs(x);
}
#endif

#ifdef wide
void main() {
  int low, high;
  imulExtended(data[0], data[1], high, low);
  result[0] = high;
  result[1] = low;
  uint carry;
  uaddCarry(uint(data[0]), uint(data[1]), carry);
  result[2] = int(carry);
}
#endif

#ifdef narrow
void main() {
  result[0] = bitfieldExtract(data[0], 0, 8);
  result[1] = int(bitfieldExtract(uint(data[0]), 0, 8));
  result[2] = int(int16_t(data[0]));
}
#endif

#ifdef call
void add_to(inout int where, int amount) { where += amount; }
void main() {
  int own = data[T];
  add_to(own, 3);
  add_to(own, own);
  result[T] = own;
}
#endif

#ifdef early_return
void main() {
  if (int(T) >= data[0]) return;
  result[T] = 9;
}
#endif

#ifdef short_circuit
void main() {
  if (T < 1 && data[T] == 4) result[0] = 1;
  if (T >= 1 || data[T] == 4) result[1 + T] = 2;
}
#endif

#ifdef store_buffering
void main() {
  atomicExchange(flags[T], 1);
  result[T] = atomicAdd(flags[1 - T], 0);
}
#endif

#ifdef permutation
void main() { result[data[T]] = int(T) + 1; }
#endif

#ifdef collision
void main() { result[data[T] & 0] = int(T) + 1; }
#endif

#ifdef logic
void main() {
  bool a = data[0] > 0, b = data[1] > 0;
  result[0] = (a && b ? 1 : 0) | (a || b ? 2 : 0) | (a != b ? 4 : 0) | (!a ? 8 : 0);
  result[1] = (data[0] & 12) | (data[0] ^ data[1]) << 8;
  result[2] = ~data[1];
}
#endif
