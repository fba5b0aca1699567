"""Defines litmus tests, whatever the dialect. It has their parts, their outer text and condition, and when two are
equal.
"""
