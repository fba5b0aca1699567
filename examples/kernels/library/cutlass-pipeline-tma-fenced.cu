// CUTLASS' PipelineTmaAsync of one stage: a producer that copies in bulk, and a consumer with a fence before it releases.
// synth check: --block 2 --arg 'in=[5,6,7,8,1,2,3,4]' --arg 'out=int[2]' --expect 'out[0] == 5 && out[1] == 1'
#include <cute/arch/copy_sm90_desc.hpp>
#include <cute/arch/copy_sm90_tma.hpp>
#include <cutlass/pipeline/sm90_pipeline.hpp>

extern "C" __global__ void pipeline(const int *in, int *out) {
  using Pipeline = cutlass::PipelineTmaAsync<1>;
  __shared__ alignas(16) int tile[4];
  __shared__ alignas(16) char raw[sizeof(Pipeline::SharedStorage)];
  auto &storage = *reinterpret_cast<Pipeline::SharedStorage *>(raw);
  typename Pipeline::Params params;
  params.transaction_bytes = 16;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = 1;
  params.role = threadIdx.x == 0 ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  Pipeline pipe(storage, params, cute::Shape<cute::_1, cute::_1, cute::_1>{});
  __syncthreads();
  if (threadIdx.x == 0) {
    auto state = cutlass::make_producer_start_state<Pipeline>();
    for (int step = 0; step < 2; step++, ++state) {
      pipe.producer_acquire(state);
      cute::SM90_BULK_COPY_G2S::copy(in + 4 * step, pipe.producer_get_barrier(state), tile, 16);
      pipe.producer_commit(state, 16u);
    }
  } else {
    cutlass::PipelineState<1> state;
    for (int step = 0; step < 2; step++, ++state) {
      pipe.consumer_wait(state);
      out[step] = tile[0];
      cutlass::arch::fence_view_async_shared();
      pipe.consumer_release(state);
    }
  }
}
