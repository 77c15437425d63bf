import dspy


def main():
    kinds = [dspy.adapters.ChatAdapter, dspy.primitives.prediction.Prediction, dspy.signatures.Signature]
    return [kind.__name__ for kind in kinds]
