"""Checks reports of pto-legalize-acc.

    check_reports.py SCHEMA FOLDER...

Every file of the folders must have the form of SCHEMA, in which every field has a
description, and counts must be what the clusters add up to. Exits with 1 if not.
"""

import json
import pathlib
import sys

import jsonschema


def fields(schema):
    """Every schema of a named field inside `schema`."""
    for name, field in schema.get("properties", {}).items():
        yield name, field
        yield from fields(field)
    if "items" in schema:
        yield from fields(schema["items"])


def closed(schema):
    """`schema` without room for fields that it does not describe."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    if inner.get("type") == "object":
        inner["additionalProperties"] = False
    return inner


def sums_up(report):
    chains = [chain for cluster in report["clusters"] for chain in cluster["chains"]]
    counts = report["counts"]
    return (
        counts["clusters"] == len(report["clusters"])
        and counts["chains"] == len(chains)
        and counts["matmuls"] == sum(len(chain["members"]) for chain in chains)
    )


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for name, field in fields(schema):
        if "description" not in field:
            sys.exit(f"{name} has no description")
    validator = jsonschema.Draft202012Validator(closed(schema))
    files = [path for folder in sys.argv[2:] for path in sorted(pathlib.Path(folder).iterdir())]
    decisions = set()
    for path in files:
        report = json.loads(path.read_text(encoding="utf-8"))
        for error in validator.iter_errors(report):
            sys.exit(f"{path.name}: {error.message} at {error.json_path}")
        if not sums_up(report):
            sys.exit(f"{path.name}: counts do not fit")
        decisions |= {cluster["decision"] for cluster in report["clusters"]}
    if len(decisions) < 4:
        sys.exit(f"the reports show little: {sorted(decisions)}")
    print(f"{len(files)} reports are as described")


if __name__ == "__main__":
    main()
