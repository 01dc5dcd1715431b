import Foundation
import HTTPClient
import JSON
import PostgresClient
import Testing
import WireFormat

@testable import IdentityAPI

/// The exchanges about phones: their push tokens, what they show, and receipts.
@Suite struct GoldenDeviceTests {
    private static let pushToken = "cAbCdEfGhIjKlMnOpQrSt1:one"

    @Test(.api) func `a phone registers, and changes hands`() async throws {
        let (ada, ben) = (try await api.customer("ada"), try await api.customer("ben"))
        let owner = GoldenExchanges(api, ["<token>": ada.token])
        let next = GoldenExchanges(api, ["<token>": ben.token])
        try await owner.run("device-register")
        try await next.run("device-register-pending")
        let check = try await api.check()
        let proof = ["<uuid:hand_over>": check.id.wireString, "<token:nonce>": check.nonce]
        try await owner.run("device-confirm-not-found", proof)
        try await next.run("device-confirm", proof)
        try await next.run("device-unregister")
        try await next.run("device-register-invalid-token")
    }

    @Test(.api) func `a phone says what it shows`() async throws {
        let chat = try await Chat.make(api)
        let golden = GoldenExchanges(api, ["<token>": chat.ada.token])
        try await golden.run("presence-device-not-registered")
        #expect(try await api.register(Self.pushToken, by: chat.ada).status == 200)
        try await golden.run("presence-show")
        try await golden.run("presence-topic-not-found")
        try await golden.run("presence-hide")
    }

    @Test(.api) func `a phone tells what happened to pushes`() async throws {
        let ada = try await api.customer("ada")
        let id = try await api.notification(for: ada)
        let golden = GoldenExchanges(api, ["<token>": ada.token, "<uuid:notification>": id])
        try await golden.run("receipts-record", ["<time>": "2026-11-01T10:00:00Z"])
        try await golden.run("receipts-invalid")
    }
}
