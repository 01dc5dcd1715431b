import Foundation
import Testing

@testable import MobileClient

/// Another account signs in while the bearer of an upload is looked up.
@Suite struct UploadBearerTests {
    /// Has another record at each look, and the last one from then on.
    private struct ChangingStore: CredentialStore {
        let records: Locked<[CredentialRecord]>

        init(_ records: [CredentialRecord]) { self.records = Locked(records) }

        func read() async throws -> Data? {
            try JSONEncoder().encode(records.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
        }

        func update<Answer: Sendable>(_ change: @Sendable (inout Data?) throws -> Answer) async throws -> Answer {
            var data: Data?
            return try change(&data)
        }
    }

    private func record(_ user: String) -> CredentialRecord {
        var record = CredentialRecord()
        record.signIn(UUID(), .pair(1, userID: user), now: Date())
        return record
    }

    private func bearers(_ records: [CredentialRecord]) -> UploadBearers {
        UploadBearers(
            AccountCredentials(store: ChangingStore(records), firebase: nil, time: .system) { _, _ in
                .failed(HeliographError(.unreachable, "no network"))
            })
    }

    @Test func `a bearer whose account is not known any more is none`() async throws {
        for next in [record("next"), CredentialRecord(end: .signedOut)] {
            let error = await #expect(throws: HeliographError.self) { try await bearers([record("first"), next]).current() }
            #expect(error?.code == .signedOut)
        }
        #expect(try await bearers([record("first")]).current().owner == "first")
    }

    @Test func `the account of a Firebase token is not known`() async throws {
        let credentials = AccountCredentials(store: ChangingStore([record("other")]), firebase: { _ in "token" }, time: .system) { _, _ in
            .refused
        }
        let bearer = try await UploadBearers(credentials).current()
        #expect(bearer.owner == nil && bearer.token == "token")
    }
}
