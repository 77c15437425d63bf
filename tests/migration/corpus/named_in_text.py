from importlib import import_module
from unittest.mock import patch

import dspy

module = import_module("dspy.predict")
with patch("dspy.LM") as fake:
    print(fake, module, dspy.ReAct)
