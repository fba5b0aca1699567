// CUTLASS' PipelineAsync of one stage: a producer and a consumer.
// synth check: --block 2 --expect 'out == 1'
#include <cutlass/pipeline/pipeline.hpp>

extern "C" __global__ void pipeline(int *out) {
  using Pipeline = cutlass::PipelineAsync<1>;
  __shared__ int tile;
  __shared__ alignas(16) char raw[sizeof(Pipeline::SharedStorage)];
  auto &storage = *reinterpret_cast<Pipeline::SharedStorage *>(raw);
  typename Pipeline::Params params;
  params.producer_arv_count = 1;
  params.consumer_arv_count = 1;
  params.role = threadIdx.x == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  Pipeline pipe(storage, params);
  __syncthreads();
  if (threadIdx.x == 0) {
    auto state = cutlass::make_producer_start_state<Pipeline>();
    pipe.producer_acquire(state);
    tile = 1;
    pipe.producer_commit(state);
  } else {
    cutlass::PipelineState<1> state;
    pipe.consumer_wait(state);
    *out = tile;
    pipe.consumer_release(state);
  }
}
