import Accounts
import FoundationEssentials
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

/// Tests the times by which what guards an account ends, each a moment before its end and a moment after it.
///
/// The numbers are written out, so that another value of a constant fails its test. Rows are made older, because statements take the time
/// from the database.
struct LifetimeTests {
    /// The age of something that lasts that many seconds: a moment before its end, when it still holds, and a moment after it.
    static func around(_ seconds: Int) -> [(age: Int, holds: Bool)] { [(seconds - 10, true), (seconds + 1, false)] }

    /// The same of a failed sign-in, on a known device or on another one.
    static func aroundFailures(isKnown: Bool, _ seconds: Int) -> [(isKnown: Bool, age: Int, holds: Bool)] {
        around(seconds).map { (isKnown, $0.age, $0.holds) }
    }

    /// Makes the rows of some tables older: each of their times is that many seconds earlier.
    private func age(_ tables: String..., by seconds: Int) async throws {
        for table in tables {
            let columns: [String] = try await client.query(
                """
                SELECT format('%1$I = %1$I - make_interval(secs => \(unescaped: "\(seconds)"))', attname) AS change FROM pg_attribute
                WHERE attrelid = \(table)::regclass AND atttypid = 'timestamptz'::regtype AND NOT attisdropped
                """
            ).column("change")
            try await client.execute(PostgresQuery(unescaped: "UPDATE \(table) SET \(columns.joined(separator: ", "))"))
        }
    }

    // MARK: Tokens and sign-ins

    /// Signs a user in on the installation 1 with the standard lifetimes: the access token is 1, the refresh token 2.
    @discardableResult
    private func signIn(_ user: UUID) async throws -> AccessToken {
        try await tokens.insert(
            NewAccessToken(
                userID: user, sessionID: UUID(), accessHash: hash(1), refreshHash: hash(2), installationKey: hash(1),
                lifetimes: SignInLifetimes()))
    }

    private func refresh(_ refreshHash: Int = 2, to next: Int = 3) async throws -> RefreshResult {
        try await client.withTransaction { transaction in
            try await AccessTokenRepository(transaction).rotate(
                refreshHash: hash(refreshHash), newAccessHash: hash(next), newRefreshHash: hash(next + 1), lifetimes: SignInLifetimes())
        }
    }

