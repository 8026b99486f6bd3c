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
from connector_canon.rules.shared import guards, place, values_of

FAMILY = Family("3", "Two channels, one door", "door")
API_KEY = "x-api-key"
BEARER = "authorization"
QUERY_NAMES = re.compile(r"^(?:x-)?(?:api[_-]?key|key|token|access_token)$", re.IGNORECASE)
SECRETS = re.compile(r"key|secret|token|credential|password", re.IGNORECASE)
HOST_GUARDS = (
    "host_origin_protection",
    "TrustedHostMiddleware",
    "transport_security",
    "TransportSecuritySettings",
    "allowed_hosts",
)
ANSWERS_WITH = re.compile(r"Response$|^Headers$|^[a-z]*request$|^build_request$|^verify|^auth", re.IGNORECASE)
DIGESTS = re.compile(r"digest|sha\d+|hash", re.IGNORECASE)
DISAGREE = re.compile(r"conflict|disagree|differ|mismatch|ambigu|several|multiple|both|compare_digest", re.IGNORECASE)
SERVES_METADATA = re.compile(r"Auth(?:Provider|Proxy|Settings)|protected_resource|OAuth\w*\(")


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
        (m, node)
        for m in connector.running("uthenticate")
        for value, node in _texts(m)
        if value.lower() == "www-authenticate"
    ]
    if not challenges:
        return absent("Answer a missing or wrong credential with HTTP 401 and WWW-Authenticate.", *_http(connector))
    places = [place(m, node) for m, node in challenges][:3]
    if not any(_goes_with_401(m, node) for m, node in challenges):
        return absent("The challenge goes with another status; a missing or wrong credential is a 401.", *places)
    modules = list(dict.fromkeys(m for m, _ in challenges))
    numbered = [place(m, node) for m in modules for node in m.nodes(ast.Dict) if _answers_a_request(node)]
    if numbered:
        return absent("Clients show why they were refused only when the error's id is null.", *numbered)
    dangling = _metadata_nobody_serves(connector, modules)
    if dangling:
        return absent("The challenge leads clients to metadata that nobody serves; leave it out.", *dangling)
    return present("A refusal carries WWW-Authenticate.", *places)


def _goes_with_401(module: Module, node: ast.AST) -> bool:
    """Whether no condition around a challenge asks for other statuses alone."""
    for guard in guards(module, node):
        match guard.test:
            case ast.Compare(ops=[ast.Eq() | ast.In()]):
                statuses = {n.value for n in ast.walk(guard.test) if isinstance(n, ast.Constant)}
                refusals = {s for s in statuses if isinstance(s, int) and 400 <= s < 600}
                if refusals and 401 not in refusals:
                    return False
    return True


def _answers_a_request(node: ast.Dict) -> bool:
    """Whether this is a JSON-RPC error with an id of its own."""
    written = {k.value: v for k, v in zip(node.keys, node.values, strict=True) if isinstance(k, ast.Constant)}
    given = written.get("id")
    return {"jsonrpc", "error"} <= written.keys() and isinstance(given, ast.Constant) and given.value is not None


def _metadata_nobody_serves(connector: Connector, modules: list[Module]) -> list[Place]:
    """Return where a challenge names resource metadata that no route and no identity provider of the project serves."""
    named = [place(m, node) for m in modules for value, node in _texts(m) if "resource_metadata=" in value]
    if not named or any(SERVES_METADATA.search(m.text) for m in connector.running("Auth", "protected_resource")):
        return []
    for module in connector.running("oauth-protected-resource"):
        if any("oauth-protected-resource" in v and "resource_metadata" not in v for v, _ in _texts(module)):
            return []
    return named


def refuses_conflict(connector: Connector) -> Answer:
    """Look for a 400 in the module that reads both channels."""
    if (answer := _stdio(connector)) is not None:
        return answer
    both = {p.path for p in _reads(connector, API_KEY)} & {p.path for p in _reads(connector, BEARER)}
    if not both:
        return not_applicable("No single place reads both channels.")
    for module in connector.running("400", "BAD_REQUEST"):
        if module.shown in both:
            for node in _bad_requests(module):
                around = guards(module, node)
                if not around or any(_tells_apart(guard.test, module) for guard in around):
                    return present("Two credentials that disagree are refused with 400.", place(module, node))
    return absent("Refuse two credentials that disagree with 400 instead of letting one win.", Place(sorted(both)[0]))


def _bad_requests(module: Module) -> Iterator[ast.expr]:
    """Yield where functions of a module answer 400, written as a number, a status or a name for one."""
    inside = {id(n) for scope in module.scopes.values() if scope.node is not None for n in ast.walk(scope.node)}
    for node in module.nodes(ast.Constant, ast.Attribute, ast.Name):
        match node:
            case ast.Constant(value=400):
                found = True
            case ast.Attribute(attr=name) | ast.Name(id=name) if name in {"BAD_REQUEST", "HTTP_400_BAD_REQUEST"}:
                found = True
            case _:
                found = False
        if found and id(node) in inside:
            yield node


