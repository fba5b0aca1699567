"""Writes specification files for gpuweb/cts, in TypeScript. They hold what ``backends.wgsl.conformance`` makes of each
test.

A folder for ``src/webgpu/shader/execution/memory_model``: ``KIND.spec.ts`` for each kind of test, ``memory_test.ts``,
which all share and which is what calls the suite's helper, and ``README.txt``, as each folder there has one. A shape is
a test of the suite, and each litmus test of this shape a case of it. Names keep to what queries of the suite take:
letters, digits and ``_`` for files and tests, nothing of ``= ; * "`` in values of parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import Template
from textwrap import indent

from backends.wgsl.conformance import ConformanceTest
from corpus.errors import InputError

KINDS: Mapping[str, str] = {
    "atomicity": "Read-modify-writes of atomics: nothing comes between their read and their write.",
    "barrier": "What workgroupBarrier and storageBarrier order, of accesses that are atomic and of those that are not.",
    "coherence": "Accesses to one location, which all invocations see in one order.",
    "weak": "Accesses to two locations, without barriers.",
}
"""The files, and what the tests in each are about."""

HELPER = "memory_test.ts"

_HELPER = """\
import { GPUTest } from '../../../../gpu_test.js';
import {
  MemoryModelTestParams,
  MemoryModelTester,
  MemoryType,
  ResultType,
  TestType,
  buildResultShader,
  buildTestShader,
} from '../memory_model_setup.js';

/** A litmus test with an outcome that the memory model of WGSL forbids. */
export type MemoryTest = {
  /** The memory of its locations, and whether they are atomic. */
  memType: MemoryType;
  /** Whether its threads are in different workgroups. */
  testType: TestType;
  /** Whether x_K and y_K are one location, so that a compiler does not know that they are. */
  _aliased: boolean;
  /** What one invocation does. */
  _testCode: string;
  /** Counts one instance, as weak where it has the forbidden outcome. */
  _resultCode: string;
};

/** How often each test is run, with other stress and other places of its threads. */
const kIterations = 16;

/** Everything that the helper can do to bring invocations together, and a share of runs without. */
const kParams: MemoryModelTestParams = {
  workgroupSize: 256,
  testingWorkgroups: 128,
  maxWorkgroups: 192,
  shufflePct: 75,
  barrierPct: 75,
  memStressPct: 75,
  memStressIterations: 256,
  memStressStoreFirstPct: 50,
  memStressStoreSecondPct: 50,
  preStressPct: 50,
  preStressIterations: 32,
  preStressStoreFirstPct: 50,
  preStressStoreSecondPct: 50,
  scratchMemorySize: 2048,
  stressLineSize: 64,
  stressTargetLines: 4,
  stressStrategyBalancePct: 50,
  // Both are odd, and so coprime with the number of invocations.
  permuteFirst: 101,
  permuteSecond: 433,
  memStride: 4,
  aliasedMemory: false,
  numBehaviors: 2,
};

const kAliasedParams: MemoryModelTestParams = { ...kParams, permuteSecond: 1, aliasedMemory: true };

/** Runs a test; it fails where any instance has the forbidden outcome. */
export async function runMemoryTest(t: GPUTest, test: MemoryTest): Promise<void> {
  const tester = new MemoryModelTester(
    t,
    test._aliased ? kAliasedParams : kParams,
    buildTestShader(test._testCode, test.memType, test.testType),
    buildResultShader(test._resultCode, test.testType, ResultType.TwoBehavior)
  );
  // The second behavior is the weak one.
  await tester.run(kIterations, 1);
}
"""

_FILE = Template("""\
export const description = `
$about
Each case is a litmus test, named in 'test', with an outcome that the memory model of WGSL forbids.
`;

import { makeTestGroup } from '../../../../../common/framework/test_group.js';
import { GPUTest } from '../../../../gpu_test.js';
import { MemoryType, TestType } from '../memory_model_setup.js';

import { runMemoryTest } from './memory_test.js';

export const g = makeTestGroup(GPUTest);
$tests""")

_TEST = Template("""
g.test('$shape')
  .desc(
    `
$about
`
  )
  .paramsSimple([
$cases
  ])
  .fn(t => runMemoryTest(t, t.params));
""")

_CASE = Template("""\
    {
      test: '$name',
      memType: MemoryType.$memory_type,
      testType: TestType.$test_type,
      _aliased: $aliased,
      _testCode: `
$test_code
      `,
      _resultCode: `
$result_code
      `,
    },""")


def suite_files(tests: Sequence[ConformanceTest], readme: str) -> dict[str, str]:
    """Return the files of a folder by their names; ``readme`` is what it says of the tests.

    Raises ``InputError`` where two tests would be one case.
    """
    names: dict[str, ConformanceTest] = {}
    for test in tests:
        if names.setdefault(test.name, test) is not test:
            raise InputError(f"two tests are called {test.name}, and each names a case")
    files = {
        f"{kind}.spec.ts": _FILE.substitute(about=about, tests="".join(_tests(members)))
        for kind, about in KINDS.items()
        if (members := [test for test in tests if test.kind == kind])
    }
    return {**files, HELPER: _HELPER, "README.txt": readme}


def _tests(tests: Iterable[ConformanceTest]) -> Iterable[str]:
    shapes: dict[str, list[ConformanceTest]] = {}
    for test in tests:
        shapes.setdefault(test.shape, []).append(test)
    for shape, members in shapes.items():
        about = "\n\n".join(f"{member.name}\n\n{member.about}" for member in members)
        yield _TEST.substitute(
            shape=shape, about=_within_template(indent(about, "    ")), cases="\n".join(map(_case, members))
        )


def _case(test: ConformanceTest) -> str:
    return _CASE.substitute(
        name=test.name,
        memory_type=test.memory_type,
        test_type=test.test_type,
        aliased=str(test.aliased).lower(),
        test_code=_within_template(indent(test.test_code, " " * 8)),
        result_code=_within_template(indent(test.result_code, " " * 8)),
    )


def _within_template(text: str) -> str:
    """A text as it stands between the backticks of a template literal."""
    return text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${")
