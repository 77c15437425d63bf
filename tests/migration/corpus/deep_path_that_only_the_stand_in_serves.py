import dspy

LOG = dspy.clients.base_lm.GLOBAL_HISTORY
print(dspy.ReAct, LOG)
