"""Holds the dialects of litmus tests that are assembly of a processor: AArch64, PPC, RISCV and X86_64 of herd7."""
