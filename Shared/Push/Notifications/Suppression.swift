/// A reason not to send a push that was addressed, decided as late as possible: when a sender claims it.
///
/// The cases are in the order in which they are checked; the first that applies counts. Each is an SQL condition, because it reads
/// tables that a claim must not read row by row. `d` is the delivery, `n` its notification, and `i` its installation if pushes can be
/// sent to it. OFFSET 0 makes each subquery an index lookup, even in a plan that was made while the tables were empty.
public enum Suppression: String, Sendable, CaseIterable {
    /// The notification has expired; its deliveries are settled as `expired`, all others as `skipped`.
    case expired
    /// The image job that it is about is deleted or expired.
    case jobGone = "job_gone"
    /// The installation is deleted or dead, or has passed to another user since the push was addressed. A session's push is sent to
    /// the phone that started the session, independently of its user.
    case noInstallation = "no_installation"
    /// Its user has left the topic. Membership was checked when the push was addressed, so it is checked again only after a wait.
    case notAMember = "not_a_member"
    /// The user blocks the sender. Blocks were checked when the push was addressed, so they are checked again only after a wait.
    case blocked
    /// The conversation that it is about is on the installation's screen.
    case presence
    /// The invitation of the push was accepted, declined or withdrawn, has expired, was deleted with its topic, or is from a user who is
    /// blocked by now.
    case notInvited = "not_invited"
    /// The sign-in of the push was confirmed, denied or redeemed, or its code has ended; or the installation's sign-in has no device key,
    /// and cannot confirm it.
    case notConfirmable = "not_confirmable"

    var condition: String {
        switch self {
        case .expired: "n.expires_at <= now()"
        case .jobGone:
            """
            \(isOfItsKinds) AND NOT EXISTS (
                SELECT FROM image_jobs WHERE id = n.job_id AND deleted_at IS NULL AND expires_at > now() OFFSET 0)
            """
        case .noInstallation:
            "(n.recipient_type = 'session' AND i.id IS NOT NULL OR d.generation >= i.bound_generation) IS NOT TRUE"
        case .notAMember:
            """
            n.recipient_type = 'topic' AND d.created_at < now() - interval '10 seconds' AND NOT EXISTS (
                SELECT FROM topics t JOIN topic_members m ON m.topic_id = t.id WHERE t.name = n.recipient_id AND m.user_id = i.user_id
                OFFSET 0)
            """
        case .blocked:
            """
            n.recipient_type = 'topic' AND d.created_at < now() - interval '10 seconds' AND EXISTS (
                SELECT FROM user_blocks b WHERE b.user_id = i.user_id AND b.blocked_id = n.sender_id OFFSET 0)
            """
        case .presence:
            """
            \(isOfItsKinds) AND EXISTS (
                SELECT FROM push_presence s
                WHERE s.installation_key = i.installation_key AND s.user_id = i.user_id AND s.lease_until > now()
                  AND s.topic_id = n.topic_id)
            """
        case .notInvited:
            """
            \(isOfItsKinds) AND NOT EXISTS (
                SELECT FROM topic_invitations v
                WHERE v.user_id = i.user_id AND v.is_announced AND v.expires_at > now() AND v.topic_id = n.topic_id
                  AND NOT EXISTS (SELECT FROM user_blocks WHERE user_id = v.user_id AND blocked_id = v.inviter_id)
                OFFSET 0)
            """
        case .notConfirmable:
            """
            \(isOfItsKinds) AND NOT EXISTS (
                SELECT FROM email_verifications v JOIN sessions s ON s.id = v.id
                WHERE v.id = n.session_id AND v.account_id = i.user_id AND v.verified_at IS NULL AND v.denied_at IS NULL
                  AND v.code_expires_at > now() AND s.redeemed_at IS NULL
                  AND EXISTS (
                    SELECT FROM access_tokens t
                    WHERE t.user_id = i.user_id AND t.installation_key = i.installation_key AND t.device_key_storage IS NOT NULL
                      AND t.revoked_at IS NULL AND t.refresh_expires_at > now() OFFSET 0)
                OFFSET 0)
            """
        }
    }

    /// SQL condition of the notifications whose kind has a condition that ends with this reason.
    private var isOfItsKinds: String {
        let kinds = NotificationKind.allCases.filter { $0.type.condition?.suppression == self }
        return "n.kind IN (\(kinds.map { "'\($0.rawValue)'" }.joined(separator: ", ")))"
    }

    /// SQL expression for the first reason that applies; null when the push is to be sent.
    static let firstReason =
        "CASE " + allCases.map { "WHEN \($0.condition) THEN '\($0.rawValue)'" }.joined(separator: "\n") + " END"
}

extension PushCondition {
    /// The reason with which a push ends that lacks the condition.
    fileprivate var suppression: Suppression {
        switch self {
        case .jobExists: .jobGone
        case .conversationNotShown: .presence
        case .invitationOpen: .notInvited
        case .signInConfirmable: .notConfirmable
        }
    }
}
