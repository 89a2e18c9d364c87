#!/usr/bin/env python3
"""Judges recorded requests by openapi-core, which shares no code with toolgate.

usage: judge.py requests.jsonl

Each line names a document, a path template, a method and the request that was made. A request is good
when openapi-core finds the same operation for it and accepts its parameters and body. Swagger 2.0 is
judged by path, method, required parameters and body alone, since openapi-core does not read it.

Every fault must be one of EXCEPTIONS, and every exception must still occur where its document is judged.
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


PATCH = "a PATCH says what changes; the document requires what the resource has"
READ_ONLY = "the document requires a field that it says is read only"
EMPTY = "a form of no fields is an empty body"
NO_FILE = "the document's discriminator leads to a file that is not there"
PATH_STYLE = "openapi-core does not read the path styles label and matrix"
FORM_DATA = "openapi-core does not read back its own multipart forms with lists and objects"
BYTES = "openapi-core decodes a binary part and then finds that it is no string"
DOTTED = "openapi-core does not read a placeholder with a dot"
ITEMS = "the document says of a list's items that they are read only, not of the list"
FILE = "the type `file` of 2.0 is none that a validator knows"
PATH_ITEM = "openapi-core does not follow the reference of a path item"
ADDITIONAL = "openapi-core does not read `additionalOperations`"
KINDS = "openapi-core does not read a parameter of several types"

# Operation, words of the fault, and why it is no fault of the request.
EXCEPTIONS = [
    ("v20.yaml POST /teas", "UnknownType", FILE),
    ("v30.yaml POST /teas/{id}:steep", "DeserializeError", FORM_DATA),
    ("v30.yaml GET /styles/{matrix}/{label}.{simple}-{name=teas/*}/{matrix}", "PathNotFound", PATH_STYLE),
    ("v31.json GET /teas/{id}", "OperationNotFound", PATH_ITEM),
    ("v31.json PUT /teas/{id}", "Expected a string value, got <class 'list'>", KINDS),
    ("v32.yaml LINK /teas", "OperationNotFound", ADDITIONAL),
    ("datadog-v1.yaml PUT /api/v1/integration/gcp", "InvalidRequestBody", ITEMS),
    ("digitalocean.json POST /v2/reserved_ips/{reserved_ip}/actions", "reserved_ip_actions.yml", NO_FILE),
    ("forgejo.json PATCH /teams/{id}", "'name' is a required property", PATCH),
    ("github.json PATCH /orgs/{org}/properties/values", "'properties' is a required property", PATCH),
    ("memos.yaml PATCH /api/v1/attachments/{attachment}", "'filename' is a required property", PATCH),
    ("memos.yaml PATCH /api/v1/identity-providers/{identity-provider}", "'title' is a required property", PATCH),
    ("memos.yaml PATCH /api/v1/memos/{memo}/relations", "'relations' is a required property", PATCH),
    ("grpcgw-abe-v3.json PATCH /v2/example/a_bit_of_everything/{abe.uuid}", "judge: KeyError: 'abe'", DOTTED),
    ("prometheus-31.yaml POST /search/label_names", "MissingRequiredRequestBody", EMPTY),
    ("prometheus-31.yaml POST /series", "MissingRequiredRequestBody", EMPTY),
    ("prometheus-32.yaml POST /search/label_names", "MissingRequiredRequestBody", EMPTY),
    ("prometheus-32.yaml POST /series", "MissingRequiredRequestBody", EMPTY),
    ("readme-params-30.json POST /anything/path/label/{primitive}/{array}/{object}", "KeyError: '.", PATH_STYLE),
    ("readme-params-30.json POST /anything/path/matrix/{primitive}/{array}/{object}", "KeyError: ';", PATH_STYLE),
    ("readme-params-31.json POST /anything/path/label/{primitive}/{array}/{object}", "KeyError: '.", PATH_STYLE),
    ("readme-params-31.json POST /anything/path/matrix/{primitive}/{array}/{object}", "KeyError: ';", PATH_STYLE),
    ("readme-params-30.json POST /anything/form-data/deepObject", "DeserializeError", FORM_DATA),
    ("readme-params-30.json POST /anything/form-data/form", "DeserializeError", FORM_DATA),
    ("readme-params-30.json POST /anything/form-data/spaceDelimited", "DeserializeError", FORM_DATA),
    ("readme-params-31.json POST /anything/form-data/deepObject", "DeserializeError", FORM_DATA),
    ("readme-params-31.json POST /anything/form-data/form", "DeserializeError", FORM_DATA),
    ("readme-params-31.json GET /anything/form-data/spaceDelimited", "DeserializeError", FORM_DATA),
    ("scalar-galaxy.yaml POST /planets", "'id' is a required property", READ_ONLY),
    ("scalar-galaxy.yaml PUT /planets/{planetId}", "'id' is a required property", READ_ONLY),
    ("scalar-galaxy.yaml POST /planets/{planetId}/image", "is not of type 'string'", BYTES),
]


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
    if template != line["template"]:
        if not overlaps(line["template"], template):
            return [f"found {template}"]
        # No request can tell the two apart, so the other one goes.
        alone = dict(document, paths={line["template"]: document["paths"][line["template"]]})
        validator = VALIDATORS[line["version"]](SchemaPath.from_dict(alone))
    return [" | ".join(causes(error)) for error in validator.iter_errors(request)]


def overlaps(template, other):
    """Whether one address fits both templates."""
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
            body = bytes(line["body"])
            is_json = "json" in line["headers"].get("content-type", "")
            body = json.loads(body) if is_json else body.decode()
            errors = jsonschema.Draft4Validator(schema).iter_errors(body)
            faults.extend(f"{'/'.join(map(str, one.absolute_path))}: {one.message}" for one in errors)
    return faults


def resolve(document, reference):
    for part in reference.removeprefix("#/").split("/"):
        document = document[urllib.parse.unquote(part).replace("~1", "/").replace("~0", "~")]
    return document


def main():
    documents, good = {}, collections.Counter()
    operations, bad, unused = set(), [], set(EXCEPTIONS)
    with open(sys.argv[1]) as file:
        for line in map(json.loads, file):
            name = line["file"].rsplit("/", 1)[-1]
            if name not in documents:
                documents[name] = read(line["file"])
            try:
                faults = judge(documents[name], line)
            except Exception as error:  # noqa: BLE001: whatever the judge cannot do is told, not hidden
                faults = ["judge: " + " | ".join(causes(error))]
            route = f"{name} {line['method']} {line['template']}"
            for fault in faults:
                known = [one for one in EXCEPTIONS if one[0] == route and one[1] in fault]
                unused.difference_update(known)
                if not known:
                    bad.append(f"{route}\n    {line['uri'][:200]}\n    {fault[:400]}")
            if not faults:
                good[line["version"]] += 1
                operations.add(route)
    unused = [one for one in unused if one[0].split(" ", 1)[0] in documents]
    print(*bad, *(f"no longer so: {one}" for one in unused), sep="\n")
    seen = [one for one in EXCEPTIONS if one[0].split(" ", 1)[0] in documents]
    for reason, n in collections.Counter(reason for *_, reason in seen).items():
        print(f"{n:3} operations: {reason}")
    print(f"good: {sum(good.values())} requests of {len(operations)} operations {dict(good)}; {len(bad)} faults without a name")
    return 1 if bad or unused else 0


if __name__ == "__main__":
    sys.exit(main())
