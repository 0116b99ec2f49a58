"""The JSON Schema accepts what the writer writes and refuses what the reader refuses."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

HERE = Path(__file__).resolve().parent
SCHEMA = json.loads((HERE.parents[2] / "resources" / "schema" / "plan.schema.json").read_text())
FULL = json.loads((HERE / "full_plan.json").read_text())
CASES = json.loads((HERE / "broken_plans.json").read_text())["cases"]


def _patched(document, patch):
    """The part of RFC 6902 that the cases use."""
    document = copy.deepcopy(document)
    for step in patch:
        value = step.get("value")
        if step["op"] == "copy":
            value = copy.deepcopy(_resolve(document, step["from"]))
        *parents, last = step["path"].split("/")[1:]
        holder = _resolve(document, "/".join(["", *parents]))
        key = int(last) if isinstance(holder, list) else last
        if step["op"] == "remove":
            del holder[key]
        elif isinstance(holder, list) and step["op"] in ("add", "copy"):
            holder.insert(key, value)
        else:
            holder[key] = value
    return document


def _resolve(document, pointer):
    for part in pointer.split("/")[1:]:
        document = document[int(part) if isinstance(document, list) else part]
    return document


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_written_plan_follows_it():
    jsonschema.validate(FULL, SCHEMA)


@pytest.mark.parametrize("case", [case for case in CASES if case.get("schema", True)], ids=lambda case: case["name"])
def test_a_broken_plan_is_refused(case):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(_patched(FULL, case["patch"]), SCHEMA)