def _tells_apart(test: ast.expr, module: Module) -> bool:
    """Whether a condition can hold because two credentials differ."""
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=left, ops=[ast.NotEq() | ast.Eq()], comparators=[right]):
                if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                    return True
                if _is_count(left, module) and isinstance(node.ops[0], ast.NotEq):
                    return True
            case ast.Compare(left=left, ops=[ast.Gt()], comparators=[ast.Constant(value=1)]):
                if _is_count(left, module):
                    return True
            case ast.Compare(left=left, ops=[ast.GtE()], comparators=[ast.Constant(value=2)]):
                if _is_count(left, module):
                    return True
            case ast.BoolOp(op=ast.And(), values=values):
                if sum(isinstance(v, ast.Name | ast.Attribute) for v in values) >= 2:
                    return True
            case ast.Name(id=name) | ast.Attribute(attr=name) if DISAGREE.search(name):
                return True
    return False


def _is_count(node: ast.expr, module: Module) -> bool:
    """Whether this counts different credentials; a list counts one that was sent twice as two."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[counted]):
            values = values_of(module, counted.id) if isinstance(counted, ast.Name) else [counted]
            return not values or not all(isinstance(v, ast.List | ast.ListComp) for v in values)
    return False


def nothing_in_the_query(connector: Connector) -> Answer:
    """Look for a credential that is read from the query string."""
    if (answer := _stdio(connector)) is not None:
        return answer
    for module in connector.running("query_params", "query_string", "parse_qs"):
        for node in module.nodes(ast.Call, ast.Subscript, ast.ListComp, ast.SetComp, ast.GeneratorExp):
            if _takes_from_query(node, module) and not _is_refused(node, module):
                return absent("Do not take a credential from the query string: it lands in logs.", place(module, node))
    return present("No credential is read from the query string.")


def _takes_from_query(node: ast.AST, module: Module) -> bool:
    """Whether the value of a credential's name is taken from the query, by its name or by going through all."""
    match node:
        case ast.Call(
            func=ast.Attribute(attr="get" | "getlist", value=holder), args=[ast.Constant(value=str() as name), *_]
        ):
            return bool(QUERY_NAMES.match(name)) and _is_query(holder, module)
        case ast.Subscript(value=holder, slice=ast.Constant(value=str() as name), ctx=ast.Load()):
            return bool(QUERY_NAMES.match(name)) and _is_query(holder, module)
        case (
            ast.ListComp(elt=taken, generators=[gone])
            | ast.SetComp(elt=taken, generators=[gone])
            | ast.GeneratorExp(elt=taken, generators=[gone])
        ):
            if not isinstance(gone.target, ast.Tuple) or not _is_query(gone.iter, module):
                return False
            values = {n.id for n in ast.walk(gone.target.elts[-1]) if isinstance(n, ast.Name)}
            used = {n.id for n in ast.walk(taken) if isinstance(n, ast.Name)}
            return bool(values & used) and any(_asks_for_credential(condition, module) for condition in gone.ifs)
    return False


def _is_query(node: ast.expr, module: Module) -> bool:
    written = [node, *(v for n in ast.walk(node) if isinstance(n, ast.Name) for v in values_of(module, n.id))]
    return any(re.search(r"query_params|parse_qsl?\(", ast.unparse(part)) for part in written)


def _asks_for_credential(condition: ast.expr, module: Module) -> bool:
    named = [v for n in ast.walk(condition) if isinstance(n, ast.Name) for v in values_of(module, n.id)]
    constants = [n.value for part in (condition, *named) for n in ast.walk(part) if isinstance(n, ast.Constant)]
    return any(isinstance(value, str) and QUERY_NAMES.match(value) for value in constants)


def _is_refused(node: ast.AST, module: Module) -> bool:
    """Whether the query is looked at only to refuse the request."""
    for condition in module.nodes(ast.If):
        if any(inner is node for inner in ast.walk(condition.test)):
            answers = {n.value for s in condition.body for n in ast.walk(s) if isinstance(n, ast.Constant)}
            return isinstance(condition.body[-1], ast.Raise) or bool(answers & {400, 401, 403})
    return False


def keeps_digests(connector: Connector) -> Answer:
    """Look whether keys are compared by digest in constant time."""
    if (answer := _stdio(connector)) is not None:
        return answer
    if not _reads(connector, API_KEY) and not _reads(connector, BEARER):
        return not_applicable("No key is read.")
    beside = [p for m in connector.running("digest", "sha256", "hash") for p in _kept_beside_its_digest(m)]
    if beside:
        return absent("A record that holds the digest of a key holds the key itself too; leave it out.", *beside)
    for module in connector.running("sha256", "blake2", "argon2", "scrypt", "bcrypt"):
        for site in module.calls:
            if last_name(site.call.func) in {"sha256", "blake2b", "blake2s", "scrypt", "verify", "checkpw"} and (
                module.mentions("key", "token", "credential") and "audit" not in module.path.name
            ):
                return present("Keys are stored and compared as digests.", place(module, site.call))
    return absent("Store keys as digests; a file of plain keys is a file of other people's access.", *_http(connector))


