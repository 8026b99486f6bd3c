import httpx


class LiveProvider:
    async def search(self, query: str) -> list[str]:
        async with httpx.AsyncClient() as client:
            return (await client.get(query)).json()

    async def read(self, id: str) -> str:
        return id


class FixtureProvider:
    async def search(self, query: str) -> list[str]:
        return [query]

    async def read(self, id: str) -> str:
        return id
