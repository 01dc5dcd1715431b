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

    @Test func `an account is limited to its share of the waits`() throws {
        let account = RowOwner.account(UUID())
        let held = try (0..<3).map { _ in try follow(account) }
        #expect(refusal(account) == .rateLimited)
        #expect(refusal(.account(UUID())) == nil)
        withExtendedLifetime(held) {}
    }

    @Test func `a released wait makes room for another`() throws {
        let account = RowOwner.account(UUID())
        for _ in 0..<10 { _ = try (0..<3).map { _ in try follow(account) } }
        #expect(feed.count == 0)
    }

    @Test func `an address has a larger share, and the total is limited`() throws {
        let address = try RowOwner.address(#require(IPAddress("192.0.2.1")))
        let held = try (0..<4).map { _ in try follow(address) }
        #expect(refusal(address) == .rateLimited)
        let others = try (0..<2).map { _ in try follow(.account(UUID())) }
        #expect(refusal(.account(UUID())) == .overloaded)
        withExtendedLifetime((held, others)) {}
    }

    @Test func `the waits for a row are limited over all owners`() throws {
        let id = UUID()
        let held = try (0..<2).map { _ in try follow(.account(UUID()), id) }
        #expect(refusal(.account(UUID()), id) == .rateLimited)
        withExtendedLifetime(held) {}
    }
}
