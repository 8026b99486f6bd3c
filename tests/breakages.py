"""Ways to break a connector, each with the gates of the connector that it turns red.

The list answers one question about every gate: can it fail? An edit is made in a default rendering.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Element = Literal[
    "1 instructions",
    "2 drift",
    "3 door",
    "4 caller",
    "5 annotations",
    "6 codes and states",
    "7 allow-list",
    "8 capability",
    "9 coverage",
    "audit",
    "documents",
    "imports",
    "prose and JSON",
    "release and CI",
    "secrets",
    "sizes",
    "stdio and settings",
]

PACKAGE: Final = "eu_digital_acts"
SOURCE: Final = f"src/{PACKAGE}"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one file. The old text occurs in it exactly once."""

    file: str
    old: str
    new: str

    def apply(self, project: Path) -> None:
        """Make the change."""
        path = project / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file} holds this {text.count(self.old)} times:\n{self.old}"
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Breakage:
    """What somebody does wrong, and every gate that it turns red."""

    name: str
    element: Element
    edits: tuple[Edit, ...]
    gates: tuple[str, ...]


def canon(module: str, old: str, new: str) -> Edit:
    """Return a change of the template's wing."""
    return Edit(f"{SOURCE}/canon/{module}.py", old, new)


def acts(module: str, old: str, new: str) -> Edit:
    """Return a change of the capability."""
    return Edit(f"{SOURCE}/acts/{module}.py", old, new)


def own(module: str, old: str, new: str) -> Edit:
    """Return a change of what stands beside them."""
    return Edit(f"{SOURCE}/{module}.py", old, new)


def workflow(name: str, old: str, new: str) -> Edit:
    """Return a change of a workflow."""
    return Edit(f".github/workflows/{name}.yml", old, new)


def breakage(name: str, element: Element, *parts: Edit | str) -> Breakage:
    """Return a row: its edits, then its gates as `file::test`."""
    edits = tuple(part for part in parts if isinstance(part, Edit))
    gates = tuple(_node(part) for part in parts if isinstance(part, str))
    return Breakage(name, element, edits, gates)


def _node(gate: str) -> str:
    file, _, test = gate.partition("::")
    return f"tests/{'' if file.startswith('test_acts') else 'canon/'}{file}.py::{test}"


