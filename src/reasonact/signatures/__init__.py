"""Signatures: what goes in and what comes out of a model call."""

from reasonact.signatures.fields import InputField, OutputField, infer_prefix
from reasonact.signatures.signature import Signature, SignatureMeta, ensure_signature, make_signature

__all__ = [
    "InputField",
    "OutputField",
    "Signature",
    "SignatureMeta",
    "ensure_signature",
    "infer_prefix",
    "make_signature",
]
