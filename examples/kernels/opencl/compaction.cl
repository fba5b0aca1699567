// Stream compaction: each work-group whose item is kept draws a place behind those that others drew.
// synth check: --grid 2 --arg 'in=[3,4]' --arg 'out=int[2]' --expect '(out[0] == 3 && out[1] == 4) || (out[0] == 4 && out[1] == 3)'
kernel void compaction(global const int *in, global atomic_int *count, global int *out) {
  int item = in[get_group_id(0)];
  if (item > 0) out[atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_device)] = item;
}
