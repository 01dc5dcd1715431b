import Foundation
import TestSupport
import Testing

extension AbuseTests {
    /// The time in which an honest code has to arrive.
    private static let mailTime: Duration = .seconds(60)

    /// N2: strangers cannot use up the mails of an address.
    @Test func `requests for codes at one e-mail do not keep its owner from a code`() async throws {
        let stack = try await AbuseScale.current.stack()
        let email = "victim-\(UUID().uuidString)@example.org"
        let attack = AbuseAttack(stack, number: 12) { phone in try await phone.register(email).status }
        let (arrival, statuses) = try await attack.during {
            // Each of the strangers has caused five mails before, so that their own next ones are far away.
            try await stack.database.psql(
                """
                INSERT INTO code_mails (id, email_lookups, site_key, is_proven, due_at, requested_at, created_at)
                SELECT gen_random_uuid(), email_lookups, site_key, false, at, at, at
                FROM (SELECT DISTINCT email_lookups, site_key FROM email_verifications
                      WHERE email_lookups = (SELECT email_lookups FROM code_mails ORDER BY created_at DESC LIMIT 1)) asked,
                    (SELECT now() - number * interval '40 minutes' AS at FROM generate_series(1, 5) AS number) earlier
                """)
            if AbuseScale.current.isShort {
                // The next mail is some 45 seconds away; the short form does not wait for it.
                try await stack.database.psql(
                    "UPDATE code_mails SET due_at = due_at - interval '40 s', requested_at = requested_at - interval '40 s'")
            }
            return try await Self.arrival(stack, email)
        }
        note(AbuseReport(attack: "N2 codes asked for at one e-mail (\(statuses))"), arrival)
    }

    /// N15: a flood of mails to many addresses does not delay the codes of others.
    @Test func `requests for codes at many e-mails do not delay the code of another one`() async throws {
        let stack = try await AbuseScale.current.stack()
        let attack = AbuseAttack(stack, number: 15) { phone in try await phone.register("flood-\(UUID().uuidString)@example.org").status }
        let email = "honest-\(UUID().uuidString)@example.org"
        let (arrival, statuses) = try await attack.during { try await Self.arrival(stack, email) }
        note(AbuseReport(attack: "N15 codes asked for at many e-mails (\(statuses))"), arrival)
    }

    private func note(_ report: AbuseReport, _ arrival: Duration?) {
        let holds = arrival.map { $0 <= Self.mailTime } ?? false
        report.note(
            "an honest code arrives, and is taken", arrival.map { "after \(Int(($0 / .milliseconds(1)).rounded())) ms" } ?? "never",
            bar: "≤ 60 s", holds: holds)
    }

    /// The time from an honest request for a code to its mail; nil when none came that is taken.
    private static func arrival(_ stack: Stack, _ email: String) async throws -> Duration? {
        try await Phone.make(stack).at(HonestOwner.address).prove(email, within: mailTime)?.time
    }

    /// N6: a stolen token of an old sign-in plants no face.
    @Test func `a stolen ID token of an old sign-in enrols no face`() async throws {
        let stack = try await AbuseScale.current.stack()
        let phone = try await Phone.make(stack).at(AbuseScale.current.addresses(of: 6)[0])
        let signedInAt = Date(timeIntervalSinceNow: -33 * 60)
        let token = try await phone.idToken(of: "victim-\(UUID().uuidString)", signedInAt: signedInAt)
        let answer = try await phone.signUp(email: nil, bearer: token)
        AbuseReport(attack: "N6 sign-up with a stolen ID token of 33 minutes ago")
            .note(
                "a face is planted", "\(answer.status) \(answer.body["error"]["code"].text ?? "")", bar: "403", holds: answer.status == 403)
    }

    /// N5: a person gets no push of another one without consent.
    @Test func `a person with a topic in common cannot push texts without consent`() async throws {
        let stack = try await AbuseScale.current.stack()
        let (host, victim, stranger) = (
            try await HonestOwner.make(stack), try await HonestOwner.make(stack), try await HonestOwner.make(stack)
        )
        let id = UUID().uuidString
        _ = try await host.phone.enter("event:\(id)", bearer: host.accessToken)
        for guest in [victim, stranger] {
            _ = try await host.phone.enter("event:\(id)", guest.userID, bearer: host.accessToken)
            #expect(try await guest.phone.enter("event:\(id)", bearer: guest.accessToken).status == 200)
        }
        _ = try await stranger.phone.enter("conversation:\(id)", bearer: stranger.accessToken)
        let added = try await stranger.phone.enter("conversation:\(id)", victim.userID, bearer: stranger.accessToken).status
        let text = "Your account is locked, go to evil.example"
        _ = try await stranger.phone.send(
            "POST", "/v1/topics/conversation:\(id)/messages", json: #"{"message_id":"m-1","text":"\#(text)"}"#,
            bearer: stranger.accessToken)
        // A later push that the victim has agreed to shows that those before it were sent.
        let photo = try Photos.load(Photos.front[0], comment: UUID().uuidString)
        #expect(try await host.phone.addPhoto(photo, to: "event:\(id)", bearer: host.accessToken).status == 202)
        let pushes = try await victim.phone.pushes { $0["data"]["event_id"].text == id }
        let isPushed = pushes.contains { "\($0)".contains(text) }
        AbuseReport(attack: "N5 a message to a person added without consent (\(added))")
            .note("a push of the stranger comes", isPushed ? "yes" : "no", bar: "no", holds: !isPushed && added != 200)
    }
}
