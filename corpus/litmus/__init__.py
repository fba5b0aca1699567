"""Defines litmus tests, whatever the dialect: their parts, their outer text and condition, and when two are equal."""
