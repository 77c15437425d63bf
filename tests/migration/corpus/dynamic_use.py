import dspy

kind = getattr(dspy, "React" + "V2")
setattr(dspy, "LM", object)
