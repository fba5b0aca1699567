"""Dartagnan's PTX and Vulkan dialects."""
