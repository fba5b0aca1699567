// Each of two blocks raises its flag and looks at the other's (Dekker): one of them sees the other's, if the fences are
// sequentially consistent.
// synth check: --grid 2 --expect 'saw[0] == 1 || saw[1] == 1'
template <int order>
__device__ void raise_and_look(int *flag, int *saw) {
  int me = blockIdx.x;
  __nv_atomic_store_n(&flag[me], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_thread_fence(order, __NV_THREAD_SCOPE_DEVICE);
  saw[me] = __nv_atomic_load_n(&flag[1 - me], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}
extern "C" __global__ void sb_seq_cst(int *flag, int *saw) { raise_and_look<__NV_ATOMIC_SEQ_CST>(flag, saw); }
extern "C" __global__ void sb_acq_rel(int *flag, int *saw) { raise_and_look<__NV_ATOMIC_ACQ_REL>(flag, saw); }
