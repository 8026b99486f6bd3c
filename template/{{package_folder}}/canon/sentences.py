"""What the canon says to people, in each language a connector can have."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .errors import Code, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """The sentences of one language. Both languages hold the same keys and the same placeholders."""

    codes: Mapping[Code, str]
    reasons: Mapping[Reason, str]
    wrong_arguments: str
    unknown_arguments: str
    unknown_tool: str
    wrong_cursor: str
    as_of_note: str
    coverage: str
    how_to_send: str
    key_missing: str
    key_unknown: str
    key_in_address: str
    keys_disagree: str
    caller_refused: str
    identity_missing: str
    keys_unreadable: str
    settings: Mapping[str, str]
    counts: str
    tool_columns: tuple[str, ...]
    setting_columns: tuple[str, ...]
    argument_columns: tuple[str, ...]
    yes_no: Mapping[bool, str]
    reference_note: str

    def of(self, code: Code, reason: Reason | None) -> str:
        """Return the sentence for a failure that brings none of its own."""
        return self.reasons[reason] if reason is not None else self.codes[code]


ENGLISH: Final = Sentences(
    codes={
        Code.NOT_FOUND: "There is nothing of that name.",
        Code.INVALID_INPUT: "The request is wrong.",
        Code.UPSTREAM_UNAVAILABLE: "The source of the records does not answer.",
        Code.RATE_LIMITED: "Too many requests at once; wait before the next one.",
        Code.FORBIDDEN: "This caller may not do that.",
        Code.PARTIAL_RESULT: "Only a part of the data can be returned.",
    },
    reasons={
        Reason.STARTING: "The connector is still starting; ask again in a few seconds.",
        Reason.AUDIT: "The audit log cannot be written, so no call is answered.",
        Reason.INTERNAL: "The connector failed; its local log holds the reason.",
        Reason.UNREACHABLE: "The source of the records cannot be reached.",
        Reason.TIMEOUT: "The source of the records took too long to answer.",
        Reason.UPSTREAM_ERROR: "The source of the records answered with an error.",
        Reason.CREDENTIAL: "The source of the records does not accept the connector's own credential.",
        Reason.MALFORMED: "The source of the records sent an answer that cannot be read.",
        Reason.UNREADABLE: "The stored records cannot be read; they may have to be fetched again.",
        Reason.TOO_LARGE: "The answer is too large to be returned whole.",
    },
    wrong_arguments="Wrong arguments: {fields}.",
    unknown_arguments="arguments that this tool does not have",
    unknown_tool="There is no tool of that name; the list of tools holds the right ones.",
    wrong_cursor="The cursor belongs to another search or to none; search again without one.",
    as_of_note="The dates say when the data was captured, not that it still holds.",
    coverage="Records: {records}; families: {families}; known gaps: {gaps}.",
    how_to_send="Send one key, in the header X-API-Key or as Authorization: Bearer.",
    key_missing="A key is needed.",
    key_unknown="The key is not known.",
    key_in_address="A credential in the address ends up in logs, so it is refused.",
    keys_disagree="The request carries credentials that disagree.",
    caller_refused="The key is known, but its owner may not use this server.",
    identity_missing="The token names no organisation and user that can be recorded.",
    keys_unreadable="Credentials cannot be checked now; try again later.",
    settings={
        "provider": "Where the records come from. Nothing falls back from one to another.",
        "base_url": "Address of the live source, for `live` and for `sync`.",
        "upstream_token": "Credential for the live source, sent as a bearer token.",
        "database": "File or address of the stored records; unset, a file in the user's data folder.",
        "api_keys_file": "File of the keys that the HTTP server accepts; unset, in the user's configuration folder.",
        "owner": "The one user whose keys are admitted; other known callers get 403.",
        "audit_dir": "Folder of `audit.jsonl`; unset, in the user's state folder.",
        "audit_fsync": "Wait for the disk after each audit line.",
        "public_hosts": "Host names under which clients reach the HTTP server, separated by commas.",
        "otlp_endpoint": "Full address of an OTLP/HTTP trace collector; unset, no span is made.",
        "otlp_headers": "Headers for the collector, as `name=value,name=value`.",
        "log_level": "What the log on stderr holds.",
        "jwt_jwks_url": "Keys of the identity provider; unset, tokens are not accepted.",
        "jwt_issuer": "The `iss` that a token must carry.",
        "jwt_audience": "The `aud` that a token must carry.",
    },
    counts="{tools} tools and {resources} resources.",
    tool_columns=("Tool or resource", "What it does"),
    setting_columns=("Variable", "Default", "What it sets"),
    argument_columns=("Argument", "Type", "Required", "Meaning"),
    yes_no={True: "yes", False: "no"},
    reference_note="Written by `describe --write` from the running server.",
)

POLISH: Final = Sentences(
    codes={
        Code.NOT_FOUND: "Nie ma niczego o tej nazwie.",
        Code.INVALID_INPUT: "Zapytanie jest błędne.",
        Code.UPSTREAM_UNAVAILABLE: "Źródło rekordów nie odpowiada.",
        Code.RATE_LIMITED: "Zbyt wiele zapytań naraz; odczekaj przed następnym.",
        Code.FORBIDDEN: "Ten użytkownik nie ma do tego prawa.",
        Code.PARTIAL_RESULT: "Można zwrócić tylko część danych.",
    },
    reasons={
        Reason.STARTING: "Konektor dopiero startuje; ponów zapytanie za kilka sekund.",
        Reason.AUDIT: "Nie można zapisać dziennika audytu, więc żadne wywołanie nie dostanie odpowiedzi.",
        Reason.INTERNAL: "Konektor zawiódł; przyczyna jest w jego lokalnym dzienniku.",
        Reason.UNREACHABLE: "Nie można połączyć się ze źródłem rekordów.",
        Reason.TIMEOUT: "Źródło rekordów odpowiadało zbyt długo.",
        Reason.UPSTREAM_ERROR: "Źródło rekordów odpowiedziało błędem.",
        Reason.CREDENTIAL: "Źródło rekordów nie przyjmuje poświadczenia konektora.",
        Reason.MALFORMED: "Źródło rekordów przysłało odpowiedź, której nie da się odczytać.",
        Reason.UNREADABLE: "Nie można odczytać zapisanych rekordów; może trzeba je pobrać ponownie.",
        Reason.TOO_LARGE: "Odpowiedź jest zbyt duża, aby zwrócić ją w całości.",
    },
    wrong_arguments="Błędne argumenty: {fields}.",
    unknown_arguments="argumenty, których to narzędzie nie ma",
    unknown_tool="Nie ma narzędzia o tej nazwie; właściwe nazwy są na liście narzędzi.",
    wrong_cursor="Kursor należy do innego wyszukiwania albo do żadnego; szukaj ponownie bez kursora.",
    as_of_note="Daty mówią, kiedy dane pobrano, a nie że są nadal aktualne.",
    coverage="Rekordy: {records}; rodziny: {families}; znane luki: {gaps}.",
    how_to_send="Wyślij jeden klucz, w nagłówku X-API-Key albo jako Authorization: Bearer.",
    key_missing="Potrzebny jest klucz.",
    key_unknown="Ten klucz nie jest znany.",
    key_in_address="Poświadczenie w adresie trafia do dzienników, więc jest odrzucane.",
    keys_disagree="Zapytanie niesie sprzeczne poświadczenia.",
    caller_refused="Klucz jest znany, ale jego właściciel nie ma dostępu do tego serwera.",
    identity_missing="Token nie wskazuje organizacji i użytkownika, których można zapisać.",
    keys_unreadable="Nie można teraz sprawdzić poświadczeń; spróbuj później.",
    settings={
        "provider": "Skąd pochodzą rekordy. Żadne źródło nie zastępuje samo innego.",
        "base_url": "Adres źródła na żywo, dla `live` i dla `sync`.",
        "upstream_token": "Poświadczenie do źródła na żywo, wysyłane jako token bearer.",
        "database": "Plik albo adres zapisanych rekordów; bez ustawienia plik w folderze danych użytkownika.",
        "api_keys_file": "Plik kluczy, które przyjmuje serwer HTTP; bez ustawienia w konfiguracji użytkownika.",
        "owner": "Jedyny użytkownik, którego klucze są wpuszczane; inni znani dostają 403.",
        "audit_dir": "Folder pliku `audit.jsonl`; bez ustawienia w folderze stanu użytkownika.",
        "audit_fsync": "Czekanie na dysk po każdym wierszu audytu.",
        "public_hosts": "Nazwy hostów, pod którymi klienci widzą serwer HTTP, rozdzielone przecinkami.",
        "otlp_endpoint": "Pełny adres kolektora śladów OTLP/HTTP; bez ustawienia nie powstaje żaden span.",
        "otlp_headers": "Nagłówki dla kolektora, w postaci `nazwa=wartość,nazwa=wartość`.",
        "log_level": "Co trafia do dziennika na stderr.",
        "jwt_jwks_url": "Klucze dostawcy tożsamości; bez ustawienia tokeny nie są przyjmowane.",
        "jwt_issuer": "Wartość `iss`, którą musi nieść token.",
        "jwt_audience": "Wartość `aud`, którą musi nieść token.",
    },
    counts="Narzędzia: {tools}; zasoby: {resources}.",
    tool_columns=("Narzędzie lub zasób", "Co robi"),
    setting_columns=("Zmienna", "Domyślnie", "Co ustawia"),
    argument_columns=("Argument", "Typ", "Wymagany", "Znaczenie"),
    yes_no={True: "tak", False: "nie"},
    reference_note="Zapisane przez `describe --write` na podstawie działającego serwera.",
)

LANGUAGES: Final[Mapping[str, Sentences]] = {"en": ENGLISH, "pl": POLISH}
