import FCMEmulator
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

/// Faults of HTTP/2 connections lose no push.
@Suite struct ConnectionFaultTests {
    @Test func `connections that FCM closes with GOAWAY lose no push`() async throws {
        try await NotifierFixture.with { fixture in
            var rule = FaultRule(.goAway)
            rule.skip = 100
            rule.every = 150
            rule.count = 2
            fixture.emulator.addFault(rule)
            let tokens = (0..<400).map { _ in fixture.emulator.mintToken() }
            let deliveries = try await fixture.settled(fixture.address(tokens, expiresIn: 3600, lane: .bulk))
            #expect(deliveries.allSatisfy { $0.state == .accepted })
            #expect(fixture.emulator.statistics.goAways == 2)
            #expect(fixture.emulator.acceptedCounts == [1: 400])
        }
    }

    @Test func `streams that FCM refuses are sent again at once, and only once`() async throws {
        try await NotifierFixture.with(settings: ["NOTIFY_RETRY_SECONDS": "600"]) { fixture in
            let tokens = (0..<100).map { _ in fixture.emulator.mintToken() }
            // Each of twenty is refused once: a rule for the next twenty requests could meet one and its repetition.
            for token in tokens.prefix(20) {
                var rule = FaultRule(.resetStream(.refused))
                rule.registration = token
                fixture.emulator.addFault(rule)
            }
            let deliveries = try await fixture.settled(fixture.address(tokens, expiresIn: 3600, lane: .bulk))
            #expect(deliveries.allSatisfy { $0.state == .accepted && $0.attempt == 1 })
            #expect(fixture.emulator.acceptedCounts == [1: 100])
        }
    }

    @Test func `a thousand pushes take eight connections at most`() async throws {
        try await NotifierFixture.with { fixture in
            let tokens = (0..<1000).map { _ in fixture.emulator.mintToken() }
            for start in stride(from: 0, to: 1000, by: 500) {
                let deliveries = try await fixture.settled(
                    fixture.address(Array(tokens[start..<start + 500]), expiresIn: 3600, lane: .bulk))
                // Not the first attempt of each: on a machine that stalls, a request reaches its deadline before it is written.
                #expect(deliveries.allSatisfy { $0.state == .accepted })
            }
            #expect(fixture.emulator.statistics.connections <= 8)
            #expect(fixture.emulator.acceptedCounts == [1: 1000])
        }
    }
}
