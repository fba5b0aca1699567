"""The browser as a back end: the shaders of ``backends.wgsl`` in one page, which runs them and saves the results.

There is no device here, for the page is opened elsewhere; the shaders are compiled here as those of WGSL are.
"""

from __future__ import annotations

from backends.shared.backend import Backend
from backends.shared.log import as_comment
from backends.web.compiler import COMPILER
from backends.web.page import page_files
from backends.web.template import Template
from backends.wgsl.memory import WgslKernel
from backends.wgsl.progress import Wgsl

BACKEND = Backend(
    name="web",
    suffix=".wgsl",
    progress=Wgsl,
    memory=WgslKernel,
    files="index.html",
    usage="open it in a browser that has WebGPU",
    compiler=COMPILER,
    embed=as_comment,
    bundle=page_files,
    template=Template,
)
