try:
    import dspy
except ImportError:
    dspy = None


def main():
    return None if dspy is None else dspy.Example(a=1).a
