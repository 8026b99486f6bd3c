def credential(headers):
    return headers.get("x-api-key") or headers.get("authorization")
