class Run:
    def __init__(self, trajectory):
        self.trajectory = trajectory


rows = {"observation_0": 1}
print(Run(rows).trajectory["observation_0"], "finish" == "tool")
