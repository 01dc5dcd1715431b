internal import PostgresClient

/// A record of an export of an account.
public struct ExportedRecord: Sendable, Equatable {
    /// Its time, by which records are ordered, as the server prints it.
    public let at: String
    /// Its id, by which records of one time are ordered.
    public let id: String
    /// An object of JSON.
    public let json: String
    /// A text that belongs to it, sealed; only of ``ExportedList/reports``, by `SealingContext.report`.
    public let sealed: [UInt8]?

    init(row: PostgresRow) throws(PostgresError) {
        at = try row.decode("at")
        id = try row.decode("id")
        json = try row.decode("json")
        sealed = try row.decode("sealed")
    }
}

/// A picture of an export of an account.
public struct ExportedPicture: Sendable, Equatable {
    /// The job or photo that it belongs to; pictures are ordered by it.
    public let id: String
    /// The key in the blob store.
    public let key: String

    init(row: PostgresRow) throws(PostgresError) {
        id = try row.decode("id")
        key = try row.decode("key")
    }
}

/// The lists of an export, each with the columns that are exported.
///
/// Left out are secrets (push tokens, hashes of tokens), data that could help to attack the account (hashes of photos, address keys), and
/// data of other people: who invited, allowed, blocked or reported the user, and their texts.
public enum ExportedList: String, Sendable, CaseIterable {
    case consents
    case signIns = "sign-ins"
    case identityProviders = "identity-providers"
    case faceSessions = "face-sessions"
    case emailVerifications = "email-verifications"
    case devices
    case deviceHistory = "device-history"
    case deviceClaims = "device-claims"
    case topics
    case formerTopics = "former-topics"
    case presence
    case invitationsReceived = "invitations-received"
    case invitationsMade = "invitations-made"
    case messages
    case photos
    case imageJobs = "image-jobs"
    case notifications
    case receipts
    case blocks
    case contacts
    case reports
    case repeatableRequests = "repeatable-requests"
    case exports
    case audit

    /// Selects the records of the user `$1` as `at`, `id`, `json` and `sealed`.
    var select: String {
        switch self {
        case .consents, .signIns, .identityProviders, .faceSessions, .emailVerifications, .repeatableRequests, .exports, .audit:
            accountSelect
        case .devices, .deviceHistory, .deviceClaims, .notifications, .receipts: deviceSelect
        case .topics, .formerTopics, .presence, .invitationsReceived, .invitationsMade, .messages: topicSelect
        case .photos, .imageJobs, .blocks, .contacts, .reports: contentSelect
        }
    }

    private var accountSelect: String {
        switch self {
        case .consents:
            Self.from("consents WHERE user_id = $1", at: "given_at", "'version', version, 'text_sha256', encode(text_hash, 'hex')")
        case .signIns:
            Self.from(
                """
                (SELECT family_id AS id, min(signed_in_at) AS signed_in_at, max(created_at) AS last_refreshed_at,
                        max(refresh_expires_at) AS expires_at, max(revoked_at) FILTER (WHERE NOT is_valid) AS ended_at,
                        max(device_key_storage) AS device_key
                 FROM (SELECT *, bool_or(revoked_at IS NULL) OVER (PARTITION BY family_id) AS is_valid FROM access_tokens
                       WHERE user_id = $1) AS pairs GROUP BY family_id) AS families
                """, at: "signed_in_at",
                "'last_refreshed_at', last_refreshed_at, 'expires_at', expires_at, 'ended_at', ended_at, 'device_key', device_key")
        case .identityProviders:
            Self.from(
                """
                (SELECT issuer AS id, min(created_at) AS created_at, max(valid_after) AS valid_after FROM identities
                 WHERE user_id = $1 GROUP BY issuer) AS providers
                """, at: "created_at",
                "'tokens_valid_after', valid_after")
        case .faceSessions:
            Self.from(
                "sessions WHERE user_id = $1", at: "created_at",
                """
                'event', event, 'state', state, 'reason', reason, 'photo_problems', photo_problems, 'completed_at', completed_at,
                'redeemed_at', redeemed_at, 'is_recovery', is_recovery, 'challenge', challenge, 'liveness', liveness,
                'expires_at', expires_at
                """)
        case .emailVerifications:
            Self.from(
                "email_verifications WHERE account_id = $1", at: "created_at",
                "'purpose', purpose, 'verified_at', verified_at, 'denied_at', denied_at")
        case .repeatableRequests:
            Self.from(
                "(SELECT *, route || ' ' || key AS id FROM idempotency_keys WHERE user_id = $1) AS requests", at: "created_at",
                "'expires_at', expires_at")
        case .exports:
            Self.from("account_exports WHERE user_id = $1", at: "started_at", "'ended_at', ended_at")
        default:
            Self.from(
                "audit_log_of($1)", at: "at",
                "'action', action, 'result', result, 'by', actor_kind, 'about', object_id, 'request_id', request_id, 'detail', detail")
        }
    }

