import PostgresClient

extension Migration {
    /// The schema of the first release.
    static let baseline = Migration(
        number: 1, name: "baseline",
        up: [
            Baseline.audit,
            Baseline.faceNumbers,
            Baseline.accounts,
            Baseline.consents,
            Baseline.verifications,
            Baseline.faceDuplicates,
            Baseline.faceIndexes,
            Baseline.sessions,
            Baseline.usedChallenges,
            Baseline.usedDeviceProofs,
            Baseline.idempotency,
            Baseline.outboxAndInbox,
            Baseline.pushInstalls,
            Baseline.installHandOvers,
            Baseline.pushHealth,
            Baseline.notifications,
            Baseline.deliveries,
            Baseline.deliveryPages,
            Baseline.pushLimits,
            Baseline.imageTemplates,
            Baseline.imageJobs,
            Baseline.topics,
            Baseline.invitations,
            Baseline.conversations,
            Baseline.topicPhotos,
            Baseline.fanOuts,
            Baseline.services,
            Baseline.blocks,
            Baseline.erasures,
            Baseline.sealedValueCounts,
        ].joined(separator: "\n\n"),
        down: """
            DROP TABLE sealed_value_counts;
            DROP FUNCTION audit_log_pseudonymise(uuid);
            DROP TABLE erased_identities, erasure_reports, erasures;
            DROP TABLE reports, user_contacts, user_blocks, app_notifications, service_credentials;
            DROP TABLE topic_fan_outs, topic_photo_windows, topic_photos, push_presence, conversation_messages, topic_invitation_log,
                topic_invitations, topic_leavers, topic_members, topics;
            DROP TABLE image_job_reads, image_calls, image_costs, image_attempts, image_jobs, image_templates;
            DROP VIEW delivery_ledger;
            DROP TABLE push_install_rates, push_quota, delivery_pages, deliveries, notification_receipts, notifications;
            DROP TABLE push_guard, push_outcomes, push_install_audit, install_hand_overs, push_installs;
            DROP FUNCTION push_install_bound();
            DROP FUNCTION push_install_audit();
            DROP TABLE dead_letters, inbox, outbox, idempotency_keys, used_device_proofs, used_challenges, sessions;
            DROP TABLE face_reindexes, face_indexes;
            DROP TABLE face_duplicates;
            DROP TABLE pending_enrolments, wrong_codes, code_mails, email_verifications;
            DROP TABLE account_exports, consents;
            DROP FUNCTION consents_refuse();
            DROP TABLE face_photo_hashes, face_templates, access_tokens, identities, email_lookups, users;
            DROP FUNCTION users_refuse_return();
            DROP FUNCTION face_numbered();
            DROP TABLE face_removals;
            DROP SEQUENCE face_numbers;
            DROP TABLE audit_log;
            DROP FUNCTION audit_log_maintain();
            DROP FUNCTION audit_log_of(uuid);
            DROP FUNCTION audit_log_refuse();
            """
    )
}

/// The parts of the baseline migration, one per area of the product; a part may refer to the tables of earlier parts.
enum Baseline {}
