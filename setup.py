"""What ``pyproject.toml`` cannot say: a wheel has the examples in it, from where ``synth examples`` writes them."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithExamples(build_py):
    """Copies ``examples`` into the package. One that is installed to be edited finds them in the checkout."""

    def run(self):  # noqa: D102
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "synth", "examples")
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree("examples", target, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": WithExamples})
