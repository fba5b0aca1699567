"""The export of litmus tests to WebGPU's conformance suite. Only tests whose outcome WGSL's memory model forbids are
taken.

A device fails a conformance test that shows its outcome, so each test is judged by the model ``webgpu`` first. One
whose outcome is allowed, such as a mutant, is left out: a device that shows it conforms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from backends.wgsl.conformance import ConformanceTest, conformance_test
from backends.wgsl.conformance_files import suite_files
from corpus.errors import InputError
from corpus.export import write_folder
from oracle.consistency import OperationalModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.steps import TooManyError
from synth.folders import WrittenTests
from synth.inputs import Input
from synth.memory.conformance import promise_of
from synth.memory.explanation import explanation_account, program_lines
from synth.memory.judging import explain_with
from synth.watch import remark, watched

MODEL = "webgpu"

_README = """\
Tests of the memory model: litmus tests with outcomes that it forbids, made by synth export --to webgpu-cts.

Each is a case of a test that is named after its shape. A case's description has its program, the outcome that fails it,
and why the model forbids it, in words that are not WGSL's alone:

    cta                      a workgroup
    ld x, st x               plain accesses
    ld.relaxed, st.relaxed   atomicLoad, atomicStore
    atom.relaxed             the other atomics; exch is atomicExchange
    bar.global-fence         storageBarrier; semsc0 is another word for it
    bar.local-fence          workgroupBarrier; semsc1 likewise
    po                       one after the other in an invocation
    rf, co, fr               which write a read is of, which write comes after which, which write a read comes before
    syncbar                  barriers of invocations that meet
"""


def export_to_cts(tests: Sequence[Input], folder: Path) -> WrittenTests:
    """Write the tests that the suite can say into a new or empty folder; each other test is a remark.

    Raises ``InputError`` where two tests have one name or the folder cannot be written.
    """
    done = []
    for given in watched(tests, len(tests), "Converting"):
        try:
            done.append(_converted(given))
        except InputError as error:
            remark(str(InputError(error.message, given.label)))
    if done:
        write_folder(folder, iter(suite_files(done, _README).items()))
    return WrittenTests(folder, len(done), len(tests), len(done) == len(tests))


def _converted(given: Input) -> ConformanceTest:
    test = given.litmus()
    done = conformance_test(test, given.name)
    (model,) = resolve_consistency_models([MODEL])
    assert not isinstance(model, OperationalModel)
    promise = promise_of(test, model)
    if promise.forbids_asked is None:
        raise InputError(f"{MODEL} makes no promise: {promise.reason}")
    if not promise.forbids_asked:
        raise InputError(f"{MODEL} allows its outcome, and a device that shows it conforms")
    try:
        account = explanation_account(explain_with(test, model.model, UNROLL), UNROLL)
        about = f"{account.about}\n\n{account.reason}"
    except TooManyError:  # the verdict is known, and its reason is not needed
        about = "\n".join(program_lines(test))
    return replace(done, about=about)
