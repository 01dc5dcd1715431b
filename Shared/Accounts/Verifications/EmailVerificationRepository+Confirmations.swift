public import FoundationEssentials
public import PostgresClient

/// Sign-ins on new devices that a device of the account confirms or denies, in place of their codes.
///
/// A sign-in can be confirmed for as long as its code can be entered, and with the same attempts: neither begins before the mail.
extension EmailVerificationRepository {
    /// The maximum number of sign-ins in a list; the newest ones are in it.
    public static let maxWaiting = 20

    /// Returns the sign-ins of a user that can be confirmed now, the newest first.
    public func waitingSignIns(of userID: UUID) async throws(PostgresError) -> [EmailVerification] {
        let query: PostgresQuery = """
            SELECT v.* FROM email_verifications v
            WHERE v.email_lookups && ARRAY(SELECT lookup FROM email_lookups WHERE user_id = \(userID)) AND v.account_id = \(userID)
              AND \(unescaped: Self.isConfirmable)
            ORDER BY v.created_at DESC, v.id LIMIT \(Self.maxWaiting)
            """
        return try await db.query(query.readOnly()).map(EmailVerification.init(row:))
    }

    /// Returns the sign-in about which the other devices of its account get a push when a mail is published; `nil` for none.
    ///
    /// A push has the turn of the mail in which the sign-in has its first code: so the rules for mails bound the pushes, too, and a
    /// stranger uses up no turn of the owner. A mail causes one push, about a request that is proven if there is one, else the newest. A
    /// site whose sign-in the owner has denied causes no more on the same day.
    ///
    /// Call in the transaction of ``CodeMailRepository/publish(_:)``, after it.
    public func signInToConfirm(in mail: UUID) async throws(PostgresError) -> EmailVerification? {
        try await db.query(
            """
            SELECT v.* FROM code_mails m JOIN email_verifications v ON v.email_lookups && m.email_lookups AND v.code_mail_id = m.id
            WHERE m.id = \(mail) AND v.code_number = 1 AND v.mailed_at = now() AND \(unescaped: Self.isConfirmable)
              AND EXISTS (SELECT FROM push_installs i JOIN access_tokens t
                              ON t.user_id = i.user_id AND t.installation_key = i.installation_key
                          WHERE i.user_id = v.account_id AND i.state <> 'invalid' AND t.device_key IS NOT NULL
                            AND t.revoked_at IS NULL AND t.refresh_expires_at > now())
              AND NOT EXISTS (SELECT FROM email_verifications d
                              WHERE d.email_lookups && m.email_lookups AND d.denied_at IS NOT NULL
                                AND d.site_key IS NOT DISTINCT FROM v.site_key)
            ORDER BY v.is_proven DESC, v.created_at DESC, v.id LIMIT 1
            """
        ).first.map(EmailVerification.init(row:))
    }

    /// Takes one of the attempts of a user's sign-in to confirm it, and locks its verification until the transaction ends. Commit the
    /// transaction when the reference is wrong, too.
    ///
    /// - Returns: The verification; `nil` when no sign-in of the user waits under this id.
    public func takeAttempt(toConfirm id: UUID, of userID: UUID) async throws(PostgresError) -> EmailVerification? {
        try await db.query(
            """
            UPDATE email_verifications v SET attempts_left = attempts_left - 1
            WHERE v.id = \(id) AND v.account_id = \(userID) AND \(unescaped: Self.isConfirmable) RETURNING *
            """
        ).first.map(EmailVerification.init(row:))
    }

    /// Denies a user's sign-in: it gives no tokens any more, whether a code was entered or not.
    ///
    /// Call in a transaction: it takes ``SignInRepository/lock(of:)``, so that the sign-in is not redeemed meanwhile.
    ///
    /// - Returns: Whether this call denied it, and no earlier one; `nil` when no sign-in of the user waits under this id.
    public func denySignIn(_ id: UUID, of userID: UUID) async throws(PostgresError) -> Bool? {
        try await SignInRepository(db).lock(of: userID)
        let denied = try await db.execute(
            """
            UPDATE email_verifications v SET denied_at = now(), verified_at = NULL, asked_at = NULL, attempts_left = 0
            WHERE v.id = \(id) AND v.account_id = \(userID) AND v.purpose = 'sign_in' AND \(unescaped: Self.hasRedeemableSession)
            """)
        guard denied == 0 else { return true }
        let again = try await db.query(
            "SELECT FROM email_verifications WHERE id = \(id) AND account_id = \(userID) AND denied_at IS NOT NULL")
        return again.isEmpty ? nil : false
    }

    /// SQL condition: the verification `v` is for a sign-in that waits for a code that was mailed.
    private static let isConfirmable = """
        v.purpose = 'sign_in' AND v.verified_at IS NULL AND v.attempts_left > 0 AND v.code_expires_at > now() AND \(hasRedeemableSession)
        """
    private static let hasRedeemableSession = "EXISTS (SELECT FROM sessions WHERE sessions.id = v.id AND \(SessionRepository.isRedeemable))"
}
