// The histogram whose bins are counted into without atomics.
// synth check: --block 2 --warp 1 --arg 'in=[1,1]' --arg 'bins=int[2]' --expect 'bins[0] == 0 && bins[1] == 2'
kernel void histogram_plain(global const int *in, global atomic_int *bins) {
  local int own[2];
  int me = get_local_id(0);
  own[me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  own[in[me]] += 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  int found = own[me];
  atomic_fetch_add_explicit(&bins[me], found, memory_order_relaxed, memory_scope_device);
}
