// A stream runs one kernel after the other: fill ends before total begins, so the plain accesses of total read what
// fill has written. In one kernel they would race.
// synth check: --first 'fill --grid 2' --kernel total --grid 2 --expect 'sum == 3'

extern "C" __global__ void fill(int *data) { data[blockIdx.x] = blockIdx.x + 1; }

extern "C" __global__ void total(const int *data, int *sum) { atomicAdd(sum, data[blockIdx.x]); }
