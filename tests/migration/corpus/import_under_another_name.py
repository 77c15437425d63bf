import dspy as d

class Ask(d.Module):
    def __init__(self):
        super().__init__()
        self.ask = d.ChainOfThought('question -> answer')   # quotes as they were

    def forward(self, question):
        return self.ask(question=question)

def main():
    return Ask()(question="q").answer
