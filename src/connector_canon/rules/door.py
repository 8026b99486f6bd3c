"""Element 3: two channels, one door."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from connector_canon.findings import Answer, Place, absent, not_applicable, present
from connector_canon.reading.connector import Connector
from connector_canon.reading.modules import Module
from connector_canon.reading.project import last_name
from connector_canon.rules.rule import Family, Rule
from connector_canon.rules.shared import place

FAMILY = Family("3", "Two channels, one door", "door")
API_KEY = "x-api-key"
BEARER = "authorization"
QUERY_NAMES = re.compile(r"^(?:api[_-]?key|key|token|access_token)$", re.IGNORECASE)


def _constant_header(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant):
        value = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        if isinstance(value, str) and value.lower() in {API_KEY, BEARER}:
            return value.lower()
    return None


def _header_name(node: ast.AST, module: Module) -> str | None:
    """Return the header a constant, or a name for one in the same module, stands for."""
    if isinstance(node, ast.Name):
        values = module.scope.values.get(node.id, [])
        return next((h for v in values for i in ast.walk(v) if (h := _constant_header(i)) is not None), None)
    return _constant_header(node)


def inbound_headers(module: Module) -> Iterator[tuple[str, Place]]:
    """Yield the credential headers that a module reads from a request; headers it sends do not count."""
    for node in module.nodes(ast.Call, ast.Subscript, ast.Compare):
        read: list[ast.AST] = []
        match node:
            case ast.Call(func=ast.Attribute(attr="get" | "getlist" | "get_all" | "getall"), args=[first, *_]):
                read = [first]
            case ast.Subscript(ctx=ast.Load()) if "header" in ast.unparse(node.value).lower():
                read = [node.slice]
            case ast.Compare(left=left, comparators=others):
                read = [
                    left,
                    *(i for o in others for i in ([o, *o.elts] if isinstance(o, ast.Tuple | ast.Set) else [o])),
                ]
            case ast.Call(keywords=keywords) if last_name(node.func) in {"APIKeyHeader", "Header"}:
                read = [k.value for k in keywords if k.arg in {"name", "alias"}]
            case ast.Call() if node.args and re.search(r"header", last_name(node.func), re.IGNORECASE):
                read = list(node.args)
        for item in read:
            header = _header_name(item, module)
            if header is not None:
                yield header, place(module, node)


def _reads(connector: Connector, header: str) -> list[Place]:
    modules = connector.running("api-key", "API-Key", "API-KEY", "Api-Key", "uthorization", "api_key")
    return [where for m in modules for found, where in inbound_headers(m) if found == header]


def _stdio(connector: Connector) -> Answer | None:
    if connector.http is None:
        return not_applicable("The server speaks over stdio alone; whoever owns the process is the caller.")
    return None


def api_key(connector: Connector) -> Answer:
    """Look for a key read from X-API-Key."""
    if (answer := _stdio(connector)) is not None:
        return answer
    reads = _reads(connector, API_KEY)
    if reads:
        return present("A key is read from X-API-Key.", *reads[:5])
    return absent("Accept the key in X-API-Key on every surface.", *_http(connector))


def bearer(connector: Connector) -> Answer:
    """Look for a key or token read from Authorization: Bearer."""
    if (answer := _stdio(connector)) is not None:
        return answer
    reads = _reads(connector, BEARER)
    auth = connector.server.keyword("auth")
    if reads:
        return present("A credential is read from Authorization.", *reads[:5])
    if auth is not None and not (isinstance(auth.node, ast.Constant) and auth.node.value is None):
        return present("The framework's own verifier reads Authorization: Bearer.", place(auth.module, auth.node))
    return absent("Accept the key in Authorization: Bearer on every surface.", *_http(connector))


def one_door(connector: Connector) -> Answer:
    """Look whether both channels are read in one place, so that one resolver decides."""
    if (answer := _stdio(connector)) is not None:
        return answer
    keys, bearers = _reads(connector, API_KEY), _reads(connector, BEARER)
    if not keys and not bearers:
        return absent(
            "Put one door in front of the server; nothing raised inside MCP becomes a 401.", *_http(connector)
        )
    together = {p.path for p in keys} & {p.path for p in bearers}
    if together:
        return present("One resolver reads both channels.", *(p for p in keys if p.path in together))
    return absent(
        "Let one resolver read both channels; two doors end up with two sets of rules.", *(keys + bearers)[:5]
    )


def real_refusal(connector: Connector) -> Answer:
    """Look for a 401 that carries WWW-Authenticate."""
    if (answer := _stdio(connector)) is not None:
        return answer
    challenges = [
        Place(m.shown, line)
        for m in connector.running("uthenticate")
        for value, line in _texts(m)
        if value.lower() == "www-authenticate"
    ]
    if challenges:
        return present("A refusal carries WWW-Authenticate.", *challenges[:3])
    return absent("Answer a missing or wrong credential with HTTP 401 and WWW-Authenticate.", *_http(connector))


def refuses_conflict(connector: Connector) -> Answer:
    """Look for a 400 in the module that reads both channels."""
    if (answer := _stdio(connector)) is not None:
        return answer
    both = {p.path for p in _reads(connector, API_KEY)} & {p.path for p in _reads(connector, BEARER)}
    if not both:
        return not_applicable("No single place reads both channels.")
    for module in connector.running("400", "BAD_REQUEST"):
        if module.shown in both:
            for node in module.nodes(ast.Constant, ast.Attribute):
                if (isinstance(node, ast.Constant) and node.value == 400) or (
                    isinstance(node, ast.Attribute) and node.attr in {"BAD_REQUEST", "HTTP_400_BAD_REQUEST"}
                ):
                    return present("Two credentials that disagree are refused with 400.", place(module, node))
    return absent("Refuse two credentials that disagree with 400 instead of letting one win.", Place(sorted(both)[0]))


def nothing_in_the_query(connector: Connector) -> Answer:
    """Look for a credential that is read from the query string."""
    if (answer := _stdio(connector)) is not None:
        return answer
    for module in connector.running("query_params"):
        for node in module.nodes(ast.Call):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="get", value=holder), args=[ast.Constant(value=str() as name), *_]
                ):
                    if ast.unparse(holder).endswith("query_params") and QUERY_NAMES.match(name):
                        return absent(
                            "Do not take a credential from the query string: it lands in logs.", place(module, node)
                        )
    return present("No credential is read from the query string.")


def keeps_digests(connector: Connector) -> Answer:
    """Look whether keys are compared by digest in constant time."""
    if (answer := _stdio(connector)) is not None:
        return answer
    if not _reads(connector, API_KEY) and not _reads(connector, BEARER):
        return not_applicable("No key is read.")
    for module in connector.running("sha256", "blake2", "argon2", "scrypt", "bcrypt"):
        for site in module.calls:
            if last_name(site.call.func) in {"sha256", "blake2b", "blake2s", "scrypt", "verify", "checkpw"} and (
                module.mentions("key", "token", "credential") and "audit" not in module.path.name
            ):
                return present("Keys are stored and compared as digests.", place(module, site.call))
    return absent("Store keys as digests; a file of plain keys is a file of other people's access.", *_http(connector))


def _texts(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1"), node.lineno


def _http(connector: Connector) -> list[Place]:
    return [connector.http] if connector.http is not None else []


RULES: tuple[Rule[Connector], ...] = (
    Rule(
        "CN301", FAMILY, "A key is accepted in X-API-Key",
        "Many clients can set only one plain header.",
        "Read X-API-Key in the door in front of the server.",
        api_key, essential=True,
    ),
    Rule(
        "CN302", FAMILY, "A key is accepted in Authorization: Bearer",
        "Other clients know only the bearer scheme, and the framework strips that header unless asked for it.",
        "Read Authorization in the same door; inside FastMCP ask get_http_headers(include={'authorization'}).",
        bearer, essential=True,
    ),
    Rule(
        "CN303", FAMILY, "One resolver reads both channels",
        "With two doors, a rule that is added to one is missing from the other.",
        "Resolve both headers in one function that every surface passes.",
        one_door, essential=True,
    ),
    Rule(
        "CN304", FAMILY, "A refusal is a real 401 with WWW-Authenticate",
        "A refusal inside a 200 looks to a client like a tool that failed, so it never asks for a key.",
        "Answer before MCP does: status 401, WWW-Authenticate, a JSON-RPC error that says how to send a key.",
        real_refusal,
    ),
    Rule(
        "CN305", FAMILY, "Credentials that disagree are refused",
        "When one silently wins, a caller acts under a name that is not theirs.",
        "Compare the two and answer 400 when they differ.",
        refuses_conflict,
    ),
    Rule(
        "CN306", FAMILY, "No credential is read from the query string",
        "Addresses are written to the logs of every machine between.",
        "Refuse such a request.",
        nothing_in_the_query,
    ),
    Rule(
        "CN307", FAMILY, "Keys are kept as digests",
        "A stored key can be stolen and used; a stored digest cannot.",
        "Store hashlib.sha256(key), compare with hmac.compare_digest.",
        keeps_digests,
    ),
)  # fmt: skip
