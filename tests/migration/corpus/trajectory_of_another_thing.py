"""Fields named trajectory that are a program's own: nothing to change."""
import reasonact as dspy


class Flight:
    trajectory = (1, 2)


predict = dspy.Predict("question -> trajectory")
print(predict(question="q").trajectory, Flight().trajectory)
result = dspy.ReAct("question -> answer", tools=[])(question="q")
result = Flight()
print(result.trajectory)
