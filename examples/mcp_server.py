"""A server of the Model Context Protocol with two tools, over standard input and output. See mcp_tools.py."""

from __future__ import annotations

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # the first major version of the SDK calls it otherwise
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("stock")
STOCK = {"lamp": 4, "chair": 12}


@server.tool()
def in_stock(item: str) -> int:
    """How many pieces of an item are in stock."""
    return STOCK.get(item, 0)


@server.tool()
def price(item: str, pieces: int = 1) -> str:
    """What so many pieces of an item cost."""
    return f"{20 * pieces} EUR"


if __name__ == "__main__":
    server.run()
