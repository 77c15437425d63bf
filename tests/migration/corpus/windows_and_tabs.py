import dspy


def main():
	if True:	# a tab
		return dspy.Example(x='é 漢').x
