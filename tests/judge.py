#!/usr/bin/env python3
"""Judges recorded requests by openapi-core, which shares no code with toolgate.

usage: judge.py requests.jsonl

Each line names a document, a path template, a method and the request that was made. A request is good
when openapi-core finds the same operation for it and accepts its parameters and body. Swagger 2.0 is
judged by path, method, required parameters and JSON body alone, since openapi-core does not read it.
"""

import collections
import json
import re
import sys
import urllib.parse

import jsonschema
import openapi_core
import yaml
from openapi_core.datatypes import RequestParameters
from openapi_core.templating.paths.finders import APICallPathFinder
from jsonschema_path import SchemaPath
from werkzeug.datastructures import Headers, ImmutableMultiDict

VALIDATORS = {
    "V30": openapi_core.V30RequestValidator,
    "V31": openapi_core.V31RequestValidator,
    "V32": openapi_core.V32RequestValidator,
}


class Loader(yaml.CSafeLoader):
    """YAML 1.2 as documents mean it: dates stay text, keys too."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


class Request:
    """What openapi-core asks of a request."""

    def __init__(self, line, server):
        address = urllib.parse.urlsplit(line["uri"])
        headers = Headers(line["headers"])
        cookies = dict(
            pair.split("=", 1) for pair in (headers.get("cookie") or "").split("; ") if "=" in pair
        )
        query = urllib.parse.parse_qsl(address.query, keep_blank_values=True)
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(query), header=headers, cookie=cookies
        )
        self.host_url = server
        self.path = address.path
        self.method = line["method"].lower()
        self.body = bytes(line["body"]) or None
        self.content_type = headers.get("content-type") or ""


def text_keys(value):
    """Keys as text, as JSON has them."""
    if isinstance(value, dict):
        return {str(key): text_keys(part) for key, part in value.items()}
    return [text_keys(part) for part in value] if isinstance(value, list) else value


def read(path):
    with open(path, encoding="utf-8-sig") as file:
        document = json.load(file) if path.endswith(".json") else text_keys(yaml.load(file, Loader))
    # Where it is served and who may call is not what is judged here.
    for item in [document, *document.get("paths", {}).values()]:
        item.pop("security", None)
        item.pop("servers", None)
        for operation in item.values() if item is not document else []:
            if isinstance(operation, dict):
                operation.pop("security", None)
                operation.pop("servers", None)
    return document


def causes(error):
    """Every text of an error and of what it came from."""
    while error is not None:
        yield f"{type(error).__name__}: {error}"
        for one in getattr(error, "schema_errors", ()):
            yield f"{'/'.join(map(str, one.absolute_path))}: {one.message}"
        error = error.__cause__ or error.__context__


def judge(document, line):
    """What is wrong with a request; empty when nothing is."""
    line = dict(line, uri=line["uri"].removeprefix(line["server"]))
    if line["version"] == "V20":
        return judge_2(document, line)
    request = Request(line, "http://localhost")
    validator = VALIDATORS[line["version"]](SchemaPath.from_dict(document))
    found = APICallPathFinder(validator.spec, base_url=None).find(request.method, request.path)
    template = list(found.path.parts)[-1]
    if template != line["template"] and not overlaps(document, line["template"], template):
        return [f"found {template}"]
    return [" | ".join(causes(error)) for error in validator.iter_errors(request)]


def overlaps(document, template, other):
    """Whether the document has two templates that one address fits, which no request can tell apart."""
    blank = lambda path: [bool(re.search("{", part)) or part for part in path.split("/")]
    one, two = blank(template), blank(other)
    return len(one) == len(two) and all(a is True or b is True or a == b for a, b in zip(one, two))


def judge_2(document, line):
    pattern = re.escape(line["template"])
    pattern = re.sub(r"\\{.*?\\}", "([^/]+)", pattern)
    address = urllib.parse.urlsplit(line["uri"])
    if not re.fullmatch(pattern, address.path):
        return [f"{address.path} is not {line['template']}"]
    item = document["paths"][line["template"]]
    operation = item[line["method"].lower()]
    faults = []
    query = urllib.parse.parse_qs(address.query, keep_blank_values=True)
    for parameter in [*item.get("parameters", []), *operation.get("parameters", [])]:
        while "$ref" in parameter:
            parameter = resolve(document, parameter["$ref"])
        name, place = parameter["name"], parameter["in"]
        if place == "query" and parameter.get("required") and name not in query:
            faults.append(f"query {name} is missing")
        if place == "header" and parameter.get("required") and name.lower() not in line["headers"]:
            faults.append(f"header {name} is missing")
        if place == "body" and (line["body"] or parameter.get("required")):
            schema = dict(parameter["schema"], definitions=document.get("definitions", {}))
            body = json.loads(bytes(line["body"]))
            errors = jsonschema.Draft4Validator(schema).iter_errors(body)
            faults.extend(f"{'/'.join(map(str, one.absolute_path))}: {one.message}" for one in errors)
    return faults


def resolve(document, reference):
    for part in reference.removeprefix("#/").split("/"):
        document = document[urllib.parse.unquote(part).replace("~1", "/").replace("~0", "~")]
    return document


def main():
    documents, bad, good = {}, [], collections.Counter()
    operations = set()
    with open(sys.argv[1]) as file:
        for line in map(json.loads, file):
            name = line["file"].rsplit("/", 1)[-1]
            if name not in documents:
                documents[name] = read(line["file"])
            try:
                faults = judge(documents[name], line)
            except Exception as error:  # noqa: BLE001: whatever the judge cannot do is told, not hidden
                faults = ["judge: " + " | ".join(causes(error))]
            if faults:
                bad.append((name, line["method"], line["template"], line["uri"], faults))
            else:
                good[line["version"]] += 1
                operations.add((name, line["method"], line["template"]))
    for name, method, template, uri, faults in bad:
        print(f"{name} {method} {template}\n    {uri[:200]}")
        for fault in faults[:3]:
            print(f"    {fault[:400]}")
    print(f"good: {sum(good.values())} requests of {len(operations)} operations {dict(good)}; not good: {len(bad)}")
    # What the judge itself cannot read, and documents that contradict themselves, are few and printed.
    return 0 if sum(good.values()) >= 0.95 * (sum(good.values()) + len(bad)) else 1


if __name__ == "__main__":
    sys.exit(main())
