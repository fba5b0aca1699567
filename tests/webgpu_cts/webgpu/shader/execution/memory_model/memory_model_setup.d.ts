/** What gpuweb/cts's helper of memory model tests exports, as far as tests of atomic and plain memory use it. */

import { GPUTest } from '../../../gpu_test.js';

export type AccessValueType = 'f16' | 'u32';

export type MemoryModelTestParams = {
  workgroupSize: number;
  testingWorkgroups: number;
  maxWorkgroups: number;
  shufflePct: number;
  barrierPct: number;
  memStressPct: number;
  memStressIterations: number;
  memStressStoreFirstPct: number;
  memStressStoreSecondPct: number;
  preStressPct: number;
  preStressIterations: number;
  preStressStoreFirstPct: number;
  preStressStoreSecondPct: number;
  scratchMemorySize: number;
  stressLineSize: number;
  stressTargetLines: number;
  stressStrategyBalancePct: number;
  permuteFirst: number;
  permuteSecond: number;
  memStride: number;
  aliasedMemory: boolean;
  numBehaviors: number;
};

export enum MemoryType {
  AtomicStorageClass = 'atomic_storage',
  NonAtomicStorageClass = 'non_atomic_storage',
  AtomicWorkgroupClass = 'atomic_workgroup',
  NonAtomicWorkgroupClass = 'non_atomic_workgroup',
  NonAtomicTextureClass = 'non_atomic_texture',
}

export enum TestType {
  InterWorkgroup = 'inter_workgroup',
  IntraWorkgroup = 'intra_workgroup',
}

export enum ResultType {
  TwoBehavior,
  FourBehavior,
}

export class MemoryModelTester {
  constructor(
    t: GPUTest,
    params: MemoryModelTestParams,
    testShader: string,
    resultShader: string,
    accessValueType?: AccessValueType,
    useTexture?: boolean
  );
  run(iterations: number, weakIndex: number): Promise<void>;
}

export function buildTestShader(
  testCode: string,
  memoryType: MemoryType,
  testType: TestType
): string;

export function buildResultShader(
  resultCode: string,
  testType: TestType,
  resultType: ResultType
): string;
