"""Every package in the tree has a licence that deny.toml allows."""
import json
import re
import subprocess
import sys
import tomllib

with open("deny.toml", "rb") as file:
    allowed = set(tomllib.load(file)["licenses"]["allow"])

metadata = json.loads(subprocess.check_output(["cargo", "metadata", "--format-version=1", "--locked"]))


def fits(expression):
    """Whether an SPDX expression holds with the allowed licences: `OR` of `AND`s, `/` an old `OR`."""
    tokens = re.findall(r"\(|\)|[^\s()/]+|/", expression.replace("/", " OR "))
    words = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    parts, skip = [], False
    for at, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        if token == "WITH":
            parts[-1] = str(f"{tokens[at - 1]} WITH {tokens[at + 1]}" in allowed or parts[-1] == "True")
            skip = True
        else:
            parts.append(words.get(token, str(token in allowed)))
    return eval(" ".join(parts))  # only True, False, and, or and brackets are left


bad = [
    f"{package['name']} {package['version']}: {package['license']}"
    for package in metadata["packages"]
    if not fits(package["license"] or "none")
]
print(f"{len(metadata['packages'])} packages, {len(bad)} with a licence that is not allowed")
sys.exit("\n".join(bad) if bad else 0)
