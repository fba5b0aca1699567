"""The assembly of RISC-V."""
