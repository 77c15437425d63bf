import reasonact as dspy


def render(trajectory):
    lines = []
    index = 0
    while f"thought_{index}" in trajectory:
        lines.append(trajectory[f"tool_name_{index}"] + str(trajectory["observation_{}".format(index)]))
        index += 1
    return lines


def observations(trajectory):
    """Every observation_0 and so on, in words that are no key."""
    return [value for key, value in trajectory.items() if key.startswith("observation_")]


print(dspy.settings, render({"thought_0": "t"}))
