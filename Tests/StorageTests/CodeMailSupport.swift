import Accounts
import FoundationEssentials
import PostgresClient
import TestSupport

/// Asks for codes of an address, and publishes its mails.
struct CodeMails {
    /// The address.
    var seed = 1

    /// Where the client of a number is: each has a site of its own.
    static func origin(_ number: Int) -> RequestOrigin { RequestOrigin(addressKey: hash(10_000 + number), siteKey: hash(20_000 + number)) }

    /// Asks for a code.
    @discardableResult
    func ask(
        from number: Int = 0, at origin: RequestOrigin? = nil, _ purpose: EmailVerification.Purpose = .registration,
        isPublished: Bool = false
    ) async throws -> (id: UUID, mail: CodeMail) {
        let new = NewEmailVerification(
            purpose: purpose, email: SealedEmail(lookup: hash(seed), sealed: [1]), origin: origin ?? Self.origin(number))
        let mail = try await client.withTransaction { transaction in
            if purpose != .emailChange { try await EmailVerificationRepository(transaction).deleteSurplus(before: new) }
            let mail = try await EmailVerificationRepository(transaction).insert(new)
            if isPublished { _ = try await CodeMailRepository(transaction).publish(mail.id) }
            return mail
        }
        return (new.id, mail)
    }

    /// Asks for another code of a verification.
    func askAgain(_ id: UUID) async throws -> CodeMail? {
        try await client.withTransaction { transaction in
            try await EmailVerificationRepository(transaction).askAgain(id: id, requestID: nil, traceparent: nil)
        }
    }

    /// Publishes a mail; returns the requests whose codes are in it.
    @discardableResult
    func publish(_ mail: CodeMail) async throws -> [UUID] {
        _ = try await client.withTransaction { try await CodeMailRepository($0).publish(mail.id) }
        return try await EmailVerificationRepository(client).requests(in: mail.id).map(\.id)
    }

    /// The seconds until a planned mail may be sent.
    static func wait(for mail: CodeMail) async throws -> Int {
        let wait: Double = try await client.query(
            "SELECT extract(epoch FROM due_at - now())::float8 AS wait FROM code_mails WHERE id = \(mail.id)"
        ).required().decode("wait")
        return max(0, Int(wait.rounded(.up)))
    }

    /// Enters the code of a verification.
    func prove(_ id: UUID) async throws { _ = try await EmailVerificationRepository(client).verify(id: id) }

    /// Makes all times of mails and verifications older.
    static func age(by seconds: Int) async throws {
        let interval = Double(seconds)
        try await client.execute(
            """
            UPDATE code_mails SET due_at = due_at - make_interval(secs => \(interval)),
                requested_at = requested_at - make_interval(secs => \(interval)),
                created_at = created_at - make_interval(secs => \(interval))
            """)
        try await client.execute(
            """
            UPDATE email_verifications SET asked_at = asked_at - make_interval(secs => \(interval)),
                mailed_at = mailed_at - make_interval(secs => \(interval)), created_at = created_at - make_interval(secs => \(interval)),
                code_expires_at = code_expires_at - make_interval(secs => \(interval))
            """)
    }

    /// The verification of an id.
    static func verification(_ id: UUID) async throws -> EmailVerification? {
        try await EmailVerificationRepository(client).find(id: id)
    }
}
