// Message passing by a volatile flag and volatile data: volatile accesses are not atomic.
// synth check: --block 2 --warp 1 --expect 'out == 0 || out == 2'
kernel void mp_volatile(volatile global int *data, volatile global int *flag, global int *out) {
  if (get_local_id(0) == 0) {
    *data = 1;
    *flag = 1;
  } else if (*flag == 1) {
    *out = 1 + *data;
  }
}
