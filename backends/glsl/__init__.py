"""GLSL in Amber scripts, for Vulkan."""
