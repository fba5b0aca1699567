// Small kernels that other languages say as well: kernels.cl, kernels.comp, kernels.wgsl; kernels.hip is this text as HIP.
// kernels.csv has the answers.
#ifdef __HIP__
#define LOAD_ACQUIRE(at) __hip_atomic_load(&(at), __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)
#define STORE_RELEASE(at, value) __hip_atomic_store(&(at), value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT)
#define EXCHANGE_ACQUIRE(at, value) __hip_atomic_exchange(&(at), value, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)
#else
#include <cuda/atomic>
typedef cuda::atomic_ref<int, cuda::thread_scope_device> Atomic;
#define LOAD_ACQUIRE(at) Atomic(at).load(cuda::memory_order_acquire)
#define STORE_RELEASE(at, value) Atomic(at).store(value, cuda::memory_order_release)
#define EXCHANGE_ACQUIRE(at, value) Atomic(at).exchange(value, cuda::memory_order_acquire)
#endif

typedef unsigned int uint;
#define T (blockIdx.x * blockDim.x + threadIdx.x)
#define ME threadIdx.x

extern "C" __global__ void copy(int *data, int *flags, int *result) { result[T] = data[T]; }

extern "C" __global__ void reverse(int *data, int *flags, int *result) {
  __shared__ int tile[2];
  tile[ME] = data[ME];
  __syncthreads();
  result[ME] = tile[1 - ME];
}

extern "C" __global__ void reverse_no_barrier(int *data, int *flags, int *result) {
  data[ME] += 10;
  result[ME] = data[1 - ME];
}

extern "C" __global__ void counter(int *data, int *flags, int *result) { atomicAdd(&flags[0], 1); }

extern "C" __global__ void counter_plain(int *data, int *flags, int *result) { data[0] = data[0] + 1; }

extern "C" __global__ void wrap_add(int *data, int *flags, int *result) { result[T] = (int)((uint)data[T] + 2u); }

extern "C" __global__ void wrap_mul(int *data, int *flags, int *result) { result[T] = (int)((uint)data[T] * 0x10001u); }

extern "C" __global__ void shifts(int *data, int *flags, int *result) {
  result[0] = data[0] >> 3;
  result[1] = (int)((uint)data[0] >> 28);
  result[2] = data[1] << 31;
  result[3] = (int)((uint)data[0] << data[1]);
}

extern "C" __global__ void division(int *data, int *flags, int *result) {
  result[0] = data[0] / data[1];
  result[1] = (int)((uint)data[0] / (uint)data[1]);
  result[2] = (int)((uint)data[0] % (uint)data[1]);
}

extern "C" __global__ void compare(int *data, int *flags, int *result) {
  result[0] = data[0] < data[1] ? 1 : 0;
  result[1] = (uint)data[0] < (uint)data[1] ? 1 : 0;
}

extern "C" __global__ void switch_by_thread(int *data, int *flags, int *result) {
  switch (T) {
  case 0: result[T] = 5; break;
  case 1:
  case 2: result[T] = 6; break;
  default: result[T] = 7;
  }
}

extern "C" __global__ void switch_by_memory(int *data, int *flags, int *result) {
  int x = 0;
  switch (data[T]) {
  case -1: x = 1; break;
  case 3: x = 2;
  case 4: x += 4; break;
  default: x = 8;
  }
  result[T] = x;
}

extern "C" __global__ void loop_sum(int *data, int *flags, int *result) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += data[i];
  result[0] = sum;
}

extern "C" __global__ void loop_break_continue(int *data, int *flags, int *result) {
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 1) continue;
    if (i == 4) break;
    for (int j = 0; j < i; ++j) sum += 10 * i + j;
  }
  result[0] = sum;
}

extern "C" __global__ void loop_by_memory(int *data, int *flags, int *result) {
  uint a = data[0], b = data[1];
  while (b != 0u) {
    uint rest = a % b;
    a = b;
    b = rest;
  }
  result[0] = (int)a;
}

extern "C" __global__ void do_while(int *data, int *flags, int *result) {
  int i = 0, sum = 0;
  do {
    sum += data[i];
    ++i;
  } while (i < 3);
  result[0] = sum;
}

