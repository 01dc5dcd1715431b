extension ServiceRole {
    static let faceMatchingWorkerGrants: [TableGrant] = [
        .own("face_templates"),
        .own("face_photo_hashes", .select, .insert, .update(of: "is_accepted"), .delete),
        .own("pending_enrolments", .select, .insert, .update, .delete),
        .own("face_removals", .select, .update, .delete),
        .own("face_duplicates"),
        .own("face_indexes"),
        .own("face_reindexes", .select),
        .borrow("consents", .select(of: "id"), .insert, because: "the consent is stored with the face that it came with"),
        .borrow(
            "sessions", .select,
            .update(
                of: "state", "started_at", "reason", "photo_problems", "retryable", "attempts_left", "locked_until", "completed_at",
                "email_lookups", "email_sealed", "photos", "photos_kept_until", "liveness", "cost_ms", "awaits_turn"),
            because: "it decides sessions, and removes their e-mail and photos"),
        .borrow(
            "users", .select(of: "id", "state", "first_email_at", "sign_ins_ended_at"), .insert,
            .update(of: "sign_ins_ended_at"),
            because: """
                the account begins with its first face, a new face ends the sign-ins of the former one, and one from before the first \
                e-mail is not enrolled
                """),
        .borrow(
            "email_lookups", .select, .insert,
            because: "as for users; and a recovery needs the account's e-mail, compared by its hash"),
        .borrow(
            "email_verifications", .select, .insert, .delete,
            because: """
                a face without a proven e-mail requests the proof, in place of older requests of its address beyond their limit; a proven \
                e-mail becomes the account's
                """),
        .borrow(
            "code_mails", .select, .insert, .update(of: "site_key", "is_proven", "due_at"),
            because: "as for email_verifications: the request has its place in the next mail"),
        .borrow(
            "identities", .select(of: "user_id", "valid_after"), .update(of: "valid_after"),
            because: "an upload by a sign-in that has ended replaces no face, and a new face ends sign-ins"),
        .borrow(
            "access_tokens",
            .select(
                of: "family_id", "user_id", "installation_key", "device_key", "is_moved", "revoked_at", "signed_out_at",
                "refresh_expires_at", "created_at"),
            .update(of: "revoked_at", "unregister_at"),
            because: "as for identities; and failed sign-ins on a known device have their own budget. The hashes stay hidden"),
        .borrow(
            "push_installs", .select(of: "id", "installation_key", "user_id"),
            because: "the installation of the upload gets no push about its own change. The tokens stay hidden"),
        .borrow(
            "push_presence", .select(of: "user_id", "installation_key"), .delete,
            because: "an installation whose sign-in ends shows no conversation any more"),
        .borrow("audit_log", .insert, because: "what it decides about accounts is recorded"),
    ]

    static let imageWorkerGrants: [TableGrant] = [
        .own("image_jobs", .select, .update, .delete),
        .own("image_attempts", .select, .insert, .update),
        .own("image_calls"),
        .own("image_costs", .select, .delete),
        .own("topic_photos", .select, .update, .delete),
        .own("topic_photo_windows"),
        .borrow(
            "image_job_reads", .select(of: "job_id"), .delete, because: "it deletes the jobs of an erased user with all that refers to them"
        ),
        .borrow("image_templates", .select, because: "operators write templates; it makes pictures by them"),
        .borrow(
            "topics", .select(of: "id", "name", "member_count", "item_seq"), .update(of: "item_seq"),
            because: "a photo that becomes ready is the next item of its topic"),
        .borrow(
            "topic_members", .select(of: "topic_id", "user_id", "read_seq"), .update(of: "read_seq"),
            because: "a photo is not unread for its uploader"),
    ]

    static let notifierGrants: [TableGrant] = [
        .own("deliveries", .select, .insert, .update),
        .own("delivery_pages", .select, .update),
        .own("push_quota", .select, .insert, .update),
        .own("push_install_rates", .select, .insert, .update),
        .borrow(
            "notifications", .select, .update(of: "ended_deliveries"),
            because: "a push is rendered from its notification, which counts its ended deliveries"),
        .borrow("push_installs", .select, because: "a push needs the token of its installation, which this service alone opens to send"),
        .borrow("push_presence", .select, because: "a conversation that is on the screen needs no push"),
        .borrow(
            "image_jobs", .select(of: "id", "user_id", "status", "seen_at", "deleted_at", "expires_at"),
            because: "no push about a deleted picture; unseen pictures count for the badge"),
        .borrow("topics", .select(of: "id", "name", "item_seq"), because: "membership is checked again, and badges count items"),
        .borrow(
            "topic_members", .select(of: "topic_id", "user_id", "read_seq"), because: "as for topics"),
        .borrow(
            "topic_invitations", .select(of: "topic_id", "user_id", "inviter_id", "is_announced", "expires_at"),
            because: "no push about an invitation that has ended"),
        .borrow(
            "email_verifications", .select(of: "id", "account_id", "verified_at", "denied_at", "code_expires_at"),
            because: "no push about a sign-in that is decided"),
        .borrow("sessions", .select(of: "id", "redeemed_at"), because: "as for email_verifications"),
        .borrow(
            "access_tokens", .select(of: "user_id", "installation_key", "device_key_storage", "revoked_at", "refresh_expires_at"),
            because: "only a phone whose sign-in has a device key can confirm another sign-in. The hashes stay hidden"),
        .borrow(
            "topic_photos", .select(of: "topic_id", "uploader_id", "seq", "state", "expires_at"),
            because: "photos count for the badge"),
        .borrow(
            "conversation_messages", .select(of: "topic_id", "sender_id", "seq"),
            because: "messages of blocked users do not count for the badge"),
        .borrow("user_blocks", .select(of: "user_id", "blocked_id"), because: "no push of a blocked user"),
    ]
}
