from whole.tools import coverage


async def test_gaps_are_never_empty():
    answer = await coverage()
    assert answer["families"] and answer["known_gaps"]
