import json, dspy, os   # three at once
from pathlib import Path


def main():
    module = dspy.Predict("question -> answer")
    return json.dumps([module(question="q").answer, os.sep, Path("a").name])
