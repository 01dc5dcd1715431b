import EventBus
import FCMEmulator
import Foundation
import PostgresClient
import Push
import TestSupport
import Testing
import WireFormat

@Suite struct LostEventTests {
    @Test func `an urgent push whose event became a dead letter is sent without it, once`() async throws {
        try await NotifierFixture.with(isRunning: false) { fixture in
            let token = fixture.emulator.mintToken()
            let addressed = try await fixture.address([token])
            try await fixture.postgres.execute("UPDATE outbox SET body = convert_to('[]', 'UTF8')")
            let group = StreamGroup(stream: NotificationAddressed.stream(of: .urgent), name: "notifier")
            try await fixture.withNotifier {
                try await eventually("the event is a dead letter") {
                    try await DeadLetterRepository(fixture.postgres).page(of: group, limit: 2).count == 1
                }
                #expect(fixture.emulator.statistics.sends == 0)
                try await fixture.postgres.execute("UPDATE delivery_pages SET due_at = now()")
                let delivery = try await fixture.settled(addressed).first
                #expect(delivery?.state == .accepted && delivery?.attempt == 1)
            }
            #expect(fixture.emulator.statistics.sends == 1)
        }
    }
}