BREAKAGES: Final = (
    breakage(
        "an over-long text is cut instead of refused",
        "1 instructions",
        canon(
            "instructions",
            """        raise ConfigurationError(f"{what} has {size} bytes and clients read {BYTE_LIMIT}: shorten it.")
""",
            """        return text.encode()[:BYTE_LIMIT].decode(errors="ignore")
""",
        ),
        "test_instructions::test_text_that_is_too_long_is_refused_and_not_cut",
    ),
    breakage(
        "the limit is twice what clients read",
        "1 instructions",
        canon("instructions", "BYTE_LIMIT: Final = 2_048", "BYTE_LIMIT: Final = 4_096"),
        "test_instructions::test_text_that_is_too_long_is_refused_and_not_cut",
    ),
    breakage(
        "the opening does not say what degraded means",
        "1 instructions",
        own("instructions", "degraded is a part, and coverage ", "a part comes with a coverage that "),
        "test_instructions::test_the_opening_stands_alone",
    ),
    breakage(
        "one era receives no instructions",
        "1 instructions",
        canon(
            "boundary",
            """            return await call_next(context)
        except BaseException as error:
            if _ends(error):
                raise
            if context.method""",
            """            answer = await call_next(context)
            if context.method == "initialize":
                answer = answer.model_copy(update={"instructions": None})
            return answer
        except BaseException as error:
            if _ends(error):
                raise
            if context.method""",
        ),
        "test_instructions::test_both_eras_receive_the_instructions",
        "test_auth::test_both_channels_open_every_surface",
    ),
    breakage(
        "the instructions list error codes",
        "1 instructions",
        own("instructions", "wait as long as the detail says,", "after rate_limited wait as long as the detail says,"),
        "test_instructions::test_instructions_leave_the_codes_to_the_descriptions",
    ),
    breakage(
        "the instructions name a ghost",
        "2 drift",
        own("instructions", "Never guess an identifier.", "For its text, call fetch_text(id=...)."),
        "test_instructions::test_instructions_name_no_tool_that_is_not_there",
    ),
    breakage(
        "the instructions quote a ghost of one word",
        "2 drift",
        own("instructions", "Never guess an identifier.", "Then call `summarise`."),
        "test_instructions::test_instructions_name_no_tool_that_is_not_there",
    ),
    breakage(
        "a tool is not mentioned",
        "2 drift",
        own("instructions", "search_acts to find identifiers; then ", "identifiers come from a search; then "),
        "test_instructions::test_instructions_name_every_tool",
    ),
    breakage(
        "a tool's name stands only inside another",
        "2 drift",
        own("instructions", "read_act(id=...) for one of them", "read_act_text(id=...) for one of them"),
        "test_instructions::test_instructions_name_every_tool",
        "test_instructions::test_instructions_name_no_tool_that_is_not_there",
    ),
    breakage(
        "a code is returned below the tool and not described",
        "2 drift",
        acts(
            "providers/fixture",
            "raise no_such_record(identifier)",
            'raise no_such_record(identifier) if identifier.value[0] == "3" else ConnectorError(Code.FORBIDDEN)',
        ),
        acts(
            "providers/fixture",
            "from ..definition import FAMILY",
            "from ...canon.errors import Code, ConnectorError\nfrom ..definition import FAMILY",
        ),
        "test_instructions::test_every_code_that_a_tool_can_return_stands_in_its_description",
    ),
    breakage(
        "a tool is degraded and its description does not say so",
        "2 drift",
        acts("words", "`partial_result` some records of the page cannot be read, `coverage` counts them; ", ""),
        Edit(
            "docs/mcp-server.md",
            "`partial_result` some records of the page cannot be read, `coverage` counts them; ",
            "",
        ),
        "test_instructions::test_every_code_that_a_tool_can_return_stands_in_its_description",
    ),
    breakage(
        "a description names a code that does not exist",
        "2 drift",
        acts("words", "`not_found` there is none", "`gone` it was withdrawn; `not_found` there is none"),
        Edit(
            "docs/mcp-server.md",
            "`not_found` there is none",
            "`gone` it was withdrawn; `not_found` there is none",
        ),
        "test_instructions::test_descriptions_name_no_code_that_does_not_exist",
    ),
    breakage(
        "a blank is a credential",
        "3 door",
        canon("auth", "found = {value for value in (*keys, *bearers) if value}", "found = {*keys, *bearers}"),
        "test_auth::test_a_blank_is_no_credential",
    ),
    breakage(
        "without any key everybody is admitted",
        "3 door",
        canon(
            "auth",
            """        key = self._keys.find(token)
""",
            """        if not self._keys.all():
            return _access(digest(token), Caller("anyone", "anyone"))
        key = self._keys.find(token)
""",
        ),
        "test_auth::test_without_any_key_nothing_opens",
        "test_auth::test_a_revoked_key_is_refused_at_once",
    ),
    breakage(
        "the door reads the query",
        "3 door",
        canon(
            "auth",
            '    keys = _header(scope, b"x-api-key")\n',
            """    query = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
    keys = _header(scope, b"x-api-key") + [value for name, value in query if name.lower() in QUERY_CREDENTIALS]
""",
        ),
        canon("auth", "            refuse_credential_in_address(scope, self.door.sentences)\n", ""),
        "test_auth::test_a_credential_in_the_address_is_refused",
        "test_auth::test_a_key_in_the_address_is_refused_whatever_it_is_called",
    ),
    breakage(
        "a key in the address is known by its name alone",
        "3 door",
        canon("auth", " or KEY.search(name + value) for name, value in query", " for name, _ in query"),
        "test_auth::test_a_key_in_the_address_is_refused_whatever_it_is_called",
    ),
    breakage(
        "a query has one separator",
        "3 door",
        canon("auth", '.replace(";", "&"), keep', ", keep"),
        "test_auth::test_a_credential_is_found_behind_either_separator_of_a_query",
    ),
    breakage(
        "nobody hears why nobody is let in",
        "3 door",
        canon("auth", "            self._say(str(error))\n", ""),
        "test_auth::test_what_keeps_everybody_out_is_in_the_log_once",
    ),
    breakage(
        "the door stands before one path alone",
        "3 door",
        canon(
            "auth",
            "        if path in self.door.open_paths:",
            '        if path in self.door.open_paths or not path.startswith("/mcp"):',
        ),
        "test_auth::test_no_surface_opens_without_the_right_key",
        "test_auth::test_a_host_application_can_mount_it_before_its_provider_is_there",
    ),
    breakage(
        "the stream is open",
        "3 door",
        canon(
            "auth",
            "        if path in self.door.open_paths:",
            '        if path in self.door.open_paths or (path == "/mcp" and scope["method"] == "GET"):',
        ),
        "test_auth::test_no_surface_opens_without_the_right_key",
    ),
    breakage(
        "a 401 does not say how to authenticate",
        "3 door",
        canon("auth", "if refusal.status in (401, 403):", "if refusal.status == 403:"),
        "test_auth::test_no_surface_opens_without_the_right_key",
    ),
    breakage(
        "the challenge points to resource metadata",
        "3 door",
        canon(
            "auth",
            "            if refusal.challenge:",
            """            challenge += ', resource_metadata="/.well-known/oauth-protected-resource"'
            if refusal.challenge:""",
        ),
        "test_auth::test_no_surface_opens_without_the_right_key",
    ),
    breakage(
        "the answer of the door has an id",
        "3 door",
        canon("auth", '"id": None, "error": error', '"id": 0, "error": error'),
        "test_auth::test_no_surface_opens_without_the_right_key",
        "test_auth::test_a_known_caller_who_may_not_gets_403",
    ),
    breakage(
        "one of two credentials wins in silence",
        "3 door",
        canon("auth", "    if len(found) > 1:\n", "    if len(found) > 2:\n"),
        "test_auth::test_credentials_that_disagree_are_refused",
    ),
    breakage(
        "probes for an identity provider are asked for a key",
        "3 door",
        canon("auth", "if path in OAUTH_PATHS or path.startswith(WELL_KNOWN):", "if path in OAUTH_PATHS:"),
        "test_auth::test_clients_find_no_identity_provider",
        "test_auth::test_a_host_application_can_mount_it_before_its_provider_is_there",
    ),
    breakage(
        "whoever is known is admitted",
        "3 door",
        own(
            "server",
            "admits=lambda caller: settings.owner in (None, caller.user_id),",
            "admits=lambda caller: bool(caller.user_id),",
        ),
        "test_auth::test_a_known_caller_who_may_not_gets_403",
    ),
    breakage(
        "all callers share one access token",
        "3 door",
        canon("auth", 'token=f"sha256:{fingerprint}"', 'token="admitted"'),
        "test_auth::test_callers_are_told_apart_and_not_by_their_keys",
    ),
    breakage(
        "the credential is left in the request",
        "3 door",
        canon(
            "auth",
            """        _take_credentials(scope)
        # FastMCP's own""",
            """        # FastMCP's own""",
        ),
        "test_auth::test_the_credential_goes_no_further",
    ),
    breakage(
        "a cookie is left in the request",
        "3 door",
        canon(
            "auth", 'b"authorization", b"cookie", b"proxy-authorization"', 'b"authorization", b"proxy-authorization"'
        ),
        "test_auth::test_the_credential_goes_no_further",
    ),
    breakage(
        "inbound headers are sent upstream",
        "3 door",
        canon(
            "upstream",
            'self._client.stream("GET", url)',
            'self._client.stream("GET", url, headers=get_http_headers(include={"authorization"}))',
        ),
        canon(
            "upstream", "import httpx2\n", "import httpx2\nfrom fastmcp.server.dependencies import get_http_headers\n"
        ),
        "test_auth::test_nothing_reads_inbound_headers",
        "test_acts::test_nothing_of_a_caller_reaches_the_source",
    ),
    breakage(
        "a key is stored as it is",
        "3 door",
        canon("keys", "sha256=digest(secret),", "sha256=digest(secret), secret=secret,"),
        canon("keys", "    sha256: str\n", '    sha256: str\n    secret: str = ""\n'),
        "test_auth::test_a_key_is_stored_as_a_digest_alone",
    ),
    breakage(
        "a key file that is broken holds no keys",
        "3 door",
        canon(
            "keys",
            """        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(
                "The key file is not one that `keys mint` wrote: restore it, or move it away and mint new keys."
            ) from None
""",
            """        except (ValueError, KeyError, TypeError, RecursionError):
            return []
""",
        ),
        "test_auth::test_a_broken_key_file_is_a_sentence",
        "test_auth::test_what_keeps_everybody_out_is_in_the_log_once",
        "test_auth::test_a_key_file_that_breaks_later_closes_the_door",
    ),
    breakage(
        "an identity is free text",
        "4 caller",
        canon("identity", "[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}", "[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,63}"),
        "test_auth::test_an_identity_is_no_free_text",
    ),
    breakage(
        "health says more than that",
        "3 door",
        canon("http", 'JSONResponse({"status": "ok"})', 'JSONResponse({"status": "ok", "server": mcp.name})'),
        "test_auth::test_health_is_open_and_says_nothing_else",
    ),
    breakage(
        "the same key on both channels disagrees with itself",
        "3 door",
        canon(
            "auth",
            "found = {value for value in (*keys, *bearers) if value}",
            "found = [value for value in (*keys, *bearers) if value]",
        ),
        "test_auth::test_the_same_key_twice_is_one_credential",
    ),
    breakage(
        "a revoked key opens until the next start",
        "3 door",
        canon("keys", "if stamp != self._stamp:", "if self._stamp is None:"),
        "test_auth::test_a_revoked_key_is_refused_at_once",
    ),
    breakage(
        "the other spelling is redirected",
        "3 door",
        canon(
            "http",
            """    app.router.redirect_slashes = False
    return _BothSpellings(_ExplainRefusedHost(app, variable("public_hosts")))""",
            """    return _ExplainRefusedHost(app, variable("public_hosts"))""",
        ),
        "test_auth::test_both_channels_open_every_surface",
    ),
    breakage(
        "the log does not name the variable of public hosts",
        "3 door",
        canon("http", 'variable("public_hosts")', '"PUBLIC_HOSTS"'),
        "test_auth::test_the_log_names_the_setting_that_would_admit_a_host",
    ),
    breakage(
        "the host guard is off",
        "3 door",
        canon("http", "host_origin_protection=True", "host_origin_protection=False"),
        "test_auth::test_only_hosts_that_are_named_are_served",
    ),
    breakage(
        "sessions bind a client to one replica",
        "3 door",
        canon("http", "stateless_http=True", "stateless_http=False"),
        "test_auth::test_any_replica_answers_any_request",
        "test_telemetry::test_every_call_is_exported_with_its_caller",
        "test_audit::test_a_call_that_cannot_be_read_writes_a_line",
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
        "test_acts::test_nothing_of_a_caller_reaches_the_source",
    ),
    breakage(
        "the organisation is not on the span",
        "4 caller",
        canon("telemetry", '            "mcp.org_id": call.org_id,\n', ""),
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
        "test_telemetry::test_every_call_is_exported_with_its_caller",
    ),
    breakage(
        "the organisation is named after the server",
        "4 caller",
        canon("telemetry", '"mcp.org_id": call.org_id,', '"eu-digital-acts.org_id": call.org_id,'),
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
        "test_telemetry::test_every_call_is_exported_with_its_caller",
        "test_telemetry::test_no_span_attribute_is_named_after_a_tenant",
    ),
    breakage(
        "over HTTP the caller is the owner of the process",
        "4 caller",
        canon(
            "callers",
            'return Caller(str(token.claims["org_id"]), str(token.claims["user_id"]))',
            "return process_owner()",
        ),
        "test_telemetry::test_every_call_is_exported_with_its_caller",
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
        "test_audit::test_a_call_that_cannot_be_read_writes_a_line",
    ),
    breakage(
        "Langfuse's attribute leaves without its option",
        "4 caller",
        canon("telemetry", "        self._langfuse = langfuse\n", "        self._langfuse = langfuse = True\n"),
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
    ),
    breakage(
        "a hint is missing",
        "5 annotations",
        canon("annotations", "idempotent_hint=True, open_world_hint=open_world\n", "idempotent_hint=True\n"),
        "test_annotations::test_every_tool_has_a_title_and_four_hints",
    ),
    breakage(
        "a read says that it destroys",
        "5 annotations",
        canon(
            "annotations", "read_only_hint=True, destructive_hint=False", "read_only_hint=True, destructive_hint=True"
        ),
        "test_annotations::test_every_tool_has_a_title_and_four_hints",
    ),
    breakage(
        "a tool has no hints at all",
        "5 annotations",
        acts("tools", "        annotations=read_only(words.COVERAGE_TITLE, open_world=True),\n", ""),
        "test_annotations::test_every_tool_has_a_title_and_four_hints",
    ),
    breakage(
        "a tool that reads posts",
        "5 annotations",
        canon("upstream", 'self._client.stream("GET", url)', 'self._client.stream("POST", url)'),
        "test_annotations::test_a_tool_that_reads_reaches_nothing_that_changes",
        "test_acts::test_nothing_of_a_caller_reaches_the_source",
    ),
    breakage(
        "a tool that reads leaves a file behind",
        "5 annotations",
        acts(
            "providers/fixture",
            "        raise no_such_record(identifier)",
            '        Path("missing.txt").write_text(identifier.value)\n        raise no_such_record(identifier)',
        ),
        acts(
            "providers/fixture",
            "from importlib import resources\n",
            "from importlib import resources\nfrom pathlib import Path\n",
        ),
        "test_annotations::test_a_tool_that_reads_reaches_nothing_that_changes",
    ),
    breakage(
        "there is a seventh code",
        "6 codes and states",
        canon(
            "errors",
            '    PARTIAL_RESULT = "partial_result"\n',
            '    PARTIAL_RESULT = "partial_result"\n    TIMEOUT = "timeout"\n',
        ),
        "test_codes::test_the_codes_are_these_six",
        "test_sentences::test_every_code_and_every_reason_has_a_sentence",
        "test_guards::test_no_tool_swallows_a_refusal",
    ),
    breakage(
        "a code is renamed",
        "6 codes and states",
        canon("errors", 'FORBIDDEN = "forbidden"', 'FORBIDDEN = "not_allowed"'),
        "test_codes::test_the_codes_are_these_six",
        "test_codes::test_what_leaves_as_an_error",
    ),
    breakage(
        "an unknown code becomes another",
        "6 codes and states",
        canon(
            "errors",
            """        raise ValueError(f"{value!r} is not a code: use one of {', '.join(cls)}.")""",
            """        return cls.UPSTREAM_UNAVAILABLE""",
        ),
        "test_codes::test_an_unknown_code_cannot_be_made",
        "test_results::test_a_lie_cannot_be_built",
    ),
    breakage(
        "a refused call leaves as an answer",
        "6 codes and states",
        canon(
            "errors", "{Code.INVALID_INPUT, Code.FORBIDDEN, Code.RATE_LIMITED}", "{Code.INVALID_INPUT, Code.FORBIDDEN}"
        ),
        "test_codes::test_what_leaves_as_an_error",
    ),
    breakage(
        "part of the data is raised",
        "6 codes and states",
        canon(
            "errors",
            "        if self.code is Code.PARTIAL_RESULT:\n",
            "        if self.code is Code.PARTIAL_RESULT and not message:\n",
        ),
        "test_codes::test_a_part_of_the_data_is_never_raised",
    ),
    breakage(
        "the published schema forbids an empty choice",
        "6 codes and states",
        canon("results", '{"enum": [*value["enum"], None]}', '{"enum": value["enum"]}'),
        "test_results::test_the_published_schema_takes_what_a_field_can_hold_or_nothing",
        "test_boundary::test_every_answer_is_an_envelope_of_its_published_schema",
        "test_acts::test_a_token_from_a_file_is_sent_without_its_line_end",
        "test_acts::test_records_that_cannot_be_read_are_counted",
        "test_acts::test_a_list_that_ends_is_ok_past_its_end",
        "test_acts::test_what_a_source_wrote_forges_no_line_for_people",
        "test_acts::test_a_record_is_a_sentence_for_people",
        "test_acts::test_coverage_counts_what_the_source_holds_now",
        "test_acts::test_the_cursor_leads_to_every_record_once",
        "test_acts::test_long_records_are_cut_between_and_none_is_lost",
        "test_acts::test_a_cursor_beyond_every_list_is_refused",
        "test_acts::test_one_setting_moves_every_tool",
        "test_audit::test_every_registered_tool_writes_a_line",
        "test_audit::test_who_holds_the_log_up_holds_nothing_else_up",
        "test_audit::test_a_log_that_was_moved_away_is_not_written_to",
        "test_audit::test_a_call_whose_line_cannot_be_written_is_refused",
        "test_boundary::test_text_is_prose_and_structure_is_for_the_agent",
        "test_boundary::test_calls_at_once_keep_apart",
        "test_coverage::test_the_report_names_families_with_counts_and_dates",
        "test_coverage::test_the_report_names_gaps_and_where_to_look_instead",
        "test_coverage::test_a_person_reads_every_gap",
        "test_guards::test_no_tool_swallows_a_refusal",
        "test_results::test_a_field_is_called_the_same_in_an_answer_and_in_its_schema",
        "test_telemetry::test_a_host_keeps_its_own_tracing",
        "test_telemetry::test_a_server_that_starts_again_is_still_seen",
        "test_telemetry::test_without_a_collector_no_span_is_made",
        "test_telemetry::test_the_variables_of_the_sdk_change_nothing",
    ),
    breakage(
        "nine of fourteen is ok",
        "6 codes and states",
        canon(
            "results",
            """            case Status.OK if part:
                raise ValueError("status ok refuses a part of the data: say degraded, with the coverage.")
""",
            "",
        ),
        "test_results::test_a_lie_cannot_be_built",
        "test_results::test_a_copy_cannot_lie_either",
    ),
    breakage(
        "degraded goes without its denominator",
        "6 codes and states",
        canon("results", "case Status.DEGRADED if not part:", "case Status.DEGRADED if self.coverage and not part:"),
        "test_results::test_a_lie_cannot_be_built",
    ),
    breakage(
        "failed carries data",
        "6 codes and states",
        canon(
            "results",
            """            case Status.FAILED if self.data is not None:
                raise ValueError("status failed carries no data.")
""",
            "",
        ),
        "test_results::test_a_lie_cannot_be_built",
    ),
    breakage(
        "the denominator is not in the answer",
        "6 codes and states",
        canon(
            "results",
            'structured_content=envelope.model_dump(mode="json"),',
            'structured_content={**envelope.model_dump(mode="json"), "coverage": None},',
        ),
        "test_results::test_the_denominator_travels_with_the_data",
        "test_acts::test_records_that_cannot_be_read_are_counted",
    ),
    breakage(
        "the envelope has an eighth field",
        "6 codes and states",
        canon(
            "results",
            "    detail: Detail | None = None\n",
            "    detail: Detail | None = None\n    hint: str | None = None\n",
        ),
        "test_results::test_the_whole_envelope_is_there_in_every_state",
    ),
    breakage(
        "how long to wait is lost on the way",
        "6 codes and states",
        canon("results", "        retry_after_seconds=error.retry_after_seconds,\n", ""),
        "test_boundary::test_a_code_reaches_the_client_as_it_was_raised",
    ),
    breakage(
        "an unknown tool is nothing found",
        "6 codes and states",
        canon(
            "boundary",
            "ConnectorError(Code.INVALID_INPUT, self._sentences.unknown_tool)",
            "ConnectorError(Code.NOT_FOUND, self._sentences.unknown_tool)",
        ),
        "test_boundary::test_a_tool_that_is_not_there_is_a_wrong_argument",
        "test_audit::test_refused_failed_and_unknown_calls_write_a_line_too",
    ),
    breakage(
        "a message is as long as somebody writes it",
        "6 codes and states",
        canon("errors", "self.message: Final = one_line(message)", "self.message: Final = message"),
        "test_codes::test_a_message_is_one_short_line",
    ),
    breakage(
        "a cursor that is not ours starts anew",
        "6 codes and states",
        canon("paging", "    raise ConnectorError(Code.INVALID_INPUT, sentences.wrong_cursor)\n", "    return 0\n"),
        "test_surface::test_a_cursor_that_is_not_ours_is_refused",
        "test_surface::test_a_cursor_belongs_to_one_query",
        "test_acts::test_a_cursor_beyond_every_list_is_refused",
    ),
    breakage(
        "a copy may lie",
        "6 codes and states",
        canon(
            "results",
            "return type(self).model_validate({**dict(self), **(update or {})})",
            "return super().model_copy(update=update, deep=deep)",
        ),
        "test_results::test_a_copy_cannot_lie_either",
    ),
    breakage(
        "an envelope built without validation may lie",
        "6 codes and states",
        canon(
            "results",
            "        return cls(**values)\n",
            "        return super().model_construct(_fields_set, **values)\n",
        ),
        "test_results::test_a_lie_cannot_be_built",
    ),
    breakage(
        "more is usable than there is",
        "6 codes and states",
        canon("results", "if self.usable > self.total:", "if self.usable > self.total + 5:"),
        "test_results::test_more_usable_than_there_is_cannot_be_built",
    ),
    breakage(
        "records that cannot be read are left out of the count",
        "6 codes and states",
        acts("tools", "total=len(entries), usable=len(items)", "total=len(items), usable=len(items)"),
        "test_acts::test_records_that_cannot_be_read_are_counted",
    ),
    breakage(
        "a list that is cut has no cursor to the rest",
        "6 codes and states",
        acts("tools", "    more = bool(entries) and end < page.total\n", "    more = False\n"),
        "test_acts::test_records_that_cannot_be_read_are_counted",
        "test_acts::test_the_cursor_leads_to_every_record_once",
        "test_acts::test_long_records_are_cut_between_and_none_is_lost",
    ),
    breakage(
        "a list that is cut has no total",
        "6 codes and states",
        acts("tools", "data = Found(items=items, total=page.total,", "data = Found(items=items, total=len(items),"),
        "test_acts::test_the_cursor_leads_to_every_record_once",
    ),
    breakage(
        "the cursor skips a record",
        "6 codes and states",
        acts("tools", "encode_cursor(query.text, end) if more", "encode_cursor(query.text, end + 1) if more"),
        "test_acts::test_records_that_cannot_be_read_are_counted",
        "test_acts::test_the_cursor_leads_to_every_record_once",
        "test_acts::test_long_records_are_cut_between_and_none_is_lost",
    ),
    breakage(
        "a cursor continues another search",
        "6 codes and states",
        canon("paging", 'f"{offset}\\0{query}".encode', 'f"{offset}".encode'),
        "test_surface::test_a_cursor_belongs_to_one_query",
    ),
    breakage(
        "a list that was not delivered is an empty one",
        "6 codes and states",
        acts(
            "definition",
            "    if not counts or (page.total < end if page.entries else page.total > query.offset):\n",
            "    if not counts:\n",
        ),
        "test_acts::test_a_list_that_was_not_delivered_is_never_ok",
        "test_acts::test_a_count_without_its_records_is_no_coverage",
    ),
    breakage(
        "a number becomes a date",
        "6 codes and states",
        acts("definition", "class Record(Sealed, strict=True):", "class Record(Sealed):"),
        "test_acts::test_what_is_no_record_is_not_made_into_one",
    ),
    breakage(
        "a cursor has no bound",
        "6 codes and states",
        canon("paging", " and 0 <= offset <= OFFSET_LIMIT", ""),
        "test_surface::test_a_cursor_that_is_not_ours_is_refused",
        "test_acts::test_a_cursor_beyond_every_list_is_refused",
    ),
    breakage(
        "what is no number counts as one",
        "6 codes and states",
        canon("upstream", ", parse_constant=_number", ""),
        "test_acts::test_what_the_source_says_has_a_code",
    ),
    breakage(
        "a wait has no end",
        "6 codes and states",
        canon("upstream", "min(float(value), LONGEST_WAIT_SECONDS)", "float(value)"),
        "test_acts::test_a_wait_without_end_is_told_as_a_day",
    ),
    breakage(
        "there is a tenth attribute",
        "7 allow-list",
        canon(
            "telemetry",
            '    "exception.type": _class_name,\n',
            '    "exception.type": _class_name,\n    "mcp.query": _word,\n',
        ),
        "test_telemetry::test_the_list_is_this_one",
    ),
    breakage(
        "what is not listed leaves as it is",
        "7 allow-list",
        canon("telemetry", "if key in rules and rules[key](value)", "if key not in rules or rules[key](value)"),
        "test_telemetry::test_an_attribute_that_is_not_listed_does_not_leave",
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
    ),
    breakage(
        "the class of a failure is the framework's",
        "7 allow-list",
        canon("boundary", "type(_causes(error)[-1]).__name__", "type(error).__name__"),
        "test_telemetry::test_a_failure_leaves_its_class_and_its_code",
    ),
    breakage(
        "telemetry ends with the first start",
        "7 allow-list",
        own("server", "            await telemetry.flush()\n", "            telemetry.provider.shutdown()\n"),
        "test_telemetry::test_a_server_that_starts_again_is_still_seen",
    ),
    breakage(
        "spans are made although nobody collects them",
        "7 allow-list",
        own(
            "server",
            "if settings.otlp_endpoint else None,",
            "if settings.otlp_endpoint else ConsoleSpanExporter(StringIO()),",
        ),
        own(
            "server",
            "from fastmcp import FastMCP\n",
            "from io import StringIO\n\nfrom fastmcp import FastMCP\nfrom opentelemetry.sdk.trace.export import ConsoleSpanExporter\n",
        ),
        "test_telemetry::test_without_a_collector_no_span_is_made",
    ),
    breakage(
        "events leave with exception.message",
        "7 allow-list",
        canon("telemetry", "            events=(),\n", "            events=span.events,\n"),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
    ),
    breakage(
        "links leave",
        "7 allow-list",
        canon("telemetry", "            links=(),\n", "            links=span.links,\n"),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
    ),
    breakage(
        "the status has a text",
        "7 allow-list",
        canon(
            "telemetry",
            "status=Status(span.status.status_code),",
            "status=Status(span.status.status_code, span.status.description),",
        ),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
    ),
    breakage(
        "the span's name is whatever a tool made of it",
        "7 allow-list",
        canon("telemetry", "            name=SPAN_NAME,\n", "            name=span.name,\n"),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
    ),
    breakage(
        "the environment leaves as resource attributes",
        "7 allow-list",
        canon(
            "telemetry",
            "resource=self._resource(span.resource),",
            "resource=span.resource,",
        ),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
    ),
    breakage(
        "the trace state leaves",
        "7 allow-list",
        canon(
            "telemetry",
            "return SpanContext(context.trace_id, context.span_id, context.is_remote, TraceFlags(context.trace_flags))",
            "return context",
        ),
        "test_telemetry::test_whatever_is_set_on_a_span_only_the_list_is_exported",
    ),
    breakage(
        "a listed key carries a module path",
        "7 allow-list",
        canon("telemetry", '"exception.type": _class_name', '"exception.type": _word'),
        "test_telemetry::test_a_listed_key_is_no_vehicle_for_free_text",
    ),
    breakage(
        "the exporter stands before the list",
        "7 allow-list",
        canon("telemetry", "processor(AllowListExporter(exporter, rules))", "processor(exporter)"),
        "test_telemetry::test_a_span_of_a_call_holds_these_attributes_and_no_others",
    ),
    breakage(
        "the provider is registered globally",
        "7 allow-list",
        canon(
            "telemetry",
            "        self._processor: SpanProcessor | None = None\n",
            "        self._processor: SpanProcessor | None = None\n        trace.set_tracer_provider(self.provider)\n",
        ),
        canon(
            "telemetry",
            "from opentelemetry.sdk.resources import Resource\n",
            "from opentelemetry import trace\nfrom opentelemetry.sdk.resources import Resource\n",
        ),
        "test_telemetry::test_no_provider_is_registered_globally",
        "test_telemetry::test_a_host_keeps_its_own_tracing",
    ),
    breakage(
        "a host's span becomes the parent",
        "7 allow-list",
        canon(
            "telemetry",
            "parent=None,\n                resource=self",
            "parent=trace.get_current_span().get_span_context(),\n                resource=self",
        ),
        canon(
            "telemetry",
            "from opentelemetry.sdk.resources import Resource\n",
            "from opentelemetry import trace\nfrom opentelemetry.sdk.resources import Resource\n",
        ),
        "test_telemetry::test_a_host_keeps_its_own_tracing",
    ),
    breakage(
        "a switched off SDK exports all the same",
        "7 allow-list",
        canon("telemetry", "exporter is not None and not disabled", "exporter is not None"),
        "test_telemetry::test_a_disabled_sdk_exports_nothing",
    ),
    breakage(
        "the framework makes spans of its own",
        "7 allow-list",
        canon(
            "boundary",
            '    fastmcp.settings.telemetry_mode = "off"\n',
            '    fastmcp.settings.telemetry_mode = "native"\n',
        ),
        "test_telemetry::test_the_framework_makes_no_spans_of_its_own",
    ),
    breakage(
        "a tool imports a provider",
        "8 capability",
        acts(
            "tools",
            "from .gaps import",
            "from .providers.fixture import FixtureProvider as FixtureProvider\nfrom .gaps import",
        ),
        "test_imports::test_the_import_contracts_hold",
    ),
    breakage(
        "a tool asks for its provider without requiring it",
        "8 capability",
        acts(
            "tools",
            """        provider = require_provider(get_provider)
        record =""",
            """        provider = get_provider()
        record =""",
        ),
        "test_audit::test_a_call_before_the_provider_is_there_writes_a_line",
    ),
    breakage(
        "the setting of the provider moves nothing",
        "8 capability",
        own("server", "PROVIDERS[settings.provider](settings)", 'PROVIDERS["fixture"](settings)'),
        "test_acts::test_nothing_of_a_caller_reaches_the_source",
        "test_acts::test_records_that_cannot_be_read_are_counted",
        "test_acts::test_coverage_counts_what_the_source_holds_now",
        "test_acts::test_one_setting_moves_every_tool",
        "test_acts::test_a_token_from_a_file_is_sent_without_its_line_end",
        "test_acts::test_a_list_that_was_not_delivered_is_never_ok",
        "test_acts::test_a_count_without_its_records_is_no_coverage",
        "test_acts::test_what_a_source_wrote_forges_no_line_for_people",
    ),
    breakage(
        "a provider answers under another's name",
        "8 capability",
        acts("providers/fixture", '    source = "fixture"\n', '    source = "live"\n'),
        "test_acts_contract::test_it_names_itself",
        "test_acts::test_one_setting_moves_every_tool",
    ),
    breakage(
        "the live source falls back to sample data",
        "8 capability",
        acts(
            "providers/live",
            """        answer = await self._get(query=query.text, limit=query.limit, offset=query.offset)
""",
            """        try:
            answer = await self._get(query=query.text, limit=query.limit, offset=query.offset)
        except ConnectorError as error:
            if error.reason is not Reason.UNREACHABLE:
                raise
            return await FixtureProvider().search(query)
""",
        ),
        acts("providers/live", "no_such_record\n", "no_such_record\nfrom .fixture import FixtureProvider\n"),
        "test_acts::test_a_source_that_is_away_is_no_reason_to_make_things_up",
        "test_imports::test_the_import_contracts_hold",
    ),
    breakage(
        "one provider has its own code for nothing found",
        "8 capability",
        acts(
            "providers/cache",
            "            raise no_such_record(identifier)",
            "            raise ConnectorError(Code.INVALID_INPUT)",
        ),
        "test_acts_contract::test_an_unknown_identifier_is_not_found",
    ),
    breakage(
        "one provider lists the oldest first",
        "8 capability",
        acts("providers/cache", "ORDER BY position LIMIT", "ORDER BY position DESC LIMIT"),
        "test_acts_contract::test_an_empty_query_lists_everything_newest_first",
        "test_acts_contract::test_no_query_is_more_than_words",
    ),
    breakage(
        "a count that cannot be read fails inside",
        "8 capability",
        acts(
            "definition",
            "    except ValidationError:\n        families = ()\n",
            "    except TimeoutError:\n        families = ()\n",
        ),
        "test_acts::test_a_family_that_cannot_be_read_is_told",
    ),
    breakage(
        "an empty source empties the store",
        "8 capability",
        acts("providers/synchronise", "(kept := await store.count())", "(kept := 0)"),
        "test_acts::test_an_empty_source_empties_no_store",
        "test_acts_contract::test_an_empty_source_empties_no_store",
    ),
    breakage(
        "control characters reach the providers",
        "8 capability",
        acts("definition", 'NO_TEXT: Final = frozenset({"Cc", "Cs"})', "NO_TEXT: Final[frozenset[str]] = frozenset()"),
        "test_acts_contract::test_no_provider_reads_control_characters_in_its_own_way",
    ),
    breakage(
        "a setting that the provider needs is looked for at the first call",
        "8 capability",
        own("server", "        getattr(settings, NEEDED[settings.provider])\n", "        pass\n"),
        "test_stdio::test_a_setting_that_another_one_needs_is_named",
    ),
    breakage(
        "a session is opened beside the scope",
        "8 capability",
        acts(
            "providers/cache",
            "            with session_scope(self._path) as session:",
            "            with closing(sqlite3.connect(self._path)) as session:",
        ),
        "test_imports::test_nobody_opens_a_session_beside_the_scope",
        "test_acts::test_a_cache_that_cannot_be_read_is_left_alone",
    ),
    breakage(
        "a tool turns a refusal into an empty list",
        "8 capability",
        acts(
            "tools",
            "        return _listed(question, await provider.search(question), provider.source)\n",
            """        try:
            page = await provider.search(question)
        except ConnectorError:
            page = Page((), 0)
        return _listed(question, page, provider.source)
""",
        ),
        "test_guards::test_no_tool_swallows_a_refusal",
        "test_acts::test_a_list_that_was_not_delivered_is_never_ok",
    ),
    breakage(
        "the cap on requests is gone",
        "8 capability",
        canon("upstream", "        if self._free == 0:\n", "        if self._free < -CONCURRENT:\n"),
        "test_acts::test_too_many_questions_at_once_are_refused",
    ),
    breakage(
        "a limit of the definition is lifted",
        "8 capability",
        acts("definition", "QUERY_LIMIT: Final = 200", "QUERY_LIMIT: Final = 20_000"),
        "test_acts_contract::test_a_query_out_of_bounds_is_refused_for_all",
    ),
    breakage(
        "a report without gaps can be built",
        "9 coverage",
        canon("coverage", "        if not self.known_gaps:\n", "        if self.known_gaps is None:\n"),
        "test_coverage::test_a_report_that_hides_something_cannot_be_built",
    ),
    breakage(
        "a report without families can be built",
        "9 coverage",
        canon("coverage", "if not (self.as_of_note and self.families):", "if not self.as_of_note:"),
        "test_coverage::test_a_report_that_hides_something_cannot_be_built",
    ),
    breakage(
        "nobody looked for gaps and nothing minds",
        "9 coverage",
        canon("coverage", "        if not self.known_gaps:\n", "        if self.known_gaps is None:\n"),
        acts("tools", "coverage_report(families, KNOWN_GAPS,", "coverage_report(families, (),"),
        "test_coverage::test_a_report_that_hides_something_cannot_be_built",
        "test_coverage::test_the_report_names_gaps_and_where_to_look_instead",
    ),
    breakage(
        "a family has no date",
        "9 coverage",
        canon("coverage", "    captured_at: date\n", "    captured_at: date | None = None\n"),
        "test_coverage::test_a_family_without_a_date_cannot_be_built",
    ),
    breakage(
        "families count nothing",
        "9 coverage",
        acts("tools", "records=family.records,", "records=0,"),
        "test_coverage::test_the_report_names_families_with_counts_and_dates",
        "test_acts::test_coverage_counts_what_the_source_holds_now",
    ),
    breakage(
        "the count of a family stands in the code",
        "9 coverage",
        acts("tools", "records=family.records,", "records=34,"),
        "test_acts::test_coverage_counts_what_the_source_holds_now",
    ),
    breakage(
        "the schema of the report does not know its note",
        "9 coverage",
        canon(
            "coverage",
            "    as_of_note: str | None = None\n",
            "    as_of_note: str | None = Field(default=None, exclude=True)\n",
        ),
        "test_coverage::test_a_failed_report_is_still_an_envelope",
        "test_coverage::test_the_report_names_families_with_counts_and_dates",
    ),
    breakage(
        "a gap belongs to no family",
        "9 coverage",
        acts(
            "gaps",
            """        id="GAP-003",
        family=FAMILY,""",
            """        id="GAP-003",
        family="Case law",""",
        ),
        "test_coverage::test_the_report_names_gaps_and_where_to_look_instead",
    ),
    breakage(
        "people do not read the gaps",
        "9 coverage",
        canon(
            "coverage",
            '    lines += [f"- {gap.id} {gap.family}: {gap.missing} {gap.fallback}" for gap in report.known_gaps]\n',
            "",
        ),
        "test_coverage::test_a_person_reads_every_gap",
    ),
    breakage(
        "the coverage tool is not audited",
        "audit",
        canon(
            "boundary",
            "            await self._append(record)\n",
            '            if record.tool != "coverage":\n                await self._append(record)\n',
        ),
        "test_audit::test_every_registered_tool_writes_a_line",
        "test_audit::test_a_call_before_the_provider_is_there_writes_a_line",
        "test_audit::test_who_holds_the_log_up_holds_nothing_else_up",
    ),
    breakage(
        "a failed call leaves no line",
        "audit",
        canon(
            "boundary",
            "            await self._append(record)\n",
            "            if record.status != Status.FAILED:\n                await self._append(record)\n",
        ),
        "test_audit::test_every_registered_tool_writes_a_line",
        "test_audit::test_refused_failed_and_unknown_calls_write_a_line_too",
        "test_audit::test_a_call_before_the_provider_is_there_writes_a_line",
        "test_audit::test_a_call_that_cannot_be_read_writes_a_line",
        "test_audit::test_a_caller_without_identity_leaves_no_words",
        "test_audit::test_a_failure_refers_to_its_line",
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
    ),
    breakage(
        "a cancelled call leaves no line",
        "audit",
        canon(
            "boundary",
            "                call.status = CANCELLED\n                await self._finish(call)\n",
            "                call.status = CANCELLED\n",
        ),
        "test_audit::test_a_cancelled_call_writes_a_line",
        "test_telemetry::test_a_cancelled_call_is_a_failed_span",
    ),
    breakage(
        "a call that cannot be read leaves no line",
        "audit",
        canon("boundary", "                await self._unreadable_call()\n", "                pass\n"),
        "test_audit::test_a_call_that_cannot_be_read_writes_a_line",
    ),
    breakage(
        "a call of an unknown tool is recorded under the name that was given",
        "audit",
        canon("boundary", "            call.tool = UNKNOWN_TOOL\n", "            call.tool = call.tool[:64]\n"),
        "test_audit::test_refused_failed_and_unknown_calls_write_a_line_too",
        "test_secrets::test_no_failure_takes_its_text_along",
    ),
    breakage(
        "arguments are written in clear",
        "audit",
        canon("audit", 'return hashlib.sha256(text.encode("ascii")).hexdigest()', "return text"),
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
        "test_secrets::test_no_failure_takes_its_text_along",
    ),
    breakage(
        "a line has one more field",
        "audit",
        canon(
            "audit",
            '        "code": call.code,\n',
            '        "code": call.code,\n        "exception": call.exception_type,\n',
        ),
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
    ),
    breakage(
        "everybody can read the log",
        "audit",
        canon("locks", "OWNER_ONLY: Final = 0o600", "OWNER_ONLY: Final = 0o644"),
        "test_audit::test_a_line_says_who_and_what_but_not_with_which_words",
    ),
    breakage(
        "a call without a line is answered",
        "audit",
        canon("boundary", "            self._audit.check()\n", ""),
        canon(
            "boundary",
            "        if not await self._finish(call):\n            result",
            "        if not await self._finish(call) and result.is_error:\n            result",
        ),
        "test_audit::test_a_call_whose_line_cannot_be_written_is_refused",
    ),
    breakage(
        "the log is kept open while it is moved away",
        "audit",
        canon(
            "audit",
            """            return opened(self.path, os.O_WRONLY | os.O_APPEND)
""",
            """            if not hasattr(self, "_kept"):
                self._kept = opened(self.path, os.O_WRONLY | os.O_APPEND)
            return os.dup(self._kept)
""",
        ),
        "test_audit::test_a_folder_that_is_taken_away_is_made_anew",
        "test_audit::test_a_log_that_was_moved_away_is_not_written_to",
        "test_audit::test_a_call_whose_line_cannot_be_written_is_refused",
    ),
    breakage(
        "each process keeps its own end of the log",
        "audit",
        canon("audit", "os.O_WRONLY | os.O_APPEND", "os.O_WRONLY"),
        canon("audit", "        self._fsync = fsync\n", "        self._fsync = fsync\n        self._end = 0\n"),
        canon(
            "audit",
            """                    if os.write(descriptor, line) != len(line):
""",
            """                    written = os.pwrite(descriptor, line, self._end)
                    self._end += len(line) if written == len(line) else 0
                    if written != len(line):
""",
        ),
        "test_audit::test_processes_and_a_rotation_lose_no_line",
        "test_audit::test_a_log_that_was_moved_away_is_not_written_to",
    ),
    breakage(
        "a folder that cannot be written to is no sentence",
        "audit",
        canon(
            "audit",
            "            return opened(self.path, os.O_WRONLY | os.O_APPEND)\n        except OSError:",
            "            return opened(self.path, os.O_WRONLY | os.O_APPEND)\n        except KeyError:",
        ),
        "test_audit::test_a_folder_that_cannot_be_written_to_stops_the_start",
        "test_stdio::test_an_audit_folder_that_cannot_be_made_stops_the_start",
    ),
    breakage(
        "a sentence about the audit folder names no variable",
        "audit",
        canon("cli", "f\"set {settings.variable('audit_dir')} to", '"set AUDIT_DIR to'),
        "test_stdio::test_an_audit_folder_that_cannot_be_made_stops_the_start",
    ),
    breakage(
        "the start does not look at the folder",
        "audit",
        canon("cli", "        AuditLog(settings.audit_path).prepare()\n", "        AuditLog(settings.audit_path)\n"),
        "test_stdio::test_an_audit_folder_that_cannot_be_made_stops_the_start",
    ),
    breakage(
        "the README has a row too few",
        "documents",
        Edit("README.md", "| `read_act` | Return one act by its identifier, as `search_acts` gives it. |\n", ""),
        "test_documents::test_the_documents_keep_step_with_the_server",
        "test_documents::test_the_readme_names_every_tool_resource_and_setting",
    ),
    breakage(
        "the README miscounts",
        "documents",
        Edit("README.md", "3 tools and 2 resources.", "2 tools and 2 resources."),
        "test_documents::test_the_documents_keep_step_with_the_server",
    ),
    breakage(
        "the reference is stale",
        "documents",
        acts("words", "How many to return, from 1 to 50.", "How many to return, at most 50."),
        "test_documents::test_the_documents_keep_step_with_the_server",
    ),
    breakage(
        "a setting stands in no document",
        "documents",
        own(
            "settings",
            '    provider: Literal["fixture", "live", "cache"] = "fixture"\n',
            '    provider: Literal["fixture", "live", "cache"] = "fixture"\n    edition: str = Field("", description="Which.")\n',
        ),
        own("settings", "from pydantic_settings", "from pydantic import Field\nfrom pydantic_settings"),
        "test_documents::test_the_documents_keep_step_with_the_server",
        "test_documents::test_the_readme_names_every_tool_resource_and_setting",
        "test_documents::test_the_example_environment_names_every_setting",
    ),
    breakage(
        "the registry does not find the package",
        "documents",
        Edit("README.md", "<!-- mcp-name: io.github.example-org/eu-digital-acts -->\n", ""),
        "test_documents::test_the_registry_finds_the_package",
    ),
    breakage(
        "a language lacks a sentence",
        "documents",
        canon("sentences", '        Reason.TIMEOUT: "Źródło rekordów odpowiadało zbyt długo.",\n', ""),
        "test_sentences::test_no_sentence_is_missing",
    ),
    breakage(
        "a language has nothing to fill in",
        "documents",
        canon("sentences", 'wrong_arguments="Błędne argumenty: {fields}.",', 'wrong_arguments="Błędne argumenty.",'),
        "test_sentences::test_no_sentence_is_missing",
    ),
    breakage(
        "a provider speaks HTTP by itself",
        "imports",
        acts("providers/live", "from pydantic import", "import httpx2 as httpx2\nfrom pydantic import"),
        "test_imports::test_only_the_canon_speaks_http",
    ),
    breakage(
        "the definition does input and output",
        "imports",
        acts(
            "definition",
            "from ..canon.results import Sealed\n",
            "from ..canon.results import Sealed\nfrom ..canon.upstream import Upstream as Upstream\n",
        ),
        "test_imports::test_the_import_contracts_hold",
    ),
    breakage(
        "the canon knows the connector",
        "imports",
        canon(
            "text",
            "from typing import Final\n",
            "from typing import TYPE_CHECKING, Final\n\nif TYPE_CHECKING:\n    from ..settings import Settings as Settings\n",
        ),
        "test_imports::test_the_import_contracts_hold",
    ),
    breakage(
        "a contract is gone",
        "imports",
        Edit(".importlinter", "[importlinter:contract:providers]", "[importlinter:contract:some]"),
        "test_imports::test_every_contract_is_there",
    ),
    breakage(
        "the tools are under no contract",
        "imports",
        Edit(
            ".importlinter",
            "    eu_digital_acts.acts.tools\n    eu_digital_acts.acts.resources\nforbidden_modules =\n    eu_digital_acts.acts.providers\n",
            "    eu_digital_acts.acts.resources\nforbidden_modules =\n    eu_digital_acts.acts.providers\n",
        ),
        "test_imports::test_every_tool_is_under_contract",
    ),
    breakage(
        "a tool skips the envelope",
        "prose and JSON",
        canon(
            "boundary",
            "if self._envelopes_only and not isinstance(result, Answer | InputRequiredToolResult):",
            "if self._envelopes_only and result is None:",
        ),
        "test_boundary::test_a_result_that_is_no_envelope_does_not_leave",
    ),
    breakage(
        "a tool's own error leaves with its text",
        "secrets",
        canon(
            "boundary",
            """        causes = _causes(error)
        for cause in causes:
            if isinstance(cause, ConnectorError):""",
            """        if type(error) is ToolError and error.__cause__ is None:
            return ConnectorError(Code.UPSTREAM_UNAVAILABLE, str(error))
        causes = _causes(error)
        for cause in causes:
            if isinstance(cause, ConnectorError):""",
        ),
        canon("boundary", "NotFoundError, ValidationError\n", "NotFoundError, ToolError, ValidationError\n"),
        "test_boundary::test_a_plain_tool_error_does_not_leave_with_its_text",
    ),
    breakage(
        "calls of one second share their number",
        "audit",
        canon(
            "boundary",
            "self.call_id: Final = uuid.uuid4().hex",
            "self.call_id: Final = uuid.UUID(int=int(time.time())).hex",
        ),
        "test_boundary::test_calls_at_once_keep_apart",
    ),
    breakage(
        "a tool publishes no schema",
        "prose and JSON",
        acts("tools", "        output_schema=output_schema(CoverageReport),\n", ""),
        "test_boundary::test_every_answer_is_an_envelope_of_its_published_schema",
    ),
    breakage(
        "a tool lists in JSON for people",
        "prose and JSON",
        acts("tools", "    listing = _lines(items)\n", "    listing = data.model_dump_json()\n"),
        "test_boundary::test_text_is_prose_and_structure_is_for_the_agent",
        "test_acts::test_what_a_source_wrote_forges_no_line_for_people",
    ),
    breakage(
        "a record is read out in JSON",
        "prose and JSON",
        acts(
            "tools",
            "return ok(record, line(record), source=provider.source)",
            "return ok(record, record.model_dump_json(), source=provider.source)",
        ),
        "test_acts::test_a_record_is_a_sentence_for_people",
        "test_acts::test_what_a_source_wrote_forges_no_line_for_people",
    ),
    breakage(
        "what a source wrote makes lines of its own",
        "prose and JSON",
        acts("tools", "return one_line(text, limit=len(text))", "return text"),
        "test_acts::test_what_a_source_wrote_forges_no_line_for_people",
    ),
    breakage(
        "a failure does not name its code to people",
        "prose and JSON",
        canon("results", 'f"{envelope.status} [{envelope.code}]: ', 'f"{envelope.status}: '),
        "test_boundary::test_text_is_prose_and_structure_is_for_the_agent",
    ),
    breakage(
        "a resource answers in prose",
        "prose and JSON",
        acts(
            "resources",
            "return (await report(get_provider, sentences)).model_dump_json()",
            "return (await report(get_provider, sentences)).message",
        ),
        "test_boundary::test_resources_are_json_and_nothing_else",
    ),
    breakage(
        "letters are escaped",
        "prose and JSON",
        canon(
            "results",
            '    return f"{head}\\n{listing}" if listing else head\n',
            '    head = head.encode("ascii", "backslashreplace").decode()\n    return f"{head}\\n{listing}" if listing else head\n',
        ),
        "test_boundary::test_letters_stay_as_they_are",
    ),
    breakage(
        "a list that comes as text is refused",
        "prose and JSON",
        canon("boundary", "await call_next(await _decoded(context))", "await call_next(context)"),
        "test_boundary::test_a_list_may_come_as_json_text_and_text_stays_text",
    ),
    breakage(
        "the release builds before it tests",
        "release and CI",
        workflow("release", "    needs: gates\n", ""),
        "test_workflows::test_a_release_runs_the_gates_before_it_builds_or_publishes",
    ),
    breakage(
        "the release builds in spite of its gates",
        "release and CI",
        workflow("release", "    needs: gates\n", "    needs: gates\n    if: always()\n"),
        "test_workflows::test_a_release_runs_the_gates_before_it_builds_or_publishes",
    ),
    breakage(
        "the release runs some of the gates",
        "release and CI",
        workflow(
            "release", 'python -m pytest tests/ -q -k "not smoke"', 'python -m pytest tests/canon/ -q -k "not smoke"'
        ),
        "test_workflows::test_a_release_runs_the_gates_before_it_builds_or_publishes",
    ),
    breakage(
        "pull requests run no gate",
        "release and CI",
        workflow("ci", "  pull_request:\n\n", "\n"),
        "test_workflows::test_every_push_and_every_pull_request_runs_the_gates",
    ),
    breakage(
        "the gates of a pull request may be skipped",
        "release and CI",
        workflow(
            "ci",
            "      - name: Run gates\n",
            "      - name: Run gates\n        if: github.actor == github.repository_owner\n",
        ),
        "test_workflows::test_every_push_and_every_pull_request_runs_the_gates",
    ),
    breakage(
        "a failure counts as success",
        "release and CI",
        workflow("ci", "        run: lint-imports", "        run: lint-imports || true"),
        "test_workflows::test_workflows_are_pinned_and_may_do_little",
    ),
    breakage(
        "an action is not pinned",
        "release and CI",
        workflow(
            "release",
            "pypa/gh-action-pypi-publish@dc37677b2e1c63e2034f94d8a5b11f265b73ba33",
            "pypa/gh-action-pypi-publish@release/v1",
        ),
        "test_workflows::test_workflows_are_pinned_and_may_do_little",
    ),
    breakage(
        "every job may do everything",
        "release and CI",
        workflow("ci", "permissions: {}\n", "permissions: write-all\n"),
        "test_workflows::test_workflows_are_pinned_and_may_do_little",
    ),
    breakage(
        "the living source holds pull requests back",
        "release and CI",
        workflow("smoke", "  workflow_dispatch:\n", "  workflow_dispatch:\n  pull_request:\n"),
        "test_workflows::test_the_living_source_holds_nothing_back",
    ),
    breakage(
        "the log writes what an exception says",
        "secrets",
        canon("logs", '        return "\\n".join(chain(ei[1]))\n', "        return super().formatException(ei)\n"),
        "test_secrets::test_no_failure_takes_its_text_along",
        "test_secrets::test_no_http_body_says_more_than_it_must",
        "test_secrets::test_the_log_names_the_place_and_not_the_text",
        "test_secrets::test_what_fails_outside_of_a_tool_takes_no_text_along",
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
    ),
    breakage(
        "a line of the log quotes an exception",
        "secrets",
        canon(
            "boundary",
            'log.error("A call failed inside the connector.", exc_info=error)',
            'log.error("A call failed inside the connector: %s", causes[-1])',
        ),
        "test_secrets::test_no_failure_takes_its_text_along",
        "test_secrets::test_no_http_body_says_more_than_it_must",
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
    ),
    breakage(
        "the boundary answers with what an exception says",
        "secrets",
        canon(
            "boundary",
            "                    return ConnectorError(code, reason=reason)\n",
            "                    return ConnectorError(code, str(cause), reason=reason)\n",
        ),
        "test_secrets::test_no_failure_takes_its_text_along",
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
    ),
    breakage(
        "a provider answers with what an exception says",
        "secrets",
        acts(
            "providers/cache",
            "    except sqlite3.Error:\n        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, reason",
            "    except sqlite3.Error as error:\n        raise ConnectorError(Code.UPSTREAM_UNAVAILABLE, str(error), reason",
        ),
        "test_secrets::test_no_answer_is_built_from_an_exception",
    ),
    breakage(
        "what is raised outside of a tool leaves as it is",
        "secrets",
        canon(
            "boundary",
            "            raise self._protocol_error(error) from None\n",
            "            raise\n",
        ),
        "test_secrets::test_what_fails_outside_of_a_tool_takes_no_text_along",
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
        "test_secrets::test_no_http_body_says_more_than_it_must",
    ),
    breakage(
        "another server's error is passed on",
        "secrets",
        canon(
            "boundary",
            "            case MCPError(error=reported) if reported.code in known:\n",
            "            case MCPError():\n                return error\n"
            "            case MCPError(error=reported) if reported.code in known:\n",
        ),
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
        "test_secrets::test_no_http_body_says_more_than_it_must",
    ),
    breakage(
        "a library ends the process",
        "secrets",
        canon("boundary", "not isinstance(error, Exception | SystemExit)", "not isinstance(error, Exception)"),
        "test_secrets::test_no_component_beside_the_tools_takes_a_text_along",
        "test_secrets::test_no_failure_takes_its_text_along",
        "test_boundary::test_every_answer_is_an_envelope_of_its_published_schema",
    ),
    breakage(
        "what is cancelled elsewhere cancels the call",
        "secrets",
        canon("boundary", "return task is None or task.cancelling() > 0", "return True"),
        "test_secrets::test_no_failure_takes_its_text_along",
        "test_boundary::test_every_answer_is_an_envelope_of_its_published_schema",
    ),
    breakage(
        "the size of a result is counted before it is written",
        "sizes",
        canon("boundary", "len(to_json(block.text).decode())", "len(block.text)"),
        "test_boundary::test_the_size_of_a_result_is_that_on_the_wire",
    ),
    breakage(
        "the schema calls a field as its source does",
        "6 codes and states",
        canon("results", ", by_alias=False)", ")"),
        "test_results::test_a_field_is_called_the_same_in_an_answer_and_in_its_schema",
    ),
    breakage(
        "a number may be none that JSON has",
        "6 codes and states",
        canon("results", "allow_inf_nan=False, ", ""),
        "test_results::test_what_json_cannot_say_cannot_be_built",
    ),
    breakage(
        "an empty variable is a setting",
        "stdio and settings",
        canon("configuration", "env_ignore_empty=True", "env_ignore_empty=False"),
        "test_stdio::test_a_variable_that_is_empty_is_not_set",
    ),
    breakage(
        "the SDK's variables reach the exporter",
        "7 allow-list",
        canon("telemetry", 'name.startswith("OTEL_") and name != OTEL_SDK_DISABLED', "False"),
        "test_telemetry::test_the_variables_of_the_sdk_change_nothing",
    ),
    breakage(
        "whoever holds the log up holds everything up",
        "audit",
        canon("boundary", "self._audit.append(record, seconds=0)", "self._audit.append(record)"),
        "test_audit::test_who_holds_the_log_up_holds_nothing_else_up",
    ),
    breakage(
        "a wrong argument is quoted",
        "secrets",
        canon(
            "boundary",
            "error.errors(include_url=False, include_context=False, include_input=False)",
            "error.errors(include_url=False, include_context=False)",
        ),
        canon("boundary", '    names = {str(problem["loc"][0]) for', '    names = {str(problem["input"]) for'),
        "test_boundary::test_a_wrong_argument_is_named_and_its_value_is_not",
    ),
    breakage(
        "a wrong argument is not named",
        "prose and JSON",
        canon("boundary", '    names = {str(problem["loc"][0]) for', '    names = {str(problem["msg"]) for'),
        "test_boundary::test_a_wrong_argument_is_named_and_its_value_is_not",
    ),
    breakage(
        "a result may be ten times as large",
        "sizes",
        canon("paging", "RESULT_LIMIT: Final = 50_000", "RESULT_LIMIT: Final = 500_000"),
        "test_surface::test_a_result_has_the_size_that_clients_take",
        "test_acts::test_long_records_are_cut_between_and_none_is_lost",
        "test_boundary::test_the_size_of_a_result_is_that_on_the_wire",
    ),
    breakage(
        "a result that is too large leaves",
        "sizes",
        canon("boundary", "_size(result) > RESULT_LIMIT:", "_size(result) < 0:"),
        "test_boundary::test_a_result_that_is_too_large_is_refused",
        "test_boundary::test_the_size_of_a_result_is_that_on_the_wire",
    ),
    breakage(
        "a list is not cut where it has to be",
        "sizes",
        canon("paging", "        if room < 0:\n", "        if room < -limit:\n"),
        "test_surface::test_a_cut_goes_between_records_and_loses_none",
        "test_acts::test_long_records_are_cut_between_and_none_is_lost",
    ),
    breakage(
        "a description is longer than clients read",
        "sizes",
        acts("words", "A page holds at most 50.", "A page holds at most 50." + " It does." * 200),
        Edit("docs/mcp-server.md", "A page holds at most 50.", "A page holds at most 50." + " It does." * 200),
        "test_instructions::test_what_a_client_reads_first_is_within_its_limits",
    ),
    breakage(
        "names together are longer than clients take",
        "sizes",
        Edit(
            "tests/conftest.py",
            'command="eu-digital-acts",',
            'command="digital-acts-of-the-european-union-and-of-its-members",',
        ),
        "test_surface::test_names_fit_every_client",
        "test_stdio::test_a_key_is_shown_once_and_can_be_revoked",
    ),
    breakage(
        "an argument is not described",
        "5 annotations",
        acts("tools", "id: Annotated[str, Field(description=words.IDENTIFIER)]", "id: str"),
        Edit(
            "docs/mcp-server.md",
            "| `id` | string | yes | CELEX number, such as 32016R0679. |",
            "| `id` | string | yes |  |",
        ),
        "test_surface::test_every_argument_is_described",
    ),
    breakage(
        "the source is read without end",
        "sizes",
        canon(
            "upstream",
            "                if len(body) > BODY_LIMIT:\n",
            "                if len(body) > 2 * BODY_LIMIT:\n",
        ),
        "test_acts::test_what_the_source_says_has_a_code",
    ),
    breakage(
        "an import prints before stdout is safe",
        "stdio and settings",
        own(
            "__init__",
            '"""An MCP connector: one source of records for an assistant."""\n',
            '"""An MCP connector: one source of records for an assistant."""\n\nprint("EU Digital Acts")\n',
        ),
        "test_stdio::test_stdout_is_json_rpc_from_the_first_byte",
        "test_stdio::test_a_wrong_setting_is_one_sentence",
        "test_stdio::test_http_without_a_key_never_opens_the_port",
        "test_stdio::test_what_an_import_prints_stays_off_the_wire",
        "test_stdio::test_an_audit_folder_that_cannot_be_made_stops_the_start",
        "test_stdio::test_a_key_is_shown_once_and_can_be_revoked",
    ),
    breakage(
        "child processes write on the wire",
        "stdio and settings",
        canon("wire", "    os.dup2(2, 1)\n", ""),
        "test_stdio::test_what_an_import_prints_stays_off_the_wire",
    ),
    breakage(
        "a wrong setting shows its value",
        "stdio and settings",
        canon(
            "configuration", "error.errors(include_url=False, include_input=False)", "error.errors(include_url=False)"
        ),
        canon(
            "configuration",
            "    return f\"{settings.variable(str(problem['loc'][0]))}: {reason}\"\n",
            "    return f\"{settings.variable(str(problem['loc'][0]))}: {reason}, not {problem['input']}\"\n",
        ),
        "test_stdio::test_a_wrong_setting_is_one_sentence",
        "test_stdio::test_every_wrong_setting_is_named",
        "test_acts::test_a_token_that_no_header_carries_ends_the_start",
    ),
    breakage(
        "a wrong setting ends like any failure",
        "stdio and settings",
        canon("cli", "        return USAGE\n", "        return FAILED\n"),
        "test_stdio::test_a_wrong_setting_is_one_sentence",
        "test_stdio::test_http_without_a_key_never_opens_the_port",
        "test_stdio::test_an_audit_folder_that_cannot_be_made_stops_the_start",
    ),
    breakage(
        "HTTP starts without a key",
        "stdio and settings",
        canon(
            "cli",
            "        if not KeyFile(settings.keys_path).all():\n",
            "        if KeyFile(settings.keys_path).all() is None:\n",
        ),
        "test_stdio::test_http_without_a_key_never_opens_the_port",
    ),
    breakage(
        "a token keeps its line end",
        "stdio and settings",
        canon("credential", "value = credential.strip()", "value = credential"),
        "test_acts::test_a_token_from_a_file_is_sent_without_its_line_end",
        "test_acts::test_without_a_token_none_is_sent",
    ),
    breakage(
        "the server has the framework's version",
        "stdio and settings",
        own(
            "server",
            """        version=release,
        auth""",
            """        auth""",
        ),
        "test_surface::test_the_server_says_which_version_it_is",
    ),
    breakage(
        "a semicolon hides a credential in the address",
        "3 door",
        canon("auth", '.decode("latin-1").replace(";", "&"), keep_blank', '.decode("latin-1"), keep_blank'),
        "test_auth::test_a_credential_is_found_behind_either_separator_of_a_query",
    ),
    breakage(
        "whatever looks blank is cut from a key",
        "3 door",
        canon("auth", '.decode("latin-1").strip(BLANKS) for', '.decode("latin-1").strip() for'),
        "test_auth::test_what_is_no_blank_in_a_header_belongs_to_the_credential",
    ),
    breakage(
        "a message that cannot be read is quoted",
        "3 door",
        canon(
            "auth",
            'answer["error"]["message"] = answer["error"]["message"].partition(":")[0]',
            'answer["error"]["message"] = str(answer["error"]["message"])',
        ),
        "test_auth::test_a_message_that_cannot_be_read_is_not_quoted",
    ),
    breakage(
        "the door forgets that it may be mounted",
        "3 door",
        canon("auth", 'scope["path"].removeprefix(scope.get("root_path", ""))', 'scope["path"]'),
        "test_auth::test_a_host_application_can_mount_it_before_its_provider_is_there",
    ),
    breakage(
        "a refused caller's words are recorded",
        "audit",
        canon("boundary", "self.tool = UNKNOWN_TOOL", "self.tool = message.name"),
        "test_audit::test_a_caller_without_identity_leaves_no_words",
    ),
    breakage(
        "half a line stays when the disk is full",
        "audit",
        canon("audit", "                        os.ftruncate(descriptor, before)\n", ""),
        "test_audit::test_a_full_disk_refuses_the_call_and_leaves_whole_lines",
    ),
    breakage(
        "a folder that is gone stays gone",
        "audit",
        canon(
            "audit",
            "        line = _line(call)\n",
            "        line = _line(call)\n        if not self.path.parent.exists():\n            raise AuditUnavailable\n",
        ),
        "test_audit::test_a_call_that_cannot_be_read_writes_a_line",
        "test_audit::test_a_caller_without_identity_leaves_no_words",
        "test_audit::test_a_folder_that_is_taken_away_is_made_anew",
    ),
    breakage(
        "a cancelled call is a good span",
        "4 caller",
        canon(
            "telemetry",
            "AnswerStatus.FAILED if call.status == CANCELLED else call.status",
            "call.status",
        ),
        "test_telemetry::test_a_cancelled_call_is_a_failed_span",
    ),
)
"""Every row. A gate that no row turns red has not been shown to be one."""
