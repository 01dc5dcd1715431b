import Accounts
import Foundation
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import IdentityAPI

/// The retention of identity-api, with the role of the service.
struct SweeperTests {
    private func sweeper() throws -> Sweeper {
        IdentityAPI.sweeper(
            postgres: api.context.postgres, photos: try api.context.blobStore(.faces),
            pseudonyms: SessionPseudonyms(sessionKey: try api.context.settings.sessionKey()),
            sealers: [.accounts: try api.context.sealer(.accounts)], interval: .seconds(3_600), logger: api.context.logger)
    }

    @Test(.api) func `every step runs with the role of the service on an empty database`() async throws {
        let sweeper = try sweeper()
        let swept = await sweeper.sweep()
        #expect(swept == Dictionary(uniqueKeysWithValues: sweeper.stepNames.map { ($0, 0) }))
    }

    @Test(.api) func `every step processes rows that are due, with the role of the service`() async throws {
        for minutes in [1, 2] {
            let id = try await api.start().id
            if minutes == 1 { try await api.decide(id, .failed(.noMatch)) }
            try await api.postgres.execute(
                """
                UPDATE sessions SET deadline_at = now() - interval '1 minute', completed_at = completed_at - interval '10 minutes'
                WHERE id = \(id)
                """)
        }
        let customer = try await api.customer()
        try await api.postgres.withTransaction { transaction in
            // Each row stands alone.
            try await transaction.script("SET LOCAL session_replication_role = replica")
            try await transaction.script(Self.dueRows(of: customer.userID))
        }
        let sweeper = try sweeper()
        let swept = await sweeper.sweep()
        // Counts are no rows, and stray photos are files.
        let others: Set = ["sealed_values", "stray_photos"]
        for step in sweeper.stepNames {
            let count = try #require(swept[step], "\(step) failed")
            #expect(others.contains(step) || count > 0, "\(step)")
        }
        #expect(try await api.count("push_installs WHERE user_id IS NOT NULL") == 0, "those of the sign-ins that ended")
        #expect(try await api.count("face_templates") == 1, "that of the recovery")
    }

    /// One row and more for each step that has no rows of the API yet. The mail is not due: the running service would drop it before.
    private static func dueRows(of user: UUID) -> String {
        let user = "'\(user.uuidString)'::uuid"
        let id = "gen_random_uuid()"
        func hash(_ number: Int) -> String { "decode('\(String(repeating: "0\(number)", count: 32))', 'hex')" }
        let lookup = "decode('026b31' || repeat('00', 32), 'hex')"
        return """
            INSERT INTO sessions (id, user_id, event, token_hash, state, reason, retryable, completed_at, expires_at)
            VALUES (\(id), \(id), 'sign_up', \(hash(1)), 'failed', 'no_face', true, now() - interval '1 day', now());
            INSERT INTO sessions (id, user_id, event, token_hash, address_key, site_key, awaits_turn)
            VALUES (\(id), \(id), 'sign_up', \(hash(1)), \(hash(1)), \(hash(1)), true);
            INSERT INTO used_challenges (id, expires_at) VALUES (\(id), now());
            INSERT INTO used_device_proofs (id, expires_at) VALUES (\(hash(1)), now());
            INSERT INTO email_verifications (id, account_id, purpose, email_lookups, email_sealed, reference, created_at)
            VALUES (\(id), \(id), 'enrolment', ARRAY[\(lookup)], '', 'BCDF', now() - interval '2 days');
            INSERT INTO code_mails (id, email_lookups, is_proven, due_at, created_at)
            VALUES (\(id), ARRAY[\(lookup)], false, now() + interval '1 day', now() - interval '2 days');
            INSERT INTO wrong_codes (site_key, is_in_total, at) VALUES (\(hash(1)), true, now() - interval '2 days');
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes, signatures,
                                            number, changed_in, created_at, email_lookups, due_at)
            VALUES (\(id), \(id), 'm', 1, '', '{}', '{}', '{}', 1, pg_current_xact_id(), now() - interval '2 days', NULL, NULL),
                   (\(id), \(user), 'm', 1, '', '{}', '{}', '{}', 2, pg_current_xact_id(), now() - interval '2 days',
                    (SELECT array_agg(lookup) FROM email_lookups WHERE user_id = \(user)), now());
            INSERT INTO push_installs (installation_key, kind, value_sealed, value_hash, user_id)
            VALUES (\(hash(1)), 'token', '', \(hash(1)), \(user)), (\(hash(2)), 'token', '', \(hash(2)), \(user));
            INSERT INTO access_tokens (id, family_id, user_id, session_id, access_hash, refresh_hash, expires_at, refresh_expires_at,
                                       installation_key, revoked_at, unregister_at)
            VALUES (\(id), \(id), \(user), \(id), \(hash(1)), \(hash(1)), now(), now(), \(hash(1)), NULL, NULL),
                   (\(id), \(id), \(user), \(id), \(hash(2)), \(hash(2)), now(), now() + interval '1 day', \(hash(2)), now(), now());
            INSERT INTO face_photo_hashes (user_id, file_hash, is_accepted, created_at)
            VALUES (\(id), \(hash(1)), true, now() - interval '1 year');
            INSERT INTO install_hand_overs (id, installation_key, is_held_value, nonce_hash, user_id, expires_at, created_at)
            VALUES (\(id), \(hash(3)), false, \(hash(1)), \(id), now(), now() - interval '1 month');
            INSERT INTO idempotency_keys (user_id, route, key, owner, locked_until, expires_at)
            VALUES (\(id), 'POST /', 'k', \(id), now(), now());
            INSERT INTO conversation_messages (topic_id, message_id, sender_id, seq, fingerprint, notification_id, created_at)
            VALUES (\(id), 'm', \(id), 1, \(hash(1)), \(id), now() - interval '1 year');
            INSERT INTO image_job_reads (job_id, trigger, at) VALUES (\(id), 'poll', now() - interval '1 year');
            INSERT INTO push_presence (installation_key, topic_id, user_id, lease_until)
            VALUES (\(hash(4)), \(id), \(id), now() - interval '1 month');
            INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, accepted, unknown, not_before, expires_at)
            VALUES (\(id), 'a', \(id), 'k', \(hash(1)), 'requested', 1, 0, now() - interval '1 year', now() - interval '11 months');
            INSERT INTO erased_identities (issuer, subject_lookup, erased_at) VALUES ('i', \(lookup), now() - interval '1 year');
            INSERT INTO account_exports (id, user_id, started_at, lease_until)
            VALUES (\(id), \(id), now() - interval '1 month', now() - interval '1 month');
            INSERT INTO reports (id, subject_type, subject_id, reason, state, created_at, closed_at)
            VALUES (\(id), 'user', 'u', 'spam', 'closed', now() - interval '5 years', now()),
                   (\(id), 'user', 'u', 'spam', 'open', now() - interval '5 years', NULL);
            INSERT INTO topic_invitations (topic_id, user_id, inviter_id, is_announced, expires_at)
            VALUES (\(id), \(id), \(id), true, now());
            INSERT INTO topic_invitation_log (inviter_id, user_id, is_announced, created_at)
            VALUES (\(id), \(id), true, now() - interval '2 days');
            INSERT INTO audit_log (actor_kind, actor_id, action, result, at)
            VALUES ('system', 's', 'a', 'succeeded', now() - interval '3 years')
            """
    }
}
