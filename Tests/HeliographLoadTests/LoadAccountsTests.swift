import Foundation
import TestSupport
import Testing

@testable import HeliographLoad

struct LoadAccountsTests {
    private func accounts(_ count: Int, maxLeases: Int = 2) -> LoadAccounts {
        let person = LoadPerson(left: [], right: [], front: [], signIn: [])
        return LoadAccounts(
            (0..<count).map { LoadAccount(email: "\($0)@example.org", phone: "p", person: person) }, maxLeases: maxLeases)
    }

    @Test func `accounts are leased in turn, each up to its limit`() {
        let accounts = accounts(2)
        let lent = (0..<5).map { _ in accounts.lease()?.email }
        #expect(lent == ["0@example.org", "1@example.org", "0@example.org", "1@example.org", nil])
    }

    @Test func `an account rests for the Retry-After of the service`() throws {
        let accounts = accounts(2)
        try #require(accounts.lease()).release(restFor: .seconds(600))
        #expect((0..<3).map { _ in accounts.lease()?.email } == ["1@example.org", "1@example.org", nil])
        let second = self.accounts(1)
        try #require(second.lease()).release(restFor: .zero)
        #expect(second.lease() != nil)
    }

    @Test func `an account whose tokens expire gets no new leases, and is leased for their renewal once it has none`() throws {
        let accounts = accounts(1)
        #expect(accounts.lease(expiringBefore: .now + .seconds(100)) == nil, "it has no tokens")
        let account = try #require(accounts.lease())
        account.store(.init(access: "a", refresh: "r", expiry: .now + .seconds(60), userID: "u"))
        #expect(accounts.lease(expiringBefore: .now + .seconds(30)) == nil)
        #expect(accounts.lease(expiringBefore: .now + .seconds(100)) == nil, "it is leased")
        #expect(accounts.lease() == nil)
        account.release()
        let renewed = try #require(accounts.lease(expiringBefore: .now + .seconds(100)))
        renewed.release(restFor: .zero)
        #expect(accounts.lease() != nil)
    }

    @Test func `a varied photo is the same picture in different bytes`() throws {
        let photo = LoadPicture(bytes: try Photos.load(Photos.front[0]), type: "image/jpeg")
        let varied = photo.varied()
        #expect(varied.bytes != photo.varied().bytes)
        #expect(varied.bytes.prefix(4) == [0xFF, 0xD8, 0xFF, 0xFE])
        let length = Int(varied.bytes[4]) << 8 | Int(varied.bytes[5])
        #expect(Array(varied.bytes[(4 + length)...]) == Array(photo.bytes[2...]))
    }

    @Test func `the number of accounts follows from the limits of one account`() {
        func size(_ mix: [LoadKind: Double], _ perSecond: Double, _ seconds: Int, bytes: Double = 200_000) -> [Int] {
            let plan = LoadPlan(
                url: "", label: nil, perSecond: perSecond, pattern: .constant, mix: LoadMix(weights: mix), seed: 1,
                duration: .seconds(seconds), warmUp: .zero, maxConcurrency: 1, patience: .seconds(1), countsPushes: false,
                objectives: [], maxErrorShare: 0)
            let size = LoadPopulation.Size(plan, pictureBytes: bytes, minimum: 2)
            return [size.members, size.owners]
        }
        #expect(size([.signUp: 1], 5, 60) == [0, 0])
        #expect(size([.signIn: 1], 0.1, 60) == [2, 0])
        // There are 36,000 sign-ins in an hour; an account has a burst of 80 and then 8 per minute.
        #expect(size([.signIn: 1], 10, 3_600) == [65, 0])
        #expect(size([.upload: 1], 1, 7_200) == [0, 18])
        #expect(size([.upload: 1], 1, 7_200, bytes: 10e6) == [0, 86])
    }
}
