"""Code as a compiler has it in its middle: the textual representation of LLVM, of C, C++ and others."""
