"""Holds the litmus dialects of Dartagnan for PTX and Vulkan."""
