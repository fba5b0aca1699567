// Stream compaction into an array that has no room for all that is kept: the place is known only when the kernel runs.
// synth check: --grid 2 --arg 'in=[5,7]' --arg 'out=int[1]'
kernel void compaction_overflow(global const int *in, global atomic_int *count, global int *out) {
  int item = in[get_group_id(0)];
  if (item > 0) out[atomic_fetch_add_explicit(count, 1, memory_order_relaxed, memory_scope_device)] = item;
}
