import AsyncPrimitives
import FCMEmulator
import Foundation
import JSON
import PostgresClient
import Push
import ServiceDefaults
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct LeaseKeeperTests {
    /// A keeper on a clock that stands still, and a claimed delivery that it keeps.
    private struct KeptDelivery {
        let clock = ManualClock()
        let wakeUp = AsyncSignal()
        let limits = DeliveryLimits()
        let keeper: LeaseKeeper
        let lease: DeliveryLease

        init(_ fixture: NotifierFixture, keeping postgres: PostgresClient) async throws {
            let addressed = try await fixture.address([fixture.emulator.mintToken()])
            let claimed = try await DeliveryRepository(fixture.postgres).claim(addressed.deliveryIDs, lease: limits.lease)
            keeper = LeaseKeeper(postgres: postgres, limits: limits, wakeUp: wakeUp, logger: NotifierFixture.quiet, clock: clock)
            guard let first = keeper.add(claimed, claimedAt: clock.now).first else {
                throw DeadlineExceeded(description: "nothing was claimed")
            }
            lease = first
            // Stands for the time since the claim, which the server's clock does not show.
            try await fixture.postgres.execute("UPDATE delivery_pages SET due_at = now() + interval '1 second'")
        }

        /// Runs the keeper while `body` runs.
        func run(_ body: () async throws -> Void) async throws {
            let keeper = keeper
            let running = Task { await keeper.run() }
            let result = await Result.catching { try await body() }
            keeper.close()
            await running.value
            try result.get()
        }
    }

    private func left(_ fixture: NotifierFixture) async throws -> Double {
        let rows = try await fixture.postgres.query(
            "SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM delivery_pages WHERE due_at IS NOT NULL")
        return try rows.first?.decode("seconds") ?? 0
    }

    @Test func `the deliveries of each page share a lease, which ends with the last of them`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            var claimed: [ClaimedDelivery] = []
            for count in [2, 1, 3] {
                let tokens = (0..<count).map { _ in fixture.emulator.mintToken() }
                let addressed = try await fixture.address(tokens, content: .sample(.newPhotos))
                claimed += try await DeliveryRepository(fixture.postgres).claim(addressed.deliveryIDs, lease: .seconds(60))
            }
            let keeper = LeaseKeeper(
                postgres: fixture.context.postgres, limits: DeliveryLimits(), wakeUp: AsyncSignal(), logger: NotifierFixture.quiet,
                clock: ManualClock())
            let leases = keeper.add(claimed, claimedAt: .now)
            #expect(leases.map(\.claim) == claimed.map(\.claim))
            #expect(Set(leases.map(ObjectIdentifier.init)).count == 3)
            for lease in leases {
                #expect(!lease.isOver)
                lease.endOne()
            }
            #expect(!leases.contains { !$0.isOver })
        }
    }

    @Test func `the lease of a push that FCM holds for long is renewed`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let kept = try await KeptDelivery(fixture, keeping: fixture.context.postgres)
            let end = kept.lease.end
            // Before the keeper runs: it would miss an advance between a check and the wait after it.
            kept.clock.advance(by: kept.limits.renewalAge)
            try await kept.run {
                try await eventually("it is renewed") { kept.lease.end > end }
                let seconds = try await left(fixture)
                #expect(seconds > 10)
                #expect(kept.lease.end == kept.clock.now + kept.limits.lease)
                #expect(!kept.lease.isRevoked)
            }
        }
    }

    @Test func `a lease whose outcomes are written is not renewed`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let kept = try await KeptDelivery(fixture, keeping: fixture.context.postgres)
            kept.lease.endOne()
            try await kept.run {
                kept.clock.advance(by: kept.limits.lease)
                await kept.clock.waitForSleep(of: kept.limits.leaseCheckInterval)
                let seconds = try await left(fixture)
                #expect(seconds < 10)
                #expect(!kept.lease.isRevoked)
            }
        }
    }

    @Test func `a lease that another sender has is revoked`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let kept = try await KeptDelivery(fixture, keeping: fixture.context.postgres)
            try await fixture.postgres.execute("UPDATE delivery_pages SET attempt = attempt + 1")
            // Before the keeper runs: it would miss an advance between a check and the wait after it.
            kept.clock.advance(by: kept.limits.renewalAge)
            try await kept.run {
                await kept.wakeUp.wait()
                #expect(kept.lease.isRevoked)
                #expect(kept.keeper.takeRevocations())
                let seconds = try await left(fixture)
                #expect(seconds < 10, "the other sender's lease is its own")
            }
        }
    }

    @Test func `a lease that cannot be renewed is revoked before it ends`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            // Refuses every query.
            let closed = try PostgresClient(
                configuration: PostgresConfiguration(url: "postgres://127.0.0.1:1/none"), logger: NotifierFixture.quiet)
            await closed.shutdown()
            let kept = try await KeptDelivery(fixture, keeping: closed)
            try await kept.run {
                kept.clock.advance(by: kept.limits.lease - kept.limits.leaseMargin - .milliseconds(1))
                await kept.clock.waitForSleep(of: kept.limits.leaseCheckInterval)
                #expect(!kept.lease.isRevoked)
                kept.clock.advance(by: kept.limits.leaseCheckInterval)
                await kept.wakeUp.wait()
                #expect(kept.lease.isRevoked && kept.lease.end > kept.clock.now)
            }
        }
    }

    @Test func `a push in flight whose lease was lost is cancelled, and sent once more under the same collapse id`() async throws {
        let clock = ManualClock(isRunning: true)
        try await NotifierFixture.with(clock: clock) { fixture in
            var silence = FaultRule(.hang)
            silence.count = 1
            fixture.emulator.addFault(silence)
            let token = fixture.emulator.mintToken()
            let addressed = try await fixture.address([token])
            try await eventually("it is in flight") { fixture.emulator.statistics.sends == 1 }
            // Stands for another sender that has claimed it and has died.
            try await fixture.postgres.execute("UPDATE delivery_pages SET attempt = attempt + 1, due_at = now()")
            clock.advance(by: DeliveryLimits().renewalAge)
            #expect(try await fixture.settled(addressed).map(\.state) == [.accepted])
            let messages = await fixture.emulator.messages(to: token, atLeast: 1, within: .seconds(60))
            #expect(messages.count == 1)
            #expect(messages.first?.message["apns"]?["headers"]?["apns-collapse-id"]?.string?.hasPrefix("ekyc:") == true)
        }
    }
}
