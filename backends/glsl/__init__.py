"""Implements the back end for GLSL in Amber scripts, for the devices of Vulkan."""
