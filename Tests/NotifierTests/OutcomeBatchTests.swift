import AsyncPrimitives
import FCMEmulator
import Foundation
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@testable import Notifier

@Suite struct OutcomeBatchTests {
    @Test(
        "outcomes are written in batches of at most 4,000, in order and each once",
        arguments: [(0, [0]), (1, [1, 0]), (4000, [4000, 0]), (4001, [4000, 1, 0]), (9000, [4000, 4000, 1000, 0])])
    func batches(count: Int, expected: [Int]) async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let push = try await Self.push(fixture)
            var state = OutcomeWriter.State()
            state.entries = (0..<count).map { index in
                OutcomeWriter.Entry(
                    push: push, verdict: .settle(DeliverySettlement(id: push.delivery.id, outcome: .accepted, fcmName: "\(index)")))
            }
            let batches = expected.map { _ in state.takeBatch() }
            #expect(batches.map(\.count) == expected)
            let names = batches.joined().compactMap { entry -> String? in
                guard case .settle(let settlement) = entry.verdict else { return nil }
                return settlement.fcmName
            }
            #expect(names == (0..<count).map { "\($0)" })
        }
    }

    private static func push(_ fixture: NotifierFixture) async throws -> QueuedPush {
        let addressed = try await fixture.address([fixture.emulator.mintToken()])
        let delivery = try #require(
            try await DeliveryRepository(fixture.postgres).claim(addressed.deliveryIDs, lease: .seconds(60)).first)
        return QueuedPush(
            delivery: delivery, content: .failure(RenderingFailure(code: "none", reason: "not rendered")), badge: nil, deadline: .now,
            lease: DeliveryLease(delivery.claim, count: 1, until: .now),
            batch: PushBatch(of: delivery.notification, count: 1, causedBy: nil))
    }
}
