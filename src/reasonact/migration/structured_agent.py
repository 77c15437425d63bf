"""The structured agent under the name that it has from 3.5 on."""

from reasonact.agents.react_v2 import ReActV2 as ReAct

__all__ = ["ReAct"]
