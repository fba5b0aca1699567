// Decoupled look-back, work-groups in the order of their ids: each adds what its predecessors have published, flag 1
// for a sum of its own, flag 2 for the sum of all so far. The scan of 1 1 1.
// synth check: --grid 3 --expect 'out[0] == 1 && out[1] == 2 && out[2] == 3'
int wait(global atomic_int *flag) {
  int found;
  do { found = atomic_load_explicit(flag, memory_order_acquire, memory_scope_device); } while (found == 0);
  return found;
}
void publish(global atomic_int *flag, int state) {
  atomic_store_explicit(flag, state, memory_order_release, memory_scope_device);
}
kernel void lookback_static(global atomic_int *flag, global int *own, global int *all, global int *out) {
  int me = get_group_id(0), last = get_num_groups(0) - 1, sum = 0;
  if (me > 0 && me < last) {
    own[me] = 1;
    publish(&flag[me], 1);
  }
  for (int other = me - 1; other >= 0; other--) {
    if (wait(&flag[other]) == 2) {
      sum += all[other];
      break;
    }
    sum += own[other];
  }
  out[me] = sum + 1;
  all[me] = sum + 1;
  publish(&flag[me], 2);
}