    private var deviceSelect: String {
        switch self {
        case .devices:
            Self.from(
                "push_installs WHERE user_id = $1", at: "registered_at",
                """
                'kind', kind, 'platform', platform, 'locale', locale, 'app_version', app_version, 'state', state,
                'last_seen_at', last_seen_at
                """)
        case .deviceHistory:
            Self.from(
                "push_install_audit WHERE $1 IN (old_user_id, new_user_id)", at: "at",
                "'device', install_id, 'event', event, 'state', state, 'code', code")
        case .deviceClaims:
            Self.from(
                "install_hand_overs WHERE user_id = $1", at: "created_at",
                "'platform', platform, 'locale', locale, 'app_version', app_version, 'state', state, 'expires_at', expires_at")
        case .notifications:
            Self.from(
                """
                notifications WHERE id IN (
                    SELECT id FROM notifications WHERE recipient_type = 'user' AND recipient_id = ($1::uuid)::text
                    UNION SELECT n.id FROM sessions s JOIN notifications n
                        ON n.recipient_type = 'session' AND n.recipient_id = s.id::text WHERE s.user_id = $1
                    UNION SELECT id FROM app_notifications WHERE user_ids <> '{}' AND $1 = ANY(user_ids))
                """, at: "created_at",
                """
                'kind', kind, 'image_job_id', job_id, 'topic_id', topic_id, 'state', state, 'skip_reason', skip_reason,
                'settled_at', settled_at, 'expires_at', expires_at
                """)
        default:
            Self.from(
                "(SELECT *, notification_id::text || ' ' || event AS id FROM notification_receipts WHERE user_id = $1) AS receipts",
                at: "at", "'notification', notification_id, 'event', event")
        }
    }

    private var topicSelect: String {
        switch self {
        case .topics:
            Self.from(
                """
                (SELECT t.name AS id, m.joined_at, t.owner_id = $1 AS is_owner, m.read_seq
                 FROM topic_members m JOIN topics t ON t.id = m.topic_id WHERE m.user_id = $1) AS memberships
                """, at: "joined_at", "'is_owner', coalesce(is_owner, false), 'read_up_to', read_seq")
        case .formerTopics:
            Self.from(
                "(SELECT t.name AS id, l.left_at FROM topic_leavers l JOIN topics t ON t.id = l.topic_id WHERE l.user_id = $1) AS former",
                at: "left_at")
        case .presence:
            Self.from(
                """
                (SELECT t.name AS id, p.lease_until FROM push_presence p JOIN topics t ON t.id = p.topic_id
                 WHERE p.user_id = $1) AS shown
                """,
                at: "lease_until")
        case .invitationsReceived:
            Self.from(
                """
                (SELECT t.name AS id, i.created_at, i.expires_at FROM topic_invitations i JOIN topics t ON t.id = i.topic_id
                 WHERE i.user_id = $1) AS invitations
                """, at: "created_at", "'expires_at', expires_at")
        case .invitationsMade:
            Self.from(
                """
                (SELECT t.name || ' ' || i.user_id::text AS id, t.name, i.user_id, i.created_at, i.expires_at
                 FROM topic_invitations i JOIN topics t ON t.id = i.topic_id WHERE i.inviter_id = $1) AS invitations
                """, at: "created_at", "'topic', name, 'user_id', user_id, 'expires_at', expires_at")
        default:
            Self.from(
                """
                (SELECT t.name || ' ' || m.message_id AS id, t.name, m.message_id, m.created_at
                 FROM conversation_messages m JOIN topics t ON t.id = m.topic_id
                 WHERE m.sender_id = $1 AND m.topic_id IN (
                     SELECT topic_id FROM topic_members WHERE user_id = $1
                     UNION SELECT topic_id FROM topic_leavers WHERE user_id = $1)) AS messages
                """, at: "created_at", "'topic', name, 'message_id', message_id")
        }
    }

    private var contentSelect: String {
        switch self {
        case .photos:
            Self.from(
                """
                (SELECT p.*, t.name FROM topic_photos p LEFT JOIN topics t ON t.id = p.topic_id WHERE p.uploader_id = $1) AS photos
                """, at: "created_at", "'topic', name, 'state', state, 'bytes', byte_count, 'expires_at', expires_at")
        case .imageJobs:
            Self.from(
                "image_jobs WHERE user_id = $1 AND deleted_at IS NULL", at: "created_at",
                """
                'template_id', template_id, 'template_name', template_name, 'status', status, 'width', result_width,
                'height', result_height, 'model_used', model_used, 'error_code', error_code, 'error_message', error_message,
                'completed_at', completed_at, 'expires_at', expires_at
                """)
        case .blocks: Self.from(PeopleList.blocks)
        case .contacts: Self.from(PeopleList.contacts)
        default:
            Self.from(
                "reports WHERE reporter_id = $1", at: "created_at",
                "'subject_type', subject_type, 'subject_id', subject_id, 'reason', reason, 'state', state, 'closed_at', closed_at",
                sealed: "text_sealed")
        }
    }

    /// Builds the select of a list of people.
    private static func from(_ list: PeopleList) -> String {
        from(
            "(SELECT *, \(list.column) AS id FROM \(list.table) WHERE user_id = $1) AS people", at: "created_at",
            "'\(list.column)', \(list.column)")
    }

    /// Builds a select: the id and the time are part of every record.
    private static func from(_ source: String, at time: String, _ members: String = "", sealed: String = "NULL::bytea") -> String {
        let members = ["'id', id", "'\(time)', \(time)", members].filter { !$0.isEmpty }.joined(separator: ", ")
        return """
            SELECT \(time) AS record_at, id::text AS record_id, json_build_object(\(members))::text AS json, \(sealed) AS sealed
            FROM \(source)
            """
    }
}
