import Accounts
import FoundationEssentials
import HTTPClient
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import Topics
import WireFormat

@testable import IdentityAPI

extension IdentityFixture {
    /// Erases as identity-api does, reports for the other services, and completes the erasure.
    func completeErasure(_ id: UUID) async throws -> ErasureStatus {
        let erasures = ErasureRepository(postgres)
        let erasure = try #require(try await erasures.find(id: id))
        let ledger = ErasureLedger(postgres: context.postgres, erasure: erasure, service: IdentityAPI.name)
        #expect(try await IdentityEraser(photos: try context.blobStore(.faces)).erase(erasure, ledger))
        for service in ErasureCoordinator.services { try await erasures.finish(id, by: service) }
        // No relay publishes in these tests.
        try await postgres.execute("UPDATE outbox SET state = 'confirmed', settled_at = now()")
        var coordinator = ErasureCoordinator(
            postgres: context.postgres, receiptKey: try ErasureReceiptKey(lookupKeys: context.settings.lookupKeys()),
            issuer: "https://example.org",
            logger: context.logger)
        coordinator.quietTime = .zero
        try await coordinator.completeReported()
        return try #require(try await erasures.status(id: id, tokenHash: nil))
    }

    /// Requests the erasure of an account or its face.
    fileprivate func erase(
        _ device: SignedInDevice, _ path: String = "/v1/users/me"
    ) async throws -> (id: UUID, url: String, token: String) {
        let answer = try await send("DELETE", path, headers: [device.bearer])
        guard answer.status == 202, let id = UUID(uuidString: answer.json.text("data.erasure_id") ?? "") else {
            throw UnexpectedAnswer(response: answer)
        }
        return (id, answer.json.text("data.receipt_url") ?? "", answer.json.text("data.receipt_token") ?? "")
    }
}

@Suite struct ErasureTests {
    @Test(.api) func `an account that is to be erased is signed out, and its e-mail is free at once`() async throws {
        let device = try await api.signedInDevice()
        _ = try await api.erase(device)
        #expect(try await !api.isAccepted(device.accessToken))
        let answer = try await api.post("/api/v1/auth/refresh", #"{"refresh_token":"\#(device.refreshToken)"}"#)
        #expect(answer.status == 401)
        #expect(try await api.count("push_installs") == 0)
        let next = try await api.signedInDevice()
        #expect(next.userID != device.userID)
    }

    @Test(.api) func `an erasure needs a recent sign-in`() async throws {
        let device = try await api.signedInDevice()
        try await api.postgres.execute("UPDATE access_tokens SET signed_in_at = now() - interval '6 minutes'")
        for path in ["/v1/users/me", "/v1/users/me/face"] {
            #expect(try await api.send("DELETE", path, headers: [device.bearer]).refusal == "403 reauthentication_required")
        }
        #expect(try await api.count("erasures") == 0)
    }

    @Test(.api) func `the receipt can be read with its token only, before and after the end`() async throws {
        let erasure = try await api.erase(try await api.signedInDevice())
        let read = { (token: String) in try await api.send("GET", erasure.url, headers: [("Authorization", "Bearer \(token)")]) }
        #expect(try await read("x").status == 404)
        let open = try await read(erasure.token).json
        #expect(open.text("data.state") == "erasing" && open.text("data.receipt") == nil)
        _ = try await api.completeErasure(erasure.id)
        let done = try await read(erasure.token).json
        #expect(done.text("data.state") == "completed")
        let receipt = try #require(done.text("data.receipt"))
        let claims = try #require(
            try ErasureReceiptKey(lookupKeys: api.context.settings.lookupKeys()).verifiedClaims(of: receipt))
        #expect(claims.contains(#""sessions":2"#) && claims.contains(#""users":1"#))
    }

    @Test(.api) func `the key of receipts is published`() async throws {
        let answer = try await api.send("GET", "/.well-known/jwks.json")
        #expect(answer.status == 200)
        #expect(answer.json == (try ErasureReceiptKey(lookupKeys: api.context.settings.lookupKeys()).publicKeys))
    }

    @Test(.api) func `no row names an erased user`() async throws {
        let device = try await api.signedInDevice()
        let erasure = try await api.erase(device)
        let status = try await api.completeErasure(erasure.id)
        #expect(status.completedAt != nil && status.receipt != nil)
        // This one is token-registry's to erase.
        try await api.clear("push_install_audit")
        let tables = try await api.postgres.query(
            "SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
        for table in try tables.column("name", as: String.self) {
            let rows = try await api.postgres.query(
                "SELECT t::text AS row FROM \(unescaped: table) t WHERE t::text LIKE '%' || \(device.userID.wireString) || '%'")
            #expect(rows.isEmpty, "\(table)")
        }
    }

    @Test(.api) func `an erased owner's topic passes to another member`() async throws {
        let (ada, ben) = (try await api.signedInDevice(), try await api.signedInDevice(email: "ben@example.org"))
        let topic = TopicName("event:party")!
        for (member, actor) in [(ada.userID, ada.userID), (ben.userID, ada.userID), (ben.userID, ben.userID)] {
            _ = try await api.postgres.withTransaction { try await TopicRepository($0).add(member, to: topic, by: actor) }
        }
        _ = try await api.completeErasure(try await api.erase(ada).id)
        let left = try #require(try await TopicRepository(api.postgres).find(topic, seenBy: ben.userID))
        #expect(left.ownerID == ben.userID)
        #expect(try await TopicRepository(api.postgres).members(of: left.id, limit: 10).map(\.userID) == [ben.userID])
    }

    @Test(.api) func `the erasure of a face leaves the account and its sign-ins`() async throws {
        let device = try await api.signedInDevice()
        let erasure = try await api.erase(device, "/v1/users/me/face")
        #expect(try await api.send("DELETE", "/v1/users/me/face", headers: [device.bearer]).refusal == "409 request_in_progress")
        let status = try await api.completeErasure(erasure.id)
        #expect(status.scope == .face && status.completedAt != nil)
        #expect(try await api.isAccepted(device.accessToken))
    }

    @Test(.api) func `a late request holds the end of an erasure up until its rows are erased as well`() async throws {
        let device = try await api.signedInDevice()
        let erasure = try await api.erase(device)
        try await api.postgres.execute(
            "INSERT INTO topic_photos (id, uploader_id, photo_key, expires_at) VALUES (\(UUID()), \(device.userID), 'x', now())")
        #expect(try await api.completeErasure(erasure.id).completedAt == nil)
        try await api.postgres.execute("DELETE FROM topic_photos")
        #expect(try await api.completeErasure(erasure.id).completedAt != nil)
    }

    @Test(.api) func `an erasure that a service has not reported is published again`() async throws {
        let erasure = try await api.erase(try await api.signedInDevice())
        let coordinator = ErasureCoordinator(
            postgres: api.context.postgres, receiptKey: try ErasureReceiptKey(lookupKeys: api.context.settings.lookupKeys()), issuer: "x",
            logger: api.context.logger)
        let published = {
            let rows = try await api.postgres.query(
                "SELECT count(*) AS n FROM outbox WHERE type = 'user.erased' AND key = \(erasure.id.wireString)")
            return try rows.required().decode("n", as: Int.self)
        }
        #expect(try await published() == 1)
        try await api.postgres.execute("UPDATE erasures SET published_at = now() - interval '11 s'")
        try await eventually("it is published again, by the service or by this call") {
            try await coordinator.republish()
            return try await published() == 2
        }
    }
}
