export const description = `
What workgroupBarrier and storageBarrier order, of accesses that are atomic and of those that are not.
Each case is a litmus test, named in 'test', with an outcome that the memory model of WGSL forbids.
`;

import { makeTestGroup } from '../../../../../common/framework/test_group.js';
import { GPUTest } from '../../../../gpu_test.js';
import { MemoryType, TestType } from '../memory_model_setup.js';

import { runMemoryTest } from './memory_test.js';

export const g = makeTestGroup(GPUTest);

g.test('mp_barrier')
  .desc(
    `
    mp-barrier

      P0 (cta 0, gpu 0)             | P1 (cta 0, gpu 0)
      st.relaxed.queue.sc0 x, 1     | ld.relaxed.queue.sc0 r0, y
      bar.acq_rel.cta.semsc0.sync 0 | bar.acq_rel.cta.semsc0.sync 0
      st.relaxed.queue.sc0 y, 1     | ld.relaxed.queue.sc0 r1, x

      exists (P1:r0 == 1 /\\ P1:r1 == 0)

    1 candidate execution has the outcome, and the model forbids it.

    acyclicity (parts/vulkan.cat:97) forbids it: acyclic (location-ordered | scoped-order | rf | from-reads); same-operation

      a -po-> B1 -syncbar-> B2 -po-> d -fr-> a

      a -inter-thread-> d  is  a -po-> B1 -by-barrier-> B2 -po-> d
      B1 -by-barrier-> B2  is  B1 -syncbar-> B2

      P0                            P1
      a: W.rlx.queue x=1            c: R.rlx.queue y=1
      B1: B.acq.rel.acq_rel.cta 0   B2: B.acq.rel.acq_rel.cta 0
      b: W.rlx.queue y=1            d: R.rlx.queue x=0

      rf       init x -> d, b -> c
      co       init x -> a, init y -> b
      fr       d -> a
      syncbar  B1 -> B2, B2 -> B1
      final    P1:r0=1, P1:r1=0
`
  )
  .paramsSimple([
    {
      test: 'mp-barrier',
      memType: MemoryType.AtomicStorageClass,
      testType: TestType.IntraWorkgroup,
      _aliased: false,
      _testCode: `
        var p1_r0 = 0u;
        var p1_r1 = 0u;
        atomicStore(&test_locations.value[x_0], 1u);
        p1_r0 = atomicLoad(&test_locations.value[y_1]);
        storageBarrier();
        atomicStore(&test_locations.value[y_0], 1u);
        p1_r1 = atomicLoad(&test_locations.value[x_1]);
        atomicStore(&results.value[shuffled_workgroup * workgroupXSize + id_1].r0, p1_r0);
        atomicStore(&results.value[shuffled_workgroup * workgroupXSize + id_1].r1, p1_r1);
      `,
      _resultCode: `
        if ((r0 == 1u) && (r1 == 0u)) {
            atomicAdd(&test_results.weak, 1u);
        } else {
            atomicAdd(&test_results.seq, 1u);
        }
      `,
    },
  ])
  .fn(t => runMemoryTest(t, t.params));

g.test('both_barriers')
  .desc(
    `
    both-barriers

      P0 (cta 0, gpu 0)                    | P1 (cta 0, gpu 0)
      st.cta.av.sc0 x, 1                   | bar.acq_rel.cta.semsc0.semsc1.sync 0
      st.cta.av.sc1 y, 1                   | ld.cta.sc0.vis r0, x
      bar.acq_rel.cta.semsc0.semsc1.sync 0 | ld.cta.sc1.vis r1, y

      exists (P1:r0 == 0 \\/ P1:r1 == 0)

    3 candidate executions have the outcome, and the model forbids each of them.

    acyclicity (parts/vulkan.cat:97) forbids 2 of them: acyclic (location-ordered | scoped-order | rf | from-reads); same-operation

      a -po-> B1 -syncbar-> B2 -po-> c -fr-> a

      a -inter-thread-> c  is  a -po-> B1 -by-barrier-> B2 -po-> c
      B1 -by-barrier-> B2  is  B1 -syncbar-> B2

      P0                            P1
      a: W.cta x=1                  B2: B.acq.rel.acq_rel.cta 0
      b: W.cta y=1                  c: R.cta x=0
      B1: B.acq.rel.acq_rel.cta 0   d: R.cta y=0

      rf       init x -> c, init y -> d
      co       init x -> a, init y -> b
      fr       c -> a, d -> b
      syncbar  B1 -> B2, B2 -> B1
      final    P1:r0=0, P1:r1=0

    acyclicity (parts/vulkan.cat:97) forbids 1 of them: acyclic (location-ordered | scoped-order | rf | from-reads); same-operation

      b -po-> B1 -syncbar-> B2 -po-> d -fr-> b

      b -inter-thread-> d  is  b -po-> B1 -by-barrier-> B2 -po-> d
      B1 -by-barrier-> B2  is  B1 -syncbar-> B2

      P0                            P1
      a: W.cta x=1                  B2: B.acq.rel.acq_rel.cta 0
      b: W.cta y=1                  c: R.cta x=1
      B1: B.acq.rel.acq_rel.cta 0   d: R.cta y=0

      rf       init y -> d, a -> c
      co       init x -> a, init y -> b
      fr       d -> b
      syncbar  B1 -> B2, B2 -> B1
      final    P1:r0=1, P1:r1=0
`
  )
  .paramsSimple([
    {
      test: 'both-barriers',
      memType: MemoryType.NonAtomicWorkgroupClass,
      testType: TestType.IntraWorkgroup,
      _aliased: false,
      _testCode: `
        let storage = shuffled_workgroup * workgroupXSize * stress_params.mem_stride * 2u;
        var p1_r0 = 0u;
        var p1_r1 = 0u;
        test_locations.value[storage + x_0] = 1u;
        wg_test_locations[y_0] = 1u;
        storageBarrier(); workgroupBarrier();
        p1_r0 = test_locations.value[storage + x_1];
        p1_r1 = wg_test_locations[y_1];
        atomicStore(&results.value[shuffled_workgroup * workgroupXSize + id_1].r0, p1_r0);
        atomicStore(&results.value[shuffled_workgroup * workgroupXSize + id_1].r1, p1_r1);
      `,
      _resultCode: `
        if ((r0 == 0u) || (r1 == 0u)) {
            atomicAdd(&test_results.weak, 1u);
        } else {
            atomicAdd(&test_results.seq, 1u);
        }
      `,
    },
  ])
  .fn(t => runMemoryTest(t, t.params));