def credential_stays(connector: Connector) -> Answer:
    """Look for headers of the caller's request that are sent on."""
    if (answer := _stdio(connector)) is not None:
        return answer
    sent = [
        place(module, keyword.value)
        for module in connector.running("headers")
        for site in module.calls
        if not ANSWERS_WITH.search(last_name(site.call.func))
        for keyword in site.call.keywords
        if keyword.arg == "headers" and _is_inbound(keyword.value, module)
    ]
    if sent:
        return absent("Send the source a credential of the connector's own; the caller's goes no further.", *sent)
    return present("No header of a caller is sent on.")


def _is_inbound(node: ast.expr, module: Module) -> bool:
    """Whether these are the headers of the request that is being answered."""
    named = [v for n in ast.walk(node) if isinstance(n, ast.Name) for v in values_of(module, n.id)]
    for part in (node, *named):
        for inner in ast.walk(part):
            match inner:
                case ast.Call(func=func) if last_name(func) == "get_http_headers":
                    return True
                case ast.Attribute(attr="headers", value=holder) if re.search(
                    r"(?:^|\.)(?:request|req)$|get_http_request\(\)$", ast.unparse(holder)
                ):
                    return inner is part or not _picks_harmless(part)
    return False


def _picks_harmless(node: ast.expr) -> bool:
    """Whether only headers that carry no credential are taken over."""
    names = [n.value.lower() for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return bool(names) and not any(name in {API_KEY, BEARER, "cookie"} for name in names)


def hosts_checked(connector: Connector) -> Answer:
    """Look for something that refuses a request whose Host nobody named."""
    if (answer := _stdio(connector)) is not None:
        return answer
    modules = connector.running(*HOST_GUARDS)
    given = [(m, k) for m in modules for k in m.nodes(ast.keyword) if k.arg in HOST_GUARDS]
    off = [
        place(m, k.value)
        for m, k in given
        if k.arg == "host_origin_protection" and isinstance(k.value, ast.Constant) and not k.value.value
    ]
    named = [place(m, n) for m in modules for n in m.nodes(ast.Name) if n.id in HOST_GUARDS]
    if not off and (given or named):
        return present("Hosts that nobody named are refused.", *([place(m, k.value) for m, k in given] + named)[:3])
    return absent(
        "Refuse a Host header that nobody named: any page a browser shows can reach a server on this machine.",
        *(off or _http(connector)),
    )


def callers_apart(connector: Connector) -> Answer:
    """Look for an access token that is the same for all callers."""
    made = [s for m in connector.running("AccessToken") for s in m.calls if last_name(s.call.func) == "AccessToken"]
    if (answer := _stdio(connector)) is not None:
        return answer
    if not made:
        return not_applicable("The project makes no access token of its own.")
    shared = [
        place(s.module, k.value)
        for s in made
        for k in s.call.keywords
        if k.arg == "token" and isinstance(k.value, ast.Constant)
    ]
    if shared:
        return absent("Give each caller a token of their own, such as the digest of their key.", *shared)
    return present("Each caller has an access token of their own.", place(made[0].module, made[0].call))


def _kept_beside_its_digest(module: Module) -> Iterator[Place]:
    """Yield the records that are given a secret and the digest of the same secret."""
    records: list[ast.Call | ast.Dict] = [*module.nodes(ast.Call), *module.nodes(ast.Dict)]
    for node in records:
        values = node.values if isinstance(node, ast.Dict) else [k.value for k in node.keywords]
        digested = {
            argument.id
            for value in values
            for call in ast.walk(value)
            if isinstance(call, ast.Call) and DIGESTS.search(last_name(call.func))
            for argument in ast.walk(call)
            if isinstance(argument, ast.Name) and SECRETS.search(argument.id)
        }
        if any(isinstance(value, ast.Name) and value.id in digested for value in values):
            yield place(module, node)


def _texts(module: Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.nodes(ast.Constant):
        if isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1"), node


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
    Rule(
        "CN310", FAMILY, "The inbound credential goes no further",
        "A source that is sent the caller's key can act as the caller here, and so can whoever reads its logs.",
        "Give the connector a credential of its own for the source, and take the inbound one out of the request.",
        credential_stays,
    ),
    Rule(
        "CN311", FAMILY, "Hosts that nobody named are refused",
        "A page in a browser can give its own name the address of this machine and talk to the server.",
        "Pass host_origin_protection=True and the allowed hosts to http_app(), or use TrustedHostMiddleware.",
        hosts_checked,
    ),
    Rule(
        "CN312", FAMILY, "Each caller has an access token of their own",
        "The framework keeps answers by that token: with one for all, a caller receives another's.",
        "Build AccessToken(token=…) from the digest of the caller's key.",
        callers_apart,
    ),
)  # fmt: skip