struct Pair { int first; int second; };

extern "C" __global__ void structs(int *data, int *flags, int *result) {
  Pair pair;
  pair.first = data[T];
  pair.second = pair.first + 1;
  Pair other = pair;
  other.first = 7;
  result[2 * T] = pair.first * 10 + other.first;
  result[2 * T + 1] = other.second;
}

extern "C" __global__ void private_array(int *data, int *flags, int *result) {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = i * i;
  own[ME + 2] = 20;
  result[0] = own[1] + own[2] + own[3];
}

extern "C" __global__ void vectors(int *data, int *flags, int *result) {
  int4 v = make_int4(1, 2, 3, 4);
  v.y = data[0];
  int2 w = make_int2(v.w, v.y);
  result[0] = w.x * 100 + w.y * 10 + v.z;
}

extern "C" __global__ void vector_components(int *data, int *flags, int *result) {
  int2 *pairs = (int2 *)data;
  if (ME == 0) pairs[0].x = 1; else pairs[0].y = 2;
}

extern "C" __global__ void mp_barrier(int *data, int *flags, int *result) {
  if (ME == 0) data[0] = 7;
  __syncthreads();
  if (ME == 1) result[0] = data[0];
}

extern "C" __global__ void mp_missing_barrier(int *data, int *flags, int *result) {
  if (ME == 0) data[0] = 7;
  if (ME == 1) result[0] = data[0];
}

extern "C" __global__ void mp_relaxed(int *data, int *flags, int *result) {
  if (T == 0) {
    data[0] = 7;
    atomicExch(&flags[0], 1);
  } else if (atomicAdd(&flags[0], 0) == 1) {
    result[0] = data[0];
  }
}

extern "C" __global__ void mp_release_acquire(int *data, int *flags, int *result) {
  if (T == 0) {
    data[0] = 7;
    STORE_RELEASE(flags[0], 1);
  } else if (LOAD_ACQUIRE(flags[0]) == 1) {
    result[0] = data[0];
  }
}

extern "C" __global__ void compare_and_swap(int *data, int *flags, int *result) {
  int old = atomicCAS(&flags[0], 0, (int)T + 1);
  result[T] = old;
}

extern "C" __global__ void exchange(int *data, int *flags, int *result) { result[T] = atomicExch(&flags[0], (int)T + 5); }

extern "C" __global__ void atomic_max_min(int *data, int *flags, int *result) {
  if (T == 0) {
    atomicMax(&flags[0], data[0]);
    atomicMin(&flags[1], data[0]);
  } else {
    atomicMax(&flags[0], 3);
    atomicMin(&flags[1], 3);
  }
}

extern "C" __global__ void atomic_bits(int *data, int *flags, int *result) {
  atomicOr(&flags[0], 1 << T);
  atomicAnd(&flags[1], ~(1 << T));
  atomicXor(&flags[2], 3);
}

extern "C" __global__ void atomic_wrap(int *data, int *flags, int *result) {
  result[0] = atomicAdd(&flags[0], 1);
  result[1] = atomicSub(&flags[0], 2);
}

extern "C" __global__ void barrier_divergent(int *data, int *flags, int *result) {
  if (ME == 0) {
    data[0] = 1;
    __syncthreads();
  } else {
    data[1] = 2;
    __syncthreads();
    result[0] = 3;
  }
}

extern "C" __global__ void barrier_by_block(int *data, int *flags, int *result) {
  data[T] = (int)T + 1;
  if (blockIdx.x == 1) {
    __syncthreads();
    result[T] = data[blockIdx.x * 2 + 1 - ME];
  }
}

extern "C" __global__ void out_of_bounds(int *data, int *flags, int *result) { result[0] = data[2 + T]; }

extern "C" __global__ void spin(int *data, int *flags, int *result) {
  if (T == 0) {
    while (atomicAdd(&flags[0], 0) == 0) {}
    result[0] = 1;
  } else {
    atomicExch(&flags[0], 1);
  }
}

extern "C" __global__ void lock(int *data, int *flags, int *result) {
  while (EXCHANGE_ACQUIRE(flags[0], 1) != 0) {}
  data[0] = data[0] + 1;
  STORE_RELEASE(flags[0], 0);
}

