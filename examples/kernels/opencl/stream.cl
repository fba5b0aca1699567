// A queue runs one kernel after the other: fill ends before total begins, so the plain accesses of total read what fill
// has written. In one kernel they would race.
// synth check: --first 'fill --grid 2' --kernel total --grid 2 --expect 'sum == 3'
kernel void fill(global int *data) { data[get_group_id(0)] = get_group_id(0) + 1; }

kernel void total(global const int *data, global atomic_int *sum) {
  atomic_fetch_add_explicit(sum, data[get_group_id(0)], memory_order_relaxed, memory_scope_device);
}
