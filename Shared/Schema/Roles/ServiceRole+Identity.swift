extension ServiceRole {
    static let identityAPIGrants: [TableGrant] = [
        .own("users"),
        .own("email_lookups"),
        .own("identities"),
        .own("access_tokens"),
        .own("email_verifications"),
        .own("code_mails"),
        .own("wrong_codes"),
        .own("sessions"),
        .own("used_challenges"),
        .own("used_device_proofs"),
        .own("idempotency_keys"),
        .own("topics"),
        .own("topic_members"),
        .own("topic_leavers"),
        .own("topic_invitations"),
        .own("topic_invitation_log"),
        .own("conversation_messages"),
        .own("push_presence"),
        .own("app_notifications"),
        .own("user_blocks", .select, .insert, .delete),
        // A lock of a row needs UPDATE.
        .own("user_contacts", .select, .insert, .update(of: "created_at"), .delete),
        .own("reports"),
        .own("consents", .select, .insert, .delete),
        .own("account_exports"),
        .own("service_credentials", .select, .update),
        .own("notification_receipts", .select, .insert, .delete),
        .own("image_job_reads"),
        .own("erasures", .select, .insert, .update),
        .own("erased_identities"),
        .own("sealed_value_counts", .select, .insert, .update),
        .borrow(
            "image_jobs", .select, .insert, .update(of: "seen_at", "deleted_at"), .delete,
            because: "it takes orders, shows and deletes them"),
        .borrow("image_calls", .select, because: "an account that had its paid calls of the day orders no more"),
        .borrow("image_costs", .select, .insert, .update, because: "an order's lane depends on what its account has ordered before"),
        .borrow("image_templates", .select, because: "operators write templates; it lists them"),
        .borrow("topic_photos", .select, .insert, because: "it takes photos and shows them"),
        .borrow(
            "face_templates", .select, .insert, .update, .delete,
            because: """
                a face takes effect with the proof of its e-mail or the end of a recovery: it copies the sealed bytes. The first e-mail of \
                an account removes the face from before
                """),
        .borrow(
            "face_photo_hashes", .select(of: "user_id", "file_hash", "created_at"), .insert, .update(of: "created_at"), .delete,
            because: "as for face_templates; and it deletes old ones"),
        .borrow(
            "pending_enrolments", .select, .update(of: "due_at"), .delete,
            because: "as for face_templates; an account cancels its recovery"),
        .borrow(
            "face_duplicates", .select(of: "user_id", "other_id", "state"),
            because: "a face that another account has may take no effect; and an erasure looks for what remains"),
        .borrow("push_installs", because: "sign-ins, sign-outs and device tokens register and unregister installations in one transaction"),
        .borrow("install_hand_overs", because: "as for push_installs"),
        .borrow(
            "push_install_audit", .select, .insert,
            because: "a trigger on push_installs writes the history, which is part of the export of an account"),
        .borrow(
            "notifications",
            .select(
                of: "id", "dedupe_key", "kind", "recipient_type", "recipient_id", "has_picture", "job_id", "topic_id", "state",
                "skip_reason", "created_at", "settled_at", "expires_at"),
            because: "receipts, the figures of app notifications, and exports. The texts stay hidden"),
        .borrow(
            "deliveries", .select(of: "notification_id", "install_id", "state"), because: "as for notifications"),
        .borrow(
            "delivery_pages", .select(of: "notification_id", "first_user_id", "last_user_id", "install_ids", "accepted", "detached"),
            because: "as for notifications"),
        .borrow("audit_log", .insert, because: "what it does to accounts is recorded"),
        .borrow("outbox", .delete, because: "the messages that name an erased user are deleted with the account"),
        .borrow("dead_letters", .select(of: "error", "fields"), because: "as for outbox"),
    ]

    static let tokenRegistryGrants: [TableGrant] = [
        .own("push_installs"),
        .own("install_hand_overs", .select, .delete),
        .own("push_install_audit"),
        .own("push_outcomes"),
        .own("push_guard", .select, .update),
        .own("push_install_rates", .select, .update, .delete),
        .own("notifications"),
        .own("deliveries"),
        .own("delivery_pages"),
        .own("delivery_ledger", .select),
        .own("topic_fan_outs"),
        .borrow(
            "sessions", .select(of: "id", "user_id", "state", "redeemed_at", "install_id"), .update(of: "install_id"),
            because: "the push about a session goes to the installation of its upload, which is released afterwards"),
        .borrow(
            "app_notifications", .select(of: "id", "user_ids"), .update(of: "user_ids"),
            because: "it reads the recipients of a notification, and forgets them afterwards"),
        .borrow("topics", .select, because: "it finds the members of a topic"),
        .borrow("topic_members", .select(of: "topic_id", "user_id"), because: "it finds the members of a topic"),
        .borrow("user_blocks", .select(of: "user_id", "blocked_id"), because: "no push of a blocked user"),
        .borrow("outbox", .delete, because: "it deletes the settled messages of all services"),
        .borrow("inbox", .delete, because: "it deletes the old marks of all services"),
    ]
}
