from typing import Protocol


class ActsProvider(Protocol):
    async def search(self, query: str) -> list[str]: ...

    async def read(self, id: str) -> str: ...
