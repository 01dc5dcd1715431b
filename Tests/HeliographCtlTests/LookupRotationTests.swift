import Accounts
import CommandLineSupport
import Foundation
import HeliographCrypto
import JSON
import PostgresClient
import ServiceDefaults
import TestSupport
import Testing

@testable import HeliographCtl

struct LookupRotationTests {
    private let old = KeyRing.generateText(id: "k1")
    private let new = KeyRing.generateText(id: "k2")
    private let accounts = KeyRing.generateText(id: "a1")
    private var sealer: Sealer { get throws { Sealer(keyRing: try KeyRing(parsing: accounts)) } }

    private func keys(_ rings: String...) throws -> LookupKeys { LookupKeys(try KeyRing(parsing: rings.joined(separator: ","))) }

    private func email(_ number: Int) throws -> EmailAddress { try #require(EmailAddress("user\(number)@example.org")) }

    /// Makes accounts that a key finds.
    private func enrol(_ numbers: ClosedRange<Int>, under keys: LookupKeys, in postgres: PostgresClient) async throws {
        for number in numbers {
            let (id, address) = (UUID(), try email(number))
            let sealed = try sealer.seal(Array(address.normalised.utf8), context: SealingContext.email(accountID: id))
            _ = try await postgres.makeUser(id: id, emailLookup: address.lookups(under: keys)[0], emailSealed: sealed)
        }
    }

    private func rotation(_ keys: LookupKeys, _ postgres: PostgresClient) throws -> LookupRotation {
        LookupRotation(keys: keys, sealer: try sealer, postgres: postgres, rate: nil)
    }

    private func isFound(_ number: Int, under keys: LookupKeys, in postgres: PostgresClient) async throws -> Bool {
        try await UserRepository(postgres).find(emailLookups: email(number).lookups(under: keys)) != nil
    }

    @Test func `accounts get lookups of the new key, the old one is safe to remove, and goes with a last rotation`() async throws {
        try await withStorage { postgres in
            try await enrol(1...3, under: keys(old), in: postgres)
            let both = try keys(new, old)
            func state(_ keys: LookupKeys) async throws -> String {
                try await KeyCounts(lookups: keys, postgres: postgres).state(of: "k1")
            }
            #expect(try await state(both) == "in use")
            #expect(try await rotation(both, postgres).run { _ in } == .init(made: 3))
            #expect(try await state(both) == "safe to remove")
            #expect(try await rotation(both, postgres).run { _ in } == .init(), "a second rotation finds nothing")
            for keys in [both, try keys(old), try keys(new)] { #expect(try await isFound(2, under: keys, in: postgres)) }
            let verification = LookupVerification(keys: try keys(new), sealer: try sealer, postgres: postgres)
            #expect(try await verification.run() == .init(opened: 3))

            #expect(try await rotation(keys(new), postgres).run { _ in } == .init())
            #expect(try await isFound(2, under: keys(old), in: postgres), "nothing is deleted unless it is asked for")
            #expect(try await rotation(keys(new), postgres).forget { _ in } == .init(deleted: 3))
            #expect(try await KeyCounts(lookups: keys(new), postgres: postgres).keyIDs == ["k2"])
            #expect(try await !isFound(2, under: keys(old), in: postgres))
            #expect(try await isFound(2, under: keys(new), in: postgres))
        }
    }

    @Test func `accounts that are made meanwhile are found by the new key as well`() async throws {
        try await withStorage { postgres in
            try await enrol(1...40, under: keys(old), in: postgres)
            let both = try keys(new, old)
            async let made: Void = enrol(41...80, under: keys(old), in: postgres)
            _ = try await rotation(both, postgres).run { _ in }
            try await made
            _ = try await rotation(both, postgres).run { _ in }
            #expect(try await KeyCounts(lookups: both, postgres: postgres).counts == ["k2": 80])
        }
    }

    @Test func `what does not open is counted, and keeps its lookup`() async throws {
        try await withStorage { postgres in
            try await enrol(1...1, under: keys(old), in: postgres)
            _ = try await postgres.makeUser(emailLookup: email(2).lookups(under: keys(old))[0], emailSealed: [1])
            let outcome = try await rotation(keys(new, old), postgres).run { _ in }
            #expect(outcome.made == 1 && outcome.failed == 1)
            #expect(try await rotation(keys(new), postgres).forget { _ in } == .init(failed: 1, deleted: 1))
            #expect(try await isFound(2, under: keys(old), in: postgres))
            let verification = LookupVerification(keys: try keys(new), sealer: try sealer, postgres: postgres)
            #expect(try await verification.run() == .init(opened: 1, failed: ["emails": 1]))
        }
    }

    @Test func `a ring that the services do not have forgets nothing`() async throws {
        try await withStorage { postgres in
            try await enrol(1...2, under: keys(old), in: postgres)
            #expect(try await rotation(keys(new), postgres).forget { _ in } == .init(failed: 2))
            #expect(try await !isFound(1, under: keys(new), in: postgres), "it makes none either")
            _ = try await rotation(keys(new, old), postgres).run { _ in }
            let namesake = try keys(KeyRing.generateText(id: "k2"))
            #expect(try await rotation(namesake, postgres).forget { _ in } == .init(failed: 2))
            #expect(try await isFound(1, under: keys(old), in: postgres))
            #expect(try await rotation(keys(new), postgres).forget { _ in } == .init(deleted: 2))
        }
    }

    @Test func `a rotation ends, and says so, when an e-mail has two accounts`() async throws {
        try await withStorage { postgres in
            try await enrol(1...1, under: keys(old), in: postgres)
            try await enrol(1...1, under: keys(new), in: postgres)
            let outcome = try await rotation(keys(new, old), postgres).run { _ in }
            #expect(!outcome.isFinished && outcome.made == 0 && outcome.overtaken > 0)
            #expect(try await KeyCounts(lookups: keys(new, old), postgres: postgres).state(of: "k1") == "in use")
        }
    }

    @Test func `receipts are signed anew, before the key that has signed them goes`() async throws {
        try await withStorage { postgres in
            let receipt = try ErasureReceiptKey(lookupKeys: keys(old)).sign(["jti": "e1"])
            let erasure = try await postgres.beginErasure(of: try await postgres.makeUser(emailLookup: SHA256.hash("ada")).id)
            try await ErasureRepository(postgres).store(receipt: receipt, of: erasure.id, at: Date())
            let both = try keys(new, old)
            #expect(try await KeyCounts(lookups: both, postgres: postgres).state(of: "k1") == "in use")
            #expect(try await rotation(both, postgres).run { _ in } == .init(made: 1))
            #expect(try await KeyCounts(lookups: both, postgres: postgres).state(of: "k1") == "safe to remove")
            let stored = try #require(try await ErasureRepository(postgres).status(id: erasure.id, tokenHash: nil)?.receipt)
            #expect(try ErasureReceiptKey(lookupKeys: keys(new)).verifiedClaims(of: stored) == #"{"jti":"e1"}"#)
            #expect(try await rotation(keys(old), postgres).run { _ in }.failed == 1, "a key that the ring has no longer")
        }
    }

    @Test func `only lookups are forgotten`() async {
        #expect(await heliographctl("keys", "rotate", "--ring", "faces", "--forget").exitCode == 64)
    }

    @Test func `the commands read both rings of the environment`() async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { try await enrol(1...2, under: keys(old), in: $0) }
            func run(_ ring: String, _ arguments: String...) async throws -> String {
                try await CommandLineTool.run(
                    [PackageRoot.executable("heliographctl"), "keys"] + arguments + ["--ring", "lookups", "--wait", "60"],
                    environment: ["DATABASE_URL": database.url, "LOOKUP_KEYS": ring, "ACCOUNT_KEYS": accounts, "NO_COLOR": "1"])
            }
            #expect(try await run("\(new),\(old)", "rotate", "--rate", "1000/s").contains("made anew 2"))
            let status = try await run("\(new),\(old)", "status")
            #expect(status.contains("safe to remove") && status.contains("in use, writes"))
            #expect(try await run(new, "verify").contains("opened 2"))
            await #expect(throws: (any Error).self) { try await run(KeyRing.generateText(id: "k3"), "rotate", "--forget") }
            #expect(try await run(new, "rotate", "--forget").contains("deleted 2 of keys that the ring has no longer"))
        }
    }
}
