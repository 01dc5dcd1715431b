import AsyncPrimitives
import FCMEmulator
import Foundation
import HTTPClient
import JSON
import TestSupport
import Testing

@testable import IdentityAPI

@Suite struct FirebaseKeyTests {
    /// Four people send requests without a pause while the signing key is replaced four times. Each gets a new token when the key
    /// changes, and goes on using the old one until then.
    @Test func `while signing keys rotate, no valid token is refused`() async throws {
        try await FirebaseFixture.with { firebase in
            let (rotations, requestsBetween) = (4, 25)
            let sent = EventCount()
            let statuses = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
                let done = AsyncLatch()
                #expect(try await firebase.list(firebase.token(of: "ada")).status == 200)
                for number in 0..<4 {
                    group.addTask {
                        var counts: [Int: Int] = [:]
                        while !done.isOpen {
                            let token = try await firebase.token(of: "person-\(number)")
                            for _ in 0..<5 {
                                counts[try await firebase.list(token).status, default: 0] += 1
                                sent.add()
                            }
                        }
                        return counts
                    }
                }
                for _ in 0..<rotations {
                    // Google's keys change at most once in hours, and an unknown one is fetched for at most once a minute.
                    firebase.clock.advance(by: .seconds(61))
                    try await firebase.emulator.rotateIDTokenKey()
                    #expect(try await firebase.list(firebase.token(of: "ada")).status == 200, "the new key is known from here on")
                    await sent.wait(for: sent.count + requestsBetween)
                }
                done.open()
                return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            #expect(Array(statuses.keys) == [200])
            #expect(statuses[200, default: 0] >= rotations * requestsBetween)
            #expect(firebase.emulator.statistics.keyFetches == 1 + rotations)
        }
    }

    @Test func `tokens of a key that is no longer published are refused`() async throws {
        try await FirebaseFixture.with { firebase in
            let old = try await firebase.token(of: "ada")
            #expect(try await firebase.list(old).status == 200)
            try await firebase.emulator.rotateIDTokenKey(publishingOldForSeconds: 0)
            #expect(try await firebase.list(old).status == 200, "its key is still cached")
            #expect(try await firebase.list(firebase.token(of: "ada")).status == 200)
            #expect(try await firebase.list(old).refusal == "401 unauthorized")
        }
    }

    /// Sends tokens that name unknown keys, and returns the statuses of the answers.
    private func guess(_ firebase: FirebaseFixture) async throws -> Set<Int> {
        let statuses = try await race(20) { _ in
            try await firebase.list(firebase.token(of: "eve") { $0.fault = .unknownKey }).status
        }
        return Set(statuses)
    }

    @Test func `names of unknown keys cause one fetch a minute`() async throws {
        try await FirebaseFixture.with { firebase in
            let token = try await firebase.token(of: "ada")
            #expect(try await firebase.list(token).status == 200)
            for _ in 0..<3 { #expect(try await guess(firebase) == [401]) }
            #expect(firebase.emulator.statistics.keyFetches == 2)
            firebase.clock.advance(by: .seconds(61))
            #expect(try await guess(firebase) == [401])
            #expect(firebase.emulator.statistics.keyFetches == 3)
        }
    }

    private static func fault(_ effect: FaultRule.Effect) -> FaultRule {
        var rule = FaultRule(effect)
        rule.endpoint = .firebaseKeys
        rule.count = nil
        return rule
    }

    @Test(arguments: [FaultRule.Effect.html(status: 503), .html(status: 200), .dropConnection])
    func `without keys the answer is 503, and a token is accepted once they are there`(effect: FaultRule.Effect) async throws {
        try await FirebaseFixture.with {
            $0.addFault(Self.fault(effect))
        } _: { firebase in
            let token = try await firebase.token(of: "ada")
            let refused = try await firebase.list(token)
            #expect(refused.refusal == "503 unavailable" && refused.header("Retry-After") != nil)
            firebase.emulator.clearFaults()
            // A fetch that was under way may still fail.
            try await eventually("the keys are fetched") {
                firebase.clock.advance(by: .seconds(61))
                return try await firebase.list(token).status == 200
            }
        }
    }

    @Test func `known keys are used while Google does not answer, and are given up in the end`() async throws {
        try await FirebaseFixture.with { firebase in
            let token = try await firebase.token(of: "ada") { $0.expiresIn = 10 * 24 * 3_600 }
            #expect(try await firebase.list(token).status == 200)
            firebase.emulator.addFault(Self.fault(.html(status: 503)))
            firebase.clock.advance(by: .seconds(24 * 3_600))
            #expect(try await firebase.list(token).status == 200)
            firebase.clock.advance(by: .seconds(24 * 3_600))
            #expect(try await firebase.list(token).refusal == "503 unavailable")
        }
    }
}
