"""What a field may hold."""

from reasonact.types.audio import Audio
from reasonact.types.base import Type
from reasonact.types.code import Code
from reasonact.types.example import Example
from reasonact.types.file import File, encode_file_to_dict
from reasonact.types.history import History
from reasonact.types.image import Image, encode_image
from reasonact.types.prediction import Completions, Prediction
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCallResults, ToolCalls

__all__ = [
    "Audio",
    "Code",
    "Completions",
    "Example",
    "File",
    "History",
    "Image",
    "Prediction",
    "Reasoning",
    "ToolCallResults",
    "ToolCalls",
    "Type",
    "encode_file_to_dict",
    "encode_image",
]
