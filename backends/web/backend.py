"""The browser as a back end: the shaders of ``backends.wgsl`` in one page, which runs them and saves the results.

There is no device here, for the page is opened elsewhere; the shaders are compiled here as those of WGSL are, to see
that they do. What compiles and runs them for a visitor is his browser's, which is not for us to probe.
"""

from __future__ import annotations

from dataclasses import replace

from backends.shared.toolchain import Probed
from backends.web.page import page_files
from backends.web.template import Template
from backends.wgsl import backend as wgsl


class WebCompiler(wgsl.WgslCompiler):
    """The compiler of pages for browsers, which checks their shaders as WGSL."""

    def probe(self) -> list[Probed]:
        """Report on the WebGPU adapters, which compile shaders here and run no page."""
        return wgsl.HOST.probed("compile")


BACKEND = replace(
    wgsl.BACKEND,
    name="web",
    files="index.html",
    usage="open it in a browser that has WebGPU",
    compiler=WebCompiler(),
    device=None,
    bundle=page_files,
    template=Template,
)
