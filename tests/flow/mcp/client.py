"""Connects the official client to the server that the command line names, and sends it what standard input says.

A line of input is a JSON array: the name of a method of `mcp.Client`, and its arguments. A line of output is the result,
or {"refused": …} with the server's error."""

import asyncio, json, os, sys
from mcp import Client, MCPError, StdioServerParameters


async def main():
    command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(server) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            method, *arguments = json.loads(line)
            try:
                answer = (await getattr(client, method)(*arguments)).model_dump_json(by_alias=True, exclude_none=True)
            except MCPError as error:
                answer = json.dumps({"refused": str(error)})
            print(answer, flush=True)


asyncio.run(main())
