"""Fills in what botocore answers to the files in aws_config.json.

    pip install botocore==<the version in aws_config.json>
    PYTHONUTF8=1 python tests/vectors/aws_config.py

To add a file, append it to `files` with a name, the text and the profile to read, and run this script. If the library
is meant to answer something else than botocore, add `difference`, a name from the table in the documentation of
`RetryConfig::or_environment`, and `wanted`, the answer of the library in the form of botocore's answers.
"""

import json
import pathlib
import platform
import sys
import tempfile

import botocore
from botocore.configloader import load_config
from botocore.exceptions import ConfigParseError

DATA = pathlib.Path(__file__).with_suffix(".json")
SETTINGS = ("retry_mode", "max_attempts")


def answer(directory, text, profile):
    """Returns the settings as botocore reads them: a text, an object if the value is nested, or null."""
    path = pathlib.Path(directory, "config")
    path.write_bytes(text.encode())
    try:
        profiles = load_config(str(path))["profiles"]
    except ConfigParseError as parse_error:
        error = parse_error.kwargs["error"]
        # A ParsingError lists all lines that it does not understand.
        line = error.errors[0][0] if hasattr(error, "errors") else getattr(error, "lineno", None)
        return {"error": type(error).__name__, "line": line}
    return {setting: profiles.get(profile, {}).get(setting) for setting in SETTINGS}


def main():
    if not sys.flags.utf8_mode:
        sys.exit("botocore reads files in the encoding of the locale: set PYTHONUTF8=1")
    files = json.loads(DATA.read_bytes())["files"]
    with tempfile.TemporaryDirectory() as directory:
        for file in files:
            file["botocore"] = answer(directory, file["text"], file["profile"])
    data = {"botocore": botocore.__version__, "python": platform.python_version(), "files": files}
    DATA.write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
