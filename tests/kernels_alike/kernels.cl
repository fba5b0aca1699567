// Small kernels that other languages say as well: kernels.cu, kernels.comp, kernels.wgsl. kernels.csv has the answers.
#define KERNEL(name) kernel void name(global int *data, global int *flags, global int *result)
#define T get_global_id(0)
#define ME get_local_id(0)

KERNEL(copy) { result[T] = data[T]; }

KERNEL(reverse) {
  local int tile[2];
  tile[ME] = data[ME];
  barrier(CLK_LOCAL_MEM_FENCE);
  result[ME] = tile[1 - ME];
}

KERNEL(reverse_no_barrier) {
  data[ME] += 10;
  result[ME] = data[1 - ME];
}

KERNEL(counter) { atomic_inc(&flags[0]); }

KERNEL(counter_plain) { data[0]++; }

KERNEL(wrap_add) { result[T] = (int)((uint)data[T] + 2u); }

KERNEL(wrap_mul) { result[T] = (int)((uint)data[T] * 0x10001u); }

KERNEL(shifts) {
  result[0] = data[0] >> 3;
  result[1] = as_int(as_uint(data[0]) >> 28);
  result[2] = data[1] << 31;
  result[3] = as_int(as_uint(data[0]) << data[1]);
}

KERNEL(division) {
  result[0] = data[0] / data[1];
  result[1] = as_uint(data[0]) / as_uint(data[1]);
  result[2] = as_uint(data[0]) % as_uint(data[1]);
}

KERNEL(compare) {
  result[0] = data[0] < data[1];
  result[1] = (uint)data[0] < (uint)data[1];
}

KERNEL(switch_by_thread) {
  int x;
  switch (T) {
  case 0: x = 5; break;
  case 1:
  case 2: x = 6; break;
  default: x = 7;
  }
  result[T] = x;
}

KERNEL(switch_by_memory) {
  int x = 0;
  switch (data[T]) {
  case -1: x = 1; break;
  case 3: x = 2;
  case 4: x += 4; break;
  default: x = 8;
  }
  result[T] = x;
}

KERNEL(loop_sum) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += data[i];
  result[0] = sum;
}

KERNEL(loop_break_continue) {
  int sum = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 1) continue;
    if (i == 4) break;
    for (int j = 0; j < i; ++j) sum += 10 * i + j;
  }
  result[0] = sum;
}

KERNEL(loop_by_memory) {
  uint a = data[0], b = data[1];
  while (b) {
    uint rest = a % b;
    a = b;
    b = rest;
  }
  result[0] = a;
}

KERNEL(do_while) {
  int i = 0, sum = 0;
  do {
    sum += data[i++];
  } while (i < 3);
  result[0] = sum;
}

typedef struct { int first; int second; } Pair;

KERNEL(structs) {
  Pair pair = {data[T], data[T] + 1};
  Pair other = pair;
  other.first = 7;
  result[2 * T] = pair.first * 10 + other.first;
  result[2 * T + 1] = other.second;
}

KERNEL(private_array) {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = i * i;
  own[ME + 2] = 20;
  result[0] = own[1] + own[2] + own[3];
}

KERNEL(vectors) {
  int4 v = (int4)(1, 2, 3, 4);
  v.y = data[0];
  int2 w = v.wy;
  result[0] = w.x * 100 + w.y * 10 + v.z;
}

KERNEL(vector_components) {
  global int2 *pairs = (global int2 *)data;
  if (ME == 0) pairs[0].x = 1; else pairs[0].y = 2;
}

KERNEL(mp_barrier) {
  if (ME == 0) data[0] = 7;
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (ME == 1) result[0] = data[0];
}

KERNEL(mp_missing_barrier) {
  if (ME == 0) data[0] = 7;
  if (ME == 1) result[0] = data[0];
}

KERNEL(mp_relaxed) {
  if (T == 0) {
    data[0] = 7;
    atomic_xchg(&flags[0], 1);
  } else if (atomic_add(&flags[0], 0) == 1) {
    result[0] = data[0];
  }
}

KERNEL(mp_release_acquire) {
  global atomic_int *flag = (global atomic_int *)flags;
  if (T == 0) {
    data[0] = 7;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
  } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device) == 1) {
    result[0] = data[0];
  }
}

KERNEL(compare_and_swap) { result[T] = atomic_cmpxchg(&flags[0], 0, (int)T + 1); }

KERNEL(exchange) { result[T] = atomic_xchg(&flags[0], (int)T + 5); }

KERNEL(atomic_max_min) {
  int value = T == 0 ? data[0] : 3;
  atomic_max(&flags[0], value);
  atomic_min(&flags[1], value);
}

