def main():
    import dspy

    return dspy.Predict("a -> b")(a="x").b
