import Accounts
import Foundation
import HeliographCrypto
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import BlobStore
@testable import FaceEngine
@testable import FaceMatchingWorker

@Suite struct FailureTests {
    @Test func `a sign-up without an e-mail and without a bearer enrols nothing`() async throws {
        try await withWorker { worker in
            let postgres = worker.postgres
            let id = try await worker.uploads.store(.signUp, try Photos.signUp(), user: UUID(), proof: .none)
            try await postgres.execute("UPDATE sessions SET email_lookups = NULL, email_sealed = NULL WHERE id = \(id)")
            try await worker.request(id, .signUp)
            let session = try await worker.outcome(id)
            #expect(session.state == .failed)
            #expect(session.reason == .internal)
            #expect(session.retryable == true)
            #expect(try await worker.count("users") == 0)
        }
    }

    @Test func `a permanent failure ends a session at once, and an outage never, and any other one at the eighth delivery`() {
        let lasting: [any Error] = [
            BlobStoreError(.invalidKey, ""), BlobStoreError(.notFound, ""), BlobStoreError(.tooLarge, ""),
            BlobStoreError(.damaged, ""), FaceEngineError(.badTemplate, ""), IncomparableFace(), CryptoError(.unknownKey, ""),
        ]
        let passing: [any Error] = [
            FaceEngineError(.failed, ""), FaceEngineError(.overloaded, ""),
            FaceEngineError(.closed, ""), FaceEngineError(.cancelled, ""), CancellationError(),
        ]
        for error in lasting { #expect(PermanentFailure.isReached(error, deliveryCount: 1), "\(error)") }
        for error in passing {
            #expect(!PermanentFailure.isReached(error, deliveryCount: PermanentFailure.maxDeliveries - 1), "\(error)")
            #expect(PermanentFailure.isReached(error, deliveryCount: PermanentFailure.maxDeliveries), "\(error)")
        }
        for error in [BlobStoreError(.unavailable, ""), PostgresError(code: .unavailable, message: "")] as [any Error] {
            #expect(!PermanentFailure.isReached(error, deliveryCount: PermanentFailure.maxDeliveries), "\(error)")
        }
    }
}