extern "C" __global__ void histogram(int *data, int *flags, int *result) {
  __shared__ int bins[2];
  bins[ME] = 0;
  __syncthreads();
  atomicAdd(&bins[data[ME] & 1], 1);
  __syncthreads();
  result[ME] = bins[ME];
}

extern "C" __global__ void prefix_sum(int *data, int *flags, int *result) {
  __shared__ int sums[4];
  sums[ME] = data[ME];
  __syncthreads();
  for (uint step = 1; step < 4; step *= 2) {
    int other = ME >= step ? sums[ME - step] : 0;
    __syncthreads();
    sums[ME] += other;
    __syncthreads();
  }
  result[ME] = sums[ME];
}

extern "C" __global__ void prefix_sum_race(int *data, int *flags, int *result) {
  __shared__ int sums[2];
  sums[ME] = data[ME];
  __syncthreads();
  int other = ME >= 1 ? sums[ME - 1] : 0;
  sums[ME] += other;
  __syncthreads();
  result[ME] = sums[ME];
}

extern "C" __global__ void reduce(int *data, int *flags, int *result) {
  __shared__ int sums[4];
  sums[ME] = data[ME];
  __syncthreads();
  for (uint half = 2; half > 0; half /= 2) {
    if (ME < half) sums[ME] += sums[ME + half];
    __syncthreads();
  }
  if (ME == 0) result[0] = sums[0];
}

extern "C" __global__ void two_dimensions(int *data, int *flags, int *result) { result[threadIdx.y * blockDim.x + threadIdx.x] = (int)(10 * threadIdx.y + threadIdx.x); }

extern "C" __global__ void count_bits(int *data, int *flags, int *result) {
  result[0] = __popc(data[0]);
  result[1] = (int)__brev(data[0]);
  result[2] = data[0] == 0 ? -1 : __ffs(data[0]) - 1;
  result[3] = 31 - __clz(data[0]);
}

extern "C" __global__ void clamp_abs(int *data, int *flags, int *result) {
  int x = data[T];
  result[T] = min(max(x, -2), 5) + 10 * abs(x);
}

extern "C" __global__ void wide(int *data, int *flags, int *result) {
  long long product = (long long)data[0] * data[1];
  result[0] = (int)(product >> 32);
  result[1] = (int)product;
  unsigned long long low = (unsigned long long)(uint)data[0] + (uint)data[1];
  result[2] = (int)(low >> 32);
}

extern "C" __global__ void narrow(int *data, int *flags, int *result) {
  int x = *(volatile int *)data;
  result[0] = (signed char)x;
  result[1] = (unsigned char)x;
  result[2] = (short)x;
}

__device__ __noinline__ void add_to(int *where, int amount) { *where += amount; }

extern "C" __global__ void call(int *data, int *flags, int *result) {
  int own = data[T];
  add_to(&own, 3);
  add_to(&own, own);
  result[T] = own;
}

extern "C" __global__ void early_return(int *data, int *flags, int *result) {
  if ((int)T >= data[0]) return;
  result[T] = 9;
}

extern "C" __global__ void short_circuit(int *data, int *flags, int *result) {
  if (T < 1u && data[T] == 4) result[0] = 1;
  if (T >= 1u || data[T] == 4) result[1 + T] = 2;
}

extern "C" __global__ void store_buffering(int *data, int *flags, int *result) {
  atomicExch(&flags[T], 1);
  result[T] = atomicAdd(&flags[1 - T], 0);
}

extern "C" __global__ void permutation(int *data, int *flags, int *result) { result[data[T]] = (int)T + 1; }

extern "C" __global__ void collision(int *data, int *flags, int *result) { result[data[T] & 0] = (int)T + 1; }

extern "C" __global__ void logic(int *data, int *flags, int *result) {
  bool a = data[0] > 0, b = data[1] > 0;
  result[0] = (a && b ? 1 : 0) | (a || b ? 2 : 0) | (a != b ? 4 : 0) | (!a ? 8 : 0);
  result[1] = (data[0] & 12) | (data[0] ^ data[1]) << 8;
  result[2] = ~data[1];
}
