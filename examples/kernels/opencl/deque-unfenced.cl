// The work-stealing deque whose owner has no fence of the sequentially consistent kind between giving an item up and
// looking at the top: both may take it (Le et al. 2013).
// synth check: --grid 2 --arg 'bottom=[2]' --expect 'taken[1] == 1'
void take(global atomic_int *taken) {
  atomic_fetch_add_explicit(taken, 1, memory_order_relaxed, memory_scope_device);
}
bool advance(global atomic_int *top, int first) {
  return atomic_compare_exchange_strong_explicit(top, &first, first + 1, memory_order_relaxed, memory_order_relaxed,
                                                 memory_scope_device);
}
kernel void deque_unfenced(global atomic_int *top, global atomic_int *bottom, global atomic_int *taken) {
  if (get_group_id(0) == 0) {
    atomic_store_explicit(bottom, 1, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
    int first = atomic_load_explicit(top, memory_order_relaxed, memory_scope_device);
    if (first < 1) {
      take(&taken[1]);
    } else {
      if (first == 1 && advance(top, 1)) take(&taken[1]);
      atomic_store_explicit(bottom, 2, memory_order_relaxed, memory_scope_device);
    }
  } else {
    for (int turn = 0; turn < 2; turn++) {
      int first = atomic_load_explicit(top, memory_order_acquire, memory_scope_device);
      atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);
      int last = atomic_load_explicit(bottom, memory_order_acquire, memory_scope_device);
      if (first >= last) break;
      if (advance(top, first)) take(&taken[first]);
    }
  }
}
