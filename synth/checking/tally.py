"""What ``synth check`` says at its end: what is wrong, what is left out of folders, and the exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import closing
from pathlib import Path

from corpus.awaited import awaiting
from corpus.errors import InputError, printable
from synth.checking.account import CheckedKernel
from synth.checking.questions import CheckAnswer
from synth.checking.rows import known_answers
from synth.checking.work import KernelSource
from synth.folders import LeftOut
from synth.watch import Watch, remark, watching


def exit_code(answers: Collection[CheckAnswer]) -> int:
    """Return the exit code of all answers: 1 where anything is found, whatever else is not known, or else 2 where
    anything is not known.
    """
    if CheckAnswer.FOUND in answers:
        return 1
    return 0 if all(answer is CheckAnswer.SAFE for answer in answers) else 2


def _key(checked: CheckedKernel) -> tuple[str, ...]:
    """Return what an answer is about, as a row of CSV has it."""
    return printable(checked.file), checked.kernel, checked.launch, checked.model


class CheckTally:
    """A count of what is found, of files and kernels without an answer, and of files without a kernel."""

    def __init__(self, sources: Sequence[KernelSource], left_out: LeftOut, known: Path | None = None) -> None:
        self.sources, self._left_out = sources, left_out
        self._known_file = known
        self._known = {_key(answer): answer for answer in known_answers(known)} if known else {}
        self._as_known = 0
        self._answered = set[str]()
        self._errors: dict[str, None] = {}
        self._answers = set[CheckAnswer]()

    def add(self, checked: CheckedKernel) -> None:
        """Count one more answer, and what is wrong where there is none."""
        self._answered.add(checked.file)
        if self._is_known(checked):
            self._as_known += 1
        else:
            self._answers.add(checked.answer)
        if checked.answer is CheckAnswer.ERROR:
            self._errors[checked.problem] = None

    def _is_known(self, checked: CheckedKernel) -> bool:
        """Return whether an answer that is not SAFE is as the known ones say, and nothing more is found."""
        known = self._known.get(_key(checked))
        if known is None or checked.answer in (CheckAnswer.SAFE, CheckAnswer.ERROR):
            return False
        return known.answer is checked.answer and {*known.kinds} >= {*checked.kinds}

    def counted(
        self, answers_of: Callable[[Watch], Generator[CheckedKernel | None, None, None]]
    ) -> Generator[CheckedKernel, None, None]:
        """Yield the answers as they come, and count them, with a bar where a person watches."""
        with (
            awaiting(f"the check of {self.sources[0].path}") as by_now,
            watching("Checking", found=False) as watch,
            closing(answers_of(watch)) as answers,
        ):
            for answer in answers:
                if answer is not None:
                    by_now(f"the check of {answer.file}")
                    self.add(answer)
                    yield answer

    def tell(self, given: Sequence[Path]) -> int:
        """Print what is wrong and what is left out of folders; return the exit code.

        Raises ``InputError`` where no file has a kernel.
        """
        for error in self._errors:
            remark(str(error))
        if not self._answered:
            raise InputError(f"no kernel in any of the {len(self.sources)} files", ", ".join(map(str, given)))
        if without := len(self.sources) - len(self._answered):
            self._left_out.count("without a kernel", without)
        self._left_out.tell(path for path in given if os.path.isdir(path))
        if self._as_known:
            count = "1 answer is" if self._as_known == 1 else f"{self._as_known} answers are"
            remark(f"{count} as {self._known_file} has it, and no reason to fail")
        return exit_code(self._answers)
