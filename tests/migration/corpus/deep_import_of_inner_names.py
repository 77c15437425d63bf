from dspy.adapters.utils import parse_value
from dspy.utils.callback import ACTIVE_CALL_ID, BaseCallback

import dspy
import dspy.adapters.chat_adapter


class Log(BaseCallback):
    def on_tool_start(self, call_id, instance, inputs):
        print(ACTIVE_CALL_ID.get(), parse_value("1", int), dspy.adapters.chat_adapter.ChatAdapter)
