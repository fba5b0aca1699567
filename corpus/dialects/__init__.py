"""The dialects of litmus tests: a module or folder each, with a parser and a printer that are inverse of each other."""
