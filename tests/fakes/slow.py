"""A device that is slow, stuck or unfair as it is told: its programs are ``slow_program.py``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.shared.device import Prepared
from backends.shared.layout import Layout, Parameters, place
from backends.shared.mapping import Launch, launch
from backends.shared.profiles import Profile
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program

PROGRAM = Path(__file__).with_name("slow_program.py")


@dataclass(frozen=True)
class SlowDevice:
    """A device whose programs behave so, and write to this log."""

    behaviour: dict[str, Any]
    log: Path
    name: str = "a slow toy"
    hardware: str = "a slow toy"
    driver: str = ""
    compiler: str = ""

    def launch(self, program: Program, mapping: str, placement: str = "device") -> Launch:
        """One instance."""
        return launch(program, mapping, 1, placement=placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """As few instances as there may be."""
        return place(test, Parameters(32))

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """That file, with the program of the test."""
        return Prepared([sys.executable, str(PROGRAM), json.dumps(self.behaviour), str(self.log), str(file)])
