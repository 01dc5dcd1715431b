import Foundation
import Logging
import Testing

@testable import IdentityAPI

@Suite struct RowWatcherTests {
    private let feed = RowWatcher<Int>(
        limits: .init(total: 6, perRow: 2, perAccount: 3, perAddress: 4), logger: Logger(label: "feed")
    ) { _ in [:] }

    private func follow(_ owner: RowOwner, _ id: UUID = UUID()) throws -> RowSubscription<Int> {
        try feed.follow(id, for: owner) { _ in }
    }

    private func refusal(_ owner: RowOwner, _ id: UUID = UUID()) -> ErrorCode? {
        do {
            _ = try follow(owner, id)
            return nil
        } catch {
            return (error as? APIError)?.code
        }
    }

    @Test func `an account has its share of the places, and leaves the rest to others`() throws {
        let account = RowOwner.account(UUID())
        let held = try (0..<3).map { _ in try follow(account) }
        #expect(refusal(account) == .rateLimited)
        #expect(refusal(.account(UUID())) == nil)
        withExtendedLifetime(held) {}
    }

    @Test func `a place that is given up may be taken again`() throws {
        let account = RowOwner.account(UUID())
        for _ in 0..<10 { _ = try (0..<3).map { _ in try follow(account) } }
        #expect(feed.count == 0)
    }

    @Test func `an address has a larger share, and all together have no more than there are`() throws {
        let address = try RowOwner.address(#require(IPAddress("192.0.2.1")))
        let held = try (0..<4).map { _ in try follow(address) }
        #expect(refusal(address) == .rateLimited)
        let others = try (0..<2).map { _ in try follow(.account(UUID())) }
        #expect(refusal(.account(UUID())) == .overloaded)
        withExtendedLifetime((held, others)) {}
    }

    @Test func `a row has its share whoever waits for it`() throws {
        let id = UUID()
        let held = try (0..<2).map { _ in try follow(.account(UUID()), id) }
        #expect(refusal(.account(UUID()), id) == .rateLimited)
        withExtendedLifetime(held) {}
    }
}
