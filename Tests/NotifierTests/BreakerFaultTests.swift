import FCMEmulator
import Foundation
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@Suite struct BreakerFaultTests {
    @Test func `pushes refused for missing permissions wait without costing attempts, and readiness fails`() async throws {
        try await NotifierFixture.with { fixture in
            fixture.emulator.addFault(FaultRule(.error(.permissionDenied)))
            #expect(await fixture.context.health.report().failures["fcm_credentials"] == nil)
            let first = try await fixture.address([fixture.emulator.mintToken()], expiresIn: 86_400)
            try await expectWaiting(fixture, first, code: "PERMISSION_DENIED")
            let behind = try await fixture.address([fixture.emulator.mintToken()], expiresIn: 86_400, lane: .bulk)
            try await expectWaiting(fixture, behind, code: "breaker_credentials")
            #expect(fixture.emulator.statistics.sends == 1)
            #expect(await fixture.context.health.report().failures["fcm_credentials"] != nil)
        }
    }

    @Test func `a wrong Firebase project opens the breaker after a few pushes, and a stray token does not`() async throws {
        try await NotifierFixture.with { fixture in
            let stray = try await fixture.settled(fixture.address([fixture.emulator.mintToken(project: "another-project")]))
            #expect(stray.first?.state == .failed && stray.first?.code == "SENDER_ID_MISMATCH")
            let other = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(other.first?.state == .accepted)

            let foreign = (0..<20).map { _ in fixture.emulator.mintToken(project: "another-project") }
            let many = try await fixture.address(foreign, of: fixture.user(), expiresIn: 86_400)
            try await eventually("all have failed or wait") {
                try await fixture.deliveries(many).allSatisfy { $0.code != nil }
            }
            let states = try await fixture.deliveries(many).map(\.state)
            #expect(!states.contains(.dead) && states.contains(.pending))
            #expect(states.count { $0 == .failed } < 5)
            #expect(await fixture.context.health.report().failures["fcm_credentials"] != nil)
        }
    }

    @Test func `another project's tokens that arrive with failed sign-ins fail alone, and delay no other push`() async throws {
        try await NotifierFixture.with { fixture in
            let foreign = (0..<20).map { _ in fixture.emulator.mintToken(project: "another-project") }
            let strays = try await fixture.settled(fixture.address(foreign))
            #expect(strays.count == 20 && strays.allSatisfy { $0.state == .failed && $0.code == "SENDER_ID_MISMATCH" })
            #expect(await fixture.context.health.report().failures["fcm_credentials"] == nil)
            let other = try await fixture.settled(fixture.address([fixture.emulator.mintToken()]))
            #expect(other.first?.state == .accepted && other.first?.attempt == 1)
        }
    }

    @Test func `pushes to a platform whose push service refuses wait, and those to other platforms do not`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600"]) { fixture in
            let phones = (0..<3).map { _ in fixture.emulator.mintToken() }
            var refusal = FaultRule(.error(.thirdPartyAuthError))
            refusal.count = 3
            fixture.emulator.addFault(refusal)
            let first = try await fixture.address(phones, platform: "ios", expiresIn: 86_400)
            try await eventually("all are refused") {
                try await fixture.deliveries(first).allSatisfy { $0.code == "THIRD_PARTY_AUTH_ERROR" }
            }
            let behind = try await fixture.address([fixture.emulator.mintToken()], platform: "ios", expiresIn: 86_400)
            try await expectWaiting(fixture, behind, code: "breaker_provider_ios")
            let android = try await fixture.settled(
                fixture.address([fixture.emulator.mintToken()], platform: "android"))
            #expect(android.first?.state == .accepted)
            #expect(await fixture.context.health.report().failures["fcm_credentials"] == nil)
        }
    }

    @Test func `a single phone that its platform's push service refuses does not delay other phones`() async throws {
        try await NotifierFixture.with { fixture in
            let developers = fixture.emulator.mintToken()
            var refusal = FaultRule(.error(.thirdPartyAuthError))
            (refusal.registration, refusal.count) = (developers, nil)
            fixture.emulator.addFault(refusal)
            let refused = try await fixture.address([developers], platform: "ios", expiresIn: 86_400)
            try await eventually("it is refused again and again") {
                try await fixture.deliveries(refused).first?.attempt ?? 0 >= 4
            }
            let other = try await fixture.settled(fixture.address([fixture.emulator.mintToken()], platform: "ios"))
            #expect(other.first?.state == .accepted && other.first?.attempt == 1)
        }
    }

    @Test func `when half of a hundred pushes fail the other pushes wait unsent`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600"]) { fixture in
            var outage = FaultRule(.error(.unavailable))
            outage.count = nil
            fixture.emulator.addFault(outage)
            let many = try await fixture.address(
                (0..<300).map { _ in fixture.emulator.mintToken() }, expiresIn: 86_400, lane: .bulk)
            try await eventually("all wait") {
                try await fixture.deliveries(many).allSatisfy { $0.state == .pending && $0.code != nil }
            }
            let waiting = try await fixture.deliveries(many)
            let unsent = waiting.filter { $0.code == "breaker_transient" }
            #expect(unsent.allSatisfy { $0.attempt == 0 } && !unsent.isEmpty)
            #expect(waiting.count { $0.code == "UNAVAILABLE" } >= 100)
            #expect(fixture.emulator.statistics.sends < 300)
        }
    }

    private func expectWaiting(
        _ fixture: NotifierFixture, _ addressed: NotifierFixture.Addressed, code: String
    ) async throws {
        try await eventually("it waits for \(code)") { try await fixture.deliveries(addressed).first?.code == code }
        let delivery = try await fixture.deliveries(addressed).first
        #expect(delivery?.state == .pending && delivery?.attempt == 0)
    }
}
