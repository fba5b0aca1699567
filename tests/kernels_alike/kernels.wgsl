// Small kernels that other languages say as well: kernels.cu, kernels.cl, kernels.comp. kernels.csv has the answers.
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> flags: array<atomic<i32>>;
@group(0) @binding(2) var<storage, read_write> result: array<i32>;
var<workgroup> tile: array<i32, 2>;
var<workgroup> sums: array<i32, 4>;
var<workgroup> bins: array<atomic<i32>, 2>;

@compute @workgroup_size(2)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) { result[id.x] = data[id.x]; }

@compute @workgroup_size(2)
fn reverse(@builtin(local_invocation_index) me: u32) {
  tile[me] = data[me];
  workgroupBarrier();
  result[me] = tile[1 - me];
}

@compute @workgroup_size(2)
fn reverse_no_barrier(@builtin(local_invocation_index) me: u32) {
  data[me] += 10;
  result[me] = data[1 - me];
}

@compute @workgroup_size(1)
fn counter() { atomicAdd(&flags[0], 1); }

@compute @workgroup_size(1)
fn counter_plain() { data[0]++; }

@compute @workgroup_size(2)
fn wrap_add(@builtin(global_invocation_id) id: vec3<u32>) { result[id.x] = data[id.x] + 2; }

@compute @workgroup_size(2)
fn wrap_mul(@builtin(global_invocation_id) id: vec3<u32>) { result[id.x] = data[id.x] * 0x10001; }

@compute @workgroup_size(1)
fn shifts() {
  result[0] = data[0] >> 3;
  result[1] = bitcast<i32>(bitcast<u32>(data[0]) >> 28);
  result[2] = data[1] << 31;
  result[3] = bitcast<i32>(bitcast<u32>(data[0]) << u32(data[1]));
}

@compute @workgroup_size(1)
fn division() {
  result[0] = data[0] / data[1];
  result[1] = i32(u32(data[0]) / u32(data[1]));
  result[2] = i32(u32(data[0]) % u32(data[1]));
}

@compute @workgroup_size(1)
fn compare() {
  result[0] = i32(data[0] < data[1]);
  result[1] = i32(u32(data[0]) < u32(data[1]));
}

@compute @workgroup_size(4)
fn switch_by_thread(@builtin(global_invocation_id) id: vec3<u32>) {
  switch id.x {
    case 0: { result[id.x] = 5; }
    case 1, 2: { result[id.x] = 6; }
    default: { result[id.x] = 7; }
  }
}

@compute @workgroup_size(4)
fn switch_by_memory(@builtin(global_invocation_id) id: vec3<u32>) {
  var x = 0;
  switch data[id.x] {
    case -1: { x = 1; }
    case 3: { x = 6; }
    case 4: { x = 4; }
    default: { x = 8; }
  }
  result[id.x] = x;
}

@compute @workgroup_size(1)
fn loop_sum() {
  var sum = 0;
  for (var i = 0; i < 4; i++) { sum += data[i]; }
  result[0] = sum;
}

@compute @workgroup_size(1)
fn loop_break_continue() {
  var sum = 0;
  for (var i = 0; i < 6; i++) {
    if i == 1 { continue; }
    if i == 4 { break; }
    for (var j = 0; j < i; j++) { sum += 10 * i + j; }
  }
  result[0] = sum;
}

@compute @workgroup_size(1)
fn do_while() {
  var i = 0;
  var sum = 0;
  loop {
    sum += data[i];
    i++;
    continuing {
      break if i >= 3;
    }
  }
  result[0] = sum;
}

struct Pair { first: i32, second: i32 }

@compute @workgroup_size(2)
fn structs(@builtin(global_invocation_id) id: vec3<u32>) {
  let pair = Pair(data[id.x], data[id.x] + 1);
  var other = pair;
  other.first = 7;
  result[2 * id.x] = pair.first * 10 + other.first;
  result[2 * id.x + 1] = other.second;
}

@compute @workgroup_size(1)
fn private_array(@builtin(local_invocation_index) me: u32) {
  var own: array<i32, 4>;
  for (var i = 0; i < 4; i++) { own[i] = i * i; }
  own[me + 2] = 20;
  result[0] = own[1] + own[2] + own[3];
}

@compute @workgroup_size(1)
fn vectors() {
  var v = vec4<i32>(1, 2, 3, 4);
  v.y = data[0];
  let w = v.wy;
  result[0] = w.x * 100 + w.y * 10 + v.z;
}

@compute @workgroup_size(2)
fn mp_barrier(@builtin(local_invocation_index) me: u32) {
  if me == 0 { data[0] = 7; }
  storageBarrier();
  if me == 1 { result[0] = data[0]; }
}

@compute @workgroup_size(2)
fn mp_missing_barrier(@builtin(local_invocation_index) me: u32) {
  if me == 0 { data[0] = 7; }
  if me == 1 { result[0] = data[0]; }
}

@compute @workgroup_size(1)
fn mp_relaxed(@builtin(workgroup_id) id: vec3<u32>) {
  if id.x == 0 {
    data[0] = 7;
    atomicExchange(&flags[0], 1);
  } else if atomicAdd(&flags[0], 0) == 1 {
    result[0] = data[0];
  }
}

@compute @workgroup_size(1)
fn compare_and_swap(@builtin(workgroup_id) id: vec3<u32>) {
  loop {  // it may fail although it finds what it compares with
    let found = atomicCompareExchangeWeak(&flags[0], 0, i32(id.x) + 1);
    result[id.x] = found.old_value;
    if found.exchanged || found.old_value != 0 { break; }
  }
}

@compute @workgroup_size(1)
fn exchange(@builtin(workgroup_id) id: vec3<u32>) { result[id.x] = atomicExchange(&flags[0], i32(id.x) + 5); }

