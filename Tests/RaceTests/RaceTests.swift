import Foundation
import PostgresClient
import TestSupport
import Testing

/// Tests two transactions that check and change the same rows: neither takes effect by a check that is not true any more (N7's kind).
///
/// A scheduler stops one of them at a statement between its check and its commit, drawn with a seed, and lets the other one run until it
/// has ended or waits for a lock. `RACE_TRIES=10000` sets the number of such tries over all cases (`make verify-races`), `RACE_SEED` the
/// seed.
@Suite struct RaceTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let tries = environment["RACE_TRIES"].flatMap { Int($0) } ?? 15 * cases.count
    private static let seed = environment["RACE_SEED"].flatMap { UInt64($0) } ?? 43
    private static let cases = RaceCase.accounts + RaceCase.signIns + RaceCase.newDevices + RaceCase.topics

    @Test func `no try of a race is won`() async throws {
        try await withMigratedDatabase { database in
            try await withClient(of: database) { owner in
                let sides = [try await RaceSide.start(on: database), try await RaceSide.start(on: database)]
                try await finally {
                    for side in sides { await side.stop() }
                } after: {
                    let scheduler = RaceScheduler(world: try RaceWorld(owner: owner), sides: sides)
                    var generator = SeededGenerator(seed: Self.seed)
                    let each = (Self.tries + Self.cases.count - 1) / Self.cases.count
                    var tallies: [RaceTally] = []
                    for raceCase in Self.cases { tallies.append(try await scheduler.run(raceCase, tries: each, with: &generator)) }
                    print("races with seed \(Self.seed)\n" + RaceTally.table(tallies))
                    for tally in tallies {
                        #expect(tally.won == 0, "\(tally.name)")
                        #expect(tally.stopped == each, "\(tally.name): \(tally.missed) stops were not reached")
                    }
                }
            }
        }
    }
}