    @Test(.storage, arguments: around(30)) func `a replaced refresh token gets its pair again for 30 seconds`(
        age seconds: Int, holds: Bool
    ) async throws {
        let user = try await client.user()
        try await signIn(user)
        guard case .rotated(let pair) = try await refresh() else { return #expect(Bool(false)) }
        try await age("access_tokens", by: seconds)
        let again = try await refresh()
        if holds {
            guard case .repeated(let same, hash(4)) = again else { return #expect(Bool(false), "\(again)") }
            #expect(same.id == pair.id)
        } else {
            guard case .reused(.some) = again else { return #expect(Bool(false), "\(again)") }
            #expect(try await tokens.find(accessHash: hash(3)) == nil, "the family has ended")
        }
    }

    @Test(.storage, arguments: around(60 * 60)) func `an access token is valid for an hour`(age seconds: Int, holds: Bool) async throws {
        try await signIn(try await client.user())
        try await age("access_tokens", by: seconds)
        #expect(try await (tokens.find(accessHash: hash(1)) != nil) == holds)
    }

    @Test(.storage, arguments: around(30 * 86_400)) func `a refresh token is valid for 30 days`(age seconds: Int, holds: Bool) async throws
    {
        try await signIn(try await client.user())
        try await age("access_tokens", by: seconds)
        #expect(try await (refresh() != .unknown) == holds)
    }

    @Test(.storage, arguments: around(90 * 86_400)) func `a sign-in ends after 90 days, however often it is refreshed`(
        age seconds: Int, holds: Bool
    ) async throws {
        try await signIn(try await client.user())
        for step in 0..<3 {
            try await age("access_tokens", by: seconds / 4)
            guard case .rotated = try await refresh(step * 2 + 2, to: step * 2 + 3) else { return #expect(Bool(false)) }
        }
        try await age("access_tokens", by: seconds - seconds / 4 * 3)
        #expect(try await (refresh(8, to: 9) != .unknown) == holds)
    }

    @Test(.storage, arguments: around(30 * 86_400)) func `an installation is known to an account for 30 days after its last refresh`(
        age seconds: Int, holds: Bool
    ) async throws {
        let user = try await client.user()
        try await signIn(user)
        try await age("access_tokens", by: seconds)
        #expect((try await tokens.knownDevice(deviceKey: nil, installationKey: hash(1), to: user) != nil) == holds)
    }

    @Test(.storage, arguments: around(10 * 60)) func `an installation stays registered for 10 minutes, to be told why it was signed out`(
        age seconds: Int, holds: Bool
    ) async throws {
        let user = try await client.user()
        _ = try await client.register(.make(1), user)
        try await signIn(user)
        _ = try await client.withTransaction { try await SignInRepository($0).endAll(of: user, isNoticed: true) }
        try await age("access_tokens", by: seconds)
        let ended = try await client.withTransaction { try await SignInRepository($0).unregisterNoticed(limit: 10) }
        #expect(ended.removedInstalls.isEmpty == holds)
    }

    // MARK: Sessions

    private func succeed(_ user: UUID) async throws -> Session {
        let session = try await sessions.insert(.make(.signIn, user: user))
        #expect(try await client.withTransaction { try await SessionRepository($0).complete(id: session.id, outcome: .succeeded) })
        return session
    }

    @Test(.storage, arguments: around(5 * 60))
    func `a successful sign-in can be redeemed, and its tokens be asked for again, for 5 minutes`(
        age seconds: Int, holds: Bool
    ) async throws {
        let (fresh, redeemed) = (try await succeed(try await client.user(1)), try await succeed(try await client.user(2)))
        func redeem(_ session: Session) async throws -> Bool {
            try await client.withTransaction { try await SessionRepository($0).redeem(id: session.id, tokenHash: hash(1)) } != nil
        }
        #expect(try await redeem(redeemed))
        try await age("sessions", by: seconds)
        #expect(try await redeem(fresh) == holds)
        #expect(try await sessions.isRedeemed(id: redeemed.id, tokenHash: hash(1)) == holds)
    }

    @Test(
        .storage,
        arguments: aroundFailures(isKnown: true, 15 * 60) + aroundFailures(isKnown: false, 24 * 60 * 60))
    func `a failed sign-in counts for 15 minutes on a known device, and for 24 hours on others`(
        isKnown: Bool, age seconds: Int, holds: Bool
    ) async throws {
        let user = try await client.user()
        if isKnown { try await signIn(user) }
        _ = try await client.fail(.noMatch, user: user, device: 1)
        try await age("sessions", by: seconds)
        let attempts = try await client.withTransaction { transaction in
            try await SessionRepository(transaction).lockSignInAttempts(attemptKeys: [user], userID: user, installationKey: hash(1))
        }
        #expect(attempts.isKnown == isKnown && attempts.failedAt.count == (holds ? 1 : 0))
    }

    @Test(.storage, arguments: around(60 * 60)) func `a failed sign-in counts for an hour among those of an installation and of all`(
        age seconds: Int, holds: Bool
    ) async throws {
        _ = try await client.fail(.noMatch, user: UUID(), device: 1)
        try await age("sessions", by: seconds)
        var limits = FailedSignInLimits()
        (limits.perInstallation, limits.total) = (1, 1)
        let nowhere = RequestOrigin.unknown
        let load = try await sessions.failedSignIns(from: nowhere, installationKey: hash(1), limits: limits)
        #expect((load.installationUntil != nil) == holds && (load.totalUntil != nil) == holds)
    }

    // MARK: Codes and recoveries

    private var verifications: EmailVerificationRepository { EmailVerificationRepository(client) }

    private func verification() async throws -> UUID {
        let new = NewEmailVerification(purpose: .enrolment, email: SealedEmail(lookup: hash(1), sealed: [1]))
        try await client.withTransaction { transaction in
            let mail = try await EmailVerificationRepository(transaction).insert(new)
            #expect(try await CodeMailRepository(transaction).publish(mail.id) != nil)
        }
        return new.id
    }

    @Test(.storage, arguments: around(10 * 60)) func `a mailed code can be entered for 10 minutes`(age seconds: Int, holds: Bool)
        async throws
    {
        let id = try await verification()
        try await age("email_verifications", by: seconds)
        #expect(try await (verifications.takeAttempt(id: id) != nil) == holds)
    }

    @Test(.storage, arguments: around(60)) func `another code is mailed after a minute, and is valid for 10 as well`(
        age seconds: Int, isHeld: Bool
    ) async throws {
        let id = try await verification()
        try await age("email_verifications", "code_mails", by: seconds)
        let mail = try await client.withTransaction { transaction in
            let mail = try await EmailVerificationRepository(transaction).askAgain(id: id, requestID: nil, traceparent: nil)
            if let mail { #expect(try await CodeMailRepository(transaction).publish(mail.id) != nil) }
            return mail
        }
        #expect((mail?.isDue == true) == !isHeld)
        try await age("email_verifications", by: 10 * 60 - seconds + 1)
        #expect(try await (verifications.takeAttempt(id: id) != nil) == !isHeld, "the first one has ended")
        try await age("email_verifications", by: seconds)
        #expect(try await verifications.takeAttempt(id: id) == nil)
    }

    @Test(.storage, arguments: around(60 * 60)) func `a wrong code counts for an hour`(age seconds: Int, holds: Bool) async throws {
        let codes = WrongCodeRepository(client)
        for _ in 0..<WrongCodeLimits.freeOfSite { try await codes.add(from: hash(1)) }
        try await age("wrong_codes", by: seconds)
        var limits = WrongCodeLimits()
        limits.total = WrongCodeLimits.freeOfSite
        #expect(try await (codes.wait(of: hash(1), entering: UUID(), limits: limits) != nil) == holds)
        #expect(try await codes.deleteExpired(limit: 10) == (holds ? 0 : WrongCodeLimits.freeOfSite))
    }

    @Test(.storage, arguments: around(24 * 60 * 60)) func `mails of an address count for 24 hours`(age seconds: Int, holds: Bool)
        async throws
    {
        _ = try await verification()
        try await age("code_mails", by: seconds)
        for _ in 2...4 {
            try await client.execute(
                """
                INSERT INTO code_mails (id, email_lookups, is_proven, due_at, requested_at)
                VALUES (gen_random_uuid(), ARRAY[\(TestLookup.of(hash(1)))], false, now(), now() - interval '61 seconds')
                """)
        }
        let next = NewEmailVerification(purpose: .registration, email: SealedEmail(lookup: hash(1), sealed: [1]))
        #expect(try await client.withTransaction { try await EmailVerificationRepository($0).insert(next).isDue } == !holds)
        let deleted = try await client.withTransaction { try await CodeMailRepository($0).deleteExpired(limit: 10) }
        #expect(deleted == (holds ? 0 : 1))
    }

    @Test(.storage, arguments: around(15 * 60)) func `an enrolment token is valid for 15 minutes`(age seconds: Int, holds: Bool)
        async throws
    {
        let id = try await verification()
        _ = try await verifications.verify(id: id, tokenHash: hash(9))
        try await age("email_verifications", by: seconds)
        #expect(try await (verifications.find(tokenHash: hash(9)) != nil) == holds)
    }

    @Test(.storage, arguments: around(24 * 60 * 60))
    func `a proof and the face that waits for it are kept for 24 hours`(
        age seconds: Int, holds: Bool
    ) async throws {
        let id = try await verification()
        let face = NewFaceTemplate(userID: UUID(), modelID: "m", pipelineVersion: 1, templateSealed: [1])
        try await PendingEnrolmentRepository(client).insert(id: id, face: face, photos: [])
        try await age("email_verifications", "pending_enrolments", by: seconds)
        #expect(try await verifications.deleteExpired(limit: 10) == (holds ? 0 : 1))
        #expect(try await PendingEnrolmentRepository(client).deleteExpired(limit: 10) == (holds ? 0 : 1))
    }

    @Test(.storage, arguments: around(24 * 60 * 60)) func `a recovery can be cancelled for 24 hours, and then replaces the face`(
        age seconds: Int, waits: Bool
    ) async throws {
        let user = try await client.user()
        let face = NewFaceTemplate(userID: user, modelID: "m", pipelineVersion: 1, templateSealed: [1])
        try await client.startRecovery(with: face)
        try await age("pending_enrolments", by: seconds)
        let replaced = try await client.withTransaction { try await PendingEnrolmentRepository($0).completeRecoveries(limit: 10) }
        #expect(replaced.completed == (waits ? [] : [user]) && replaced.outdated.isEmpty)
    }

    // MARK: Proofs of possession and answers to repetitions

    private func claim(by user: UUID) async throws -> InstallClaim {
        try await client.withTransaction { transaction in
            try await InstallHandOverRepository(transaction).open(
                NewInstallHandOver(registration: .make(1), userID: user, signInID: nil, nonceHash: hash(7)))
        }
    }

    @Test(.storage, arguments: around(10 * 60)) func `the nonce of a claim is accepted for 10 minutes`(age seconds: Int, holds: Bool)
        async throws
    {
        let user = try await client.user()
        guard case .opened(let opened, _) = try await claim(by: user) else { return #expect(Bool(false)) }
        try await age("install_hand_overs", by: seconds)
        let found = try await InstallHandOverRepository(client).find(id: opened.id, nonceHash: hash(7), of: user)
        #expect((found != nil) == holds)
        let taken = try await client.withTransaction { try await InstallHandOverRepository($0).complete(opened) }
        #expect((taken != nil) == holds)
    }

    @Test(.storage, arguments: around(30)) func `a claim is a repetition for 30 seconds`(age seconds: Int, holds: Bool) async throws {
        let user = try await client.user()
        _ = try await claim(by: user)
        try await age("install_hand_overs", by: seconds)
        if case .repeated = try await claim(by: user) { #expect(holds) } else { #expect(!holds) }
    }

    @Test(.storage, arguments: around(60 * 60)) func `the claims of an account count for an hour`(age seconds: Int, holds: Bool)
        async throws
    {
        let user = try await client.user()
        for _ in 0..<InstallHandOverLimits.maxPerUser {
            _ = try await claim(by: user)
            try await age("install_hand_overs", by: 60)
        }
        try await age("install_hand_overs", by: seconds - InstallHandOverLimits.maxPerUser * 60)
        // The first has the age; the others are younger.
        #expect(try await (claim(by: user) == .limited) == holds)
    }

    @Test(.storage, arguments: around(24 * 60 * 60)) func `the answer to a request is repeated for 24 hours`(age seconds: Int, holds: Bool)
        async throws
    {
        let keys = IdempotencyRepository(client)
        let scope = IdempotencyScope(userID: try await client.user(), route: "POST /x", key: "k")
        let answer = IdempotencyAnswer(fingerprint: hash(1), resourceID: UUID(), status: 202, body: "{}")
        guard case .began(let lease) = try await keys.begin(scope, lease: .seconds(60)) else { return #expect(Bool(false)) }
        #expect(try await keys.complete(lease, with: answer))
        try await age("idempotency_keys", by: seconds)
        #expect(try await keys.isAnswered(route: scope.route, key: scope.key) == holds)
        #expect(try await (keys.begin(scope, lease: .seconds(60)) == .answered(answer)) == holds)
    }

    // MARK: What outlives an account or a session

    @Test(.storage, arguments: around(180 * 86_400)) func `photos are remembered, and tokens of before an erasure refused, for 180 days`(
        age seconds: Int, holds: Bool
    ) async throws {
        let photos = FacePhotoHashRepository(client)
        _ = try await photos.add(
            [PhotoFingerprint(userID: UUID(), fileHash: hash(1), pixelHash: nil, signature: nil)], accepted: true, series: UUID())
        try await client.execute(
            "INSERT INTO erased_identities VALUES ('i', \(TestLookup.of(hash(1))), now()), ('i', \(TestLookup.of(hash(2))), now())")
        try await age("face_photo_hashes", "erased_identities", by: seconds)
        #expect(try await photos.deleteExpired(limit: 10) == (holds ? 0 : 1))
        #expect(try await FederatedIdentityRepository(client).deleteExpiredErased(limit: 10) == (holds ? 0 : 2))
    }
}