KERNEL(atomic_bits) {
  atomic_or(&flags[0], 1 << T);
  atomic_and(&flags[1], ~(1 << T));
  atomic_xor(&flags[2], 3);
}

KERNEL(atomic_wrap) {
  result[0] = atomic_add(&flags[0], 1);
  result[1] = atomic_sub(&flags[0], 2);
}

KERNEL(barrier_divergent) {
  if (ME == 0) {
    data[0] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
  } else {
    data[1] = 2;
    barrier(CLK_GLOBAL_MEM_FENCE);
    result[0] = 3;
  }
}

KERNEL(barrier_by_block) {
  data[T] = (int)T + 1;
  if (get_group_id(0) == 1) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    result[T] = data[get_group_id(0) * 2 + 1 - ME];
  }
}

KERNEL(out_of_bounds) { result[0] = data[2 + T]; }

KERNEL(spin) {
  if (T == 0) {
    while (atomic_add(&flags[0], 0) == 0) {}
    result[0] = 1;
  } else {
    atomic_xchg(&flags[0], 1);
  }
}

KERNEL(lock) {
  global atomic_int *held = (global atomic_int *)flags;
  while (atomic_exchange_explicit(held, 1, memory_order_acquire, memory_scope_device) != 0) {}
  data[0] += 1;
  atomic_store_explicit(held, 0, memory_order_release, memory_scope_device);
}

KERNEL(histogram) {
  local int bins[2];
  bins[ME] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&bins[data[ME] & 1]);
  barrier(CLK_LOCAL_MEM_FENCE);
  result[ME] = bins[ME];
}

KERNEL(prefix_sum) {
  local int sums[4];
  sums[ME] = data[ME];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = 1; step < 4; step *= 2) {
    int other = ME >= step ? sums[ME - step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[ME] += other;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  result[ME] = sums[ME];
}

KERNEL(prefix_sum_race) {
  local int sums[2];
  sums[ME] = data[ME];
  barrier(CLK_LOCAL_MEM_FENCE);
  int other = ME >= 1 ? sums[ME - 1] : 0;
  sums[ME] += other;
  barrier(CLK_LOCAL_MEM_FENCE);
  result[ME] = sums[ME];
}

KERNEL(reduce) {
  local int sums[4];
  sums[ME] = data[ME];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_ = 2; half_ > 0; half_ /= 2) {
    if (ME < half_) sums[ME] += sums[ME + half_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (ME == 0) result[0] = sums[0];
}

KERNEL(two_dimensions) {
  result[get_local_id(1) * get_local_size(0) + get_local_id(0)] = 10 * get_local_id(1) + get_local_id(0);
}

KERNEL(count_bits) {
  uint x = data[0], reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1) << (31 - i);
  result[0] = popcount(x);
  result[1] = reversed;
  result[2] = x == 0 ? -1 : (int)(31 - clz(x & -x));
  result[3] = 31 - (int)clz(x);
}

KERNEL(clamp_abs) {
  int x = data[T];
  result[T] = clamp(x, -2, 5) + 10 * (int)abs(x);
}

KERNEL(wide) {
  result[0] = mul_hi(data[0], data[1]);
  result[1] = data[0] * data[1];
  result[2] = (int)(((ulong)(uint)data[0] + (uint)data[1]) >> 32);
}

KERNEL(narrow) {
  result[0] = (char)data[0];
  result[1] = (uchar)data[0];
  result[2] = (short)data[0];
}

void add_to(int *where, int amount) { *where += amount; }

KERNEL(call) {
  int own = data[T];
  add_to(&own, 3);
  add_to(&own, own);
  result[T] = own;
}

KERNEL(early_return) {
  if ((int)T >= data[0]) return;
  result[T] = 9;
}

KERNEL(short_circuit) {
  if (T < 1 && data[T] == 4) result[0] = 1;
  if (T >= 1 || data[T] == 4) result[1 + T] = 2;
}

KERNEL(store_buffering) {
  atomic_xchg(&flags[T], 1);
  result[T] = atomic_add(&flags[1 - T], 0);
}

KERNEL(permutation) { result[data[T]] = (int)T + 1; }

KERNEL(collision) { result[data[T] & 0] = (int)T + 1; }

KERNEL(logic) {
  bool a = data[0] > 0, b = data[1] > 0;
  result[0] = (a && b ? 1 : 0) | (a || b ? 2 : 0) | (a != b ? 4 : 0) | (!a ? 8 : 0);
  result[1] = (data[0] & 12) | (data[0] ^ data[1]) << 8;
  result[2] = ~data[1];
}
