"""A credential as an HTTP header can carry it."""


def header_value(credential: str) -> str | None:
    """Return a credential without the blanks and line ends around it that files bring, or nothing if it is empty.

    Raises:
        ValueError: a character is not visible ASCII, so no header can carry it (RFC 9110, section 5.5).
    """
    value = credential.strip()
    if not all("!" <= character <= "~" for character in value):
        raise ValueError("a header carries visible ASCII characters alone, so copy the credential anew")
    return value or None