@compute @workgroup_size(1)
fn atomic_max_min(@builtin(workgroup_id) id: vec3<u32>) {
  let value = select(3, data[0], id.x == 0);
  atomicMax(&flags[0], value);
  atomicMin(&flags[1], value);
}

@compute @workgroup_size(1)
fn atomic_bits(@builtin(workgroup_id) id: vec3<u32>) {
  atomicOr(&flags[0], 1i << id.x);
  atomicAnd(&flags[1], ~(1i << id.x));
  atomicXor(&flags[2], 3);
}

@compute @workgroup_size(1)
fn atomic_wrap() {
  result[0] = atomicAdd(&flags[0], 1);
  result[1] = atomicSub(&flags[0], 2);
}

@compute @workgroup_size(2)
fn barrier_by_block(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) me: u32) {
  let t = 2 * group.x + me;
  data[t] = i32(t) + 1;
  if group.x == 1 {
    storageBarrier();
    result[t] = data[group.x * 2 + 1 - me];
  }
}

@compute @workgroup_size(1)
fn spin(@builtin(workgroup_id) id: vec3<u32>) {
  if id.x == 0 {
    while atomicAdd(&flags[0], 0) == 0 {}
    result[0] = 1;
  } else {
    atomicExchange(&flags[0], 1);
  }
}

@compute @workgroup_size(2)
fn histogram(@builtin(local_invocation_index) me: u32) {
  atomicStore(&bins[me], 0);
  workgroupBarrier();
  atomicAdd(&bins[data[me] & 1], 1);
  workgroupBarrier();
  result[me] = atomicLoad(&bins[me]);
}

@compute @workgroup_size(4)
fn prefix_sum(@builtin(local_invocation_index) me: u32) {
  sums[me] = data[me];
  workgroupBarrier();
  for (var step = 1u; step < 4; step *= 2) {
    var other = 0;
    if me >= step { other = sums[me - step]; }
    workgroupBarrier();
    sums[me] += other;
    workgroupBarrier();
  }
  result[me] = sums[me];
}

@compute @workgroup_size(2)
fn prefix_sum_race(@builtin(local_invocation_index) me: u32) {
  tile[me] = data[me];
  workgroupBarrier();
  var other = 0;
  if me >= 1 { other = tile[me - 1]; }
  tile[me] += other;
  workgroupBarrier();
  result[me] = tile[me];
}

@compute @workgroup_size(4)
fn reduce(@builtin(local_invocation_index) me: u32) {
  sums[me] = data[me];
  workgroupBarrier();
  for (var half = 2u; half > 0; half /= 2) {
    if me < half { sums[me] += sums[me + half]; }
    workgroupBarrier();
  }
  if me == 0 { result[0] = sums[0]; }
}

@compute @workgroup_size(2, 2)
fn two_dimensions(@builtin(local_invocation_index) me: u32, @builtin(local_invocation_id) id: vec3<u32>) {
  result[me] = i32(10 * id.y + id.x);
}

@compute @workgroup_size(1)
fn count_bits() {
  result[0] = countOneBits(data[0]);
  result[1] = reverseBits(data[0]);
  result[2] = firstTrailingBit(data[0]);
  result[3] = bitcast<i32>(firstLeadingBit(bitcast<u32>(data[0])));
}

@compute @workgroup_size(2)
fn clamp_abs(@builtin(global_invocation_id) id: vec3<u32>) {
  let x = data[id.x];
  result[id.x] = clamp(x, -2, 5) + 10 * abs(x);
}

fn add_to(place: ptr<function, i32>, amount: i32) { *place += amount; }

@compute @workgroup_size(2)
fn call(@builtin(global_invocation_id) id: vec3<u32>) {
  var own = data[id.x];
  add_to(&own, 3);
  add_to(&own, own);
  result[id.x] = own;
}

@compute @workgroup_size(2)
fn early_return(@builtin(global_invocation_id) id: vec3<u32>) {
  if i32(id.x) >= data[0] { return; }
  result[id.x] = 9;
}

@compute @workgroup_size(2)
fn short_circuit(@builtin(global_invocation_id) id: vec3<u32>) {
  if id.x < 1 && data[id.x] == 4 { result[0] = 1; }
  if id.x >= 1 || data[id.x] == 4 { result[1 + id.x] = 2; }
}

@compute @workgroup_size(1)
fn store_buffering(@builtin(workgroup_id) id: vec3<u32>) {
  atomicStore(&flags[id.x], 1);
  result[id.x] = atomicLoad(&flags[1 - id.x]);
}

@compute @workgroup_size(2)
fn permutation(@builtin(global_invocation_id) id: vec3<u32>) { result[data[id.x]] = i32(id.x) + 1; }

@compute @workgroup_size(2)
fn collision(@builtin(global_invocation_id) id: vec3<u32>) { result[data[id.x] & 0] = i32(id.x) + 1; }

@compute @workgroup_size(1)
fn logic() {
  let a = data[0] > 0;
  let b = data[1] > 0;
  result[0] = select(0, 1, a && b) | select(0, 2, a || b) | select(0, 4, a != b) | select(0, 8, !a);
  result[1] = (data[0] & 12) | ((data[0] ^ data[1]) << 8);
  result[2] = ~data[1];
}

@compute @workgroup_size(1)
fn loop_by_memory() {
  var a = u32(data[0]);
  var b = u32(data[1]);
  while b != 0 {
    let rest = a % b;
    a = b;
    b = rest;
  }
  result[0] = i32(a);
}

@compute @workgroup_size(1)
fn out_of_bounds(@builtin(global_invocation_id) id: vec3<u32>) { result[0] = data[2 + id.x]; }
