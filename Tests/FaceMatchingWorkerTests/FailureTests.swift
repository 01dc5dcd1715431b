import Foundation
import HeliographCrypto
import PostgresClient
import ServiceDefaults
import Storage
import TestSupport
import Testing
import WireFormat

@testable import BlobStore
@testable import FaceEngine
@testable import FaceMatchingWorker

@Suite struct FailureTests {
    @Test func `a sign-in whose stored face cannot be opened ends like one without an account`() async throws {
        try await withWorker { worker in
            let postgres = worker.context.postgres
            let user = try await UserRepository(postgres).findOrCreate(emailLookup: SHA256.hash("u"), emailSealed: [1]).id
            let template = NewFaceTemplate(userID: user, modelID: "unknown", pipelineVersion: 1, templateSealed: [1, 2, 3])
            #expect(try await FaceTemplateRepository(postgres).insertIfAbsent(template))
            for owner in [user, UUID()] {
                let session = try await worker.run(.signIn, try Photos.signIn("person-a"), user: owner)
                #expect(session.state == .failed && session.reason == .noMatch && session.attemptsLeft == 4)
            }
        }
    }

    @Test func `a sign-up without an e-mail and without a bearer enrols nothing`() async throws {
        try await withWorker { worker in
            let postgres = worker.context.postgres
            let id = try await worker.upload(.signUp, try Photos.signUp(), user: UUID())
            try await postgres.execute("UPDATE sessions SET email_lookup = NULL, email_sealed = NULL WHERE id = \(id)")
            try await worker.request(id, .signUp)
            let session = try await worker.outcome(id)
            #expect(session.state == .failed && session.reason == .internal && session.retryable == true)
            #expect(try await worker.count("users") == 0)
        }
    }

    @Test func `a permanent failure ends a session at once, and any other one at the eighth delivery`() {
        let lasting: [any Error] = [
            BlobStoreError(.invalidKey, ""), BlobStoreError(.notFound, ""), BlobStoreError(.tooLarge, ""),
            BlobStoreError(.damaged, ""), FaceEngineError(.badTemplate, ""), IncomparableFace(), CryptoError(.unknownKey, ""),
        ]
        let passing: [any Error] = [
            BlobStoreError(.unavailable, ""), FaceEngineError(.failed, ""), FaceEngineError(.overloaded, ""),
            FaceEngineError(.closed, ""), FaceEngineError(.cancelled, ""), CancellationError(),
        ]
        for error in lasting { #expect(PermanentFailure.isReached(error, deliveryCount: 1), "\(error)") }
        for error in passing {
            #expect(!PermanentFailure.isReached(error, deliveryCount: PermanentFailure.maxDeliveries - 1), "\(error)")
            #expect(PermanentFailure.isReached(error, deliveryCount: PermanentFailure.maxDeliveries), "\(error)")
        }
    }
}
