import Logging
import PostgresClient
import Schema
import Synchronization
import TestSupport

/// One side of all tries: a gate, and the clients of the services behind it.
struct RaceSide: Sendable {
    let gate: StatementGate
    let clients: [ServiceRole: PostgresClient]

    /// The services whose transactions race.
    private static let roles: [ServiceRole] = [.identityAPI, .faceMatchingWorker]

    static func start(on database: TestDatabase) async throws -> RaceSide {
        let gate = try await StatementGate.start(before: database.server)
        var clients: [ServiceRole: PostgresClient] = [:]
        for role in roles {
            var configuration = PostgresConfiguration(url: gate.url(database: database.name, user: role.name()))
            configuration.maxConnections = 2
            clients[role] = try PostgresClient(
                configuration: configuration, logger: Logger(label: "races") { _ in SwiftLogNoOpLogHandler() })
        }
        return RaceSide(gate: gate, clients: clients)
    }

    func stop() async {
        for client in clients.values { await client.shutdown() }
        await gate.stop()
    }

    /// Runs a transaction; the plan of the gate ends with it.
    func run(_ transaction: Race.Transaction, as role: ServiceRole) async throws -> (isEffective: Bool, boundaries: Int) {
        guard let client = clients[role] else { throw DeadlineExceeded(description: "no client of \(role.rawValue)") }
        do {
            let isEffective = try await transaction(client)
            return (isEffective, try await gate.disarm())
        } catch {
            try await gate.disarm()
            throw error
        }
    }
}

/// Runs tries of races: stops one transaction at a statement between its check and its commit, and lets the other run until it has ended
/// or waits for a lock.
struct RaceScheduler: Sendable {
    let world: RaceWorld
    let sides: [RaceSide]

    /// Runs a number of tries of a case that are stopped.
    func run(_ raceCase: RaceCase, tries: Int, with generator: inout SeededGenerator) async throws -> RaceTally {
        var tally = RaceTally(name: raceCase.name)
        var boundaries: [Int] = []
        for side in 0...1 {
            // Runs to its end, and so tells how many statements follow the check.
            let (_, count) = try await attempt(raceCase, stopping: side, at: .max)
            guard count > 0 else { throw DeadlineExceeded(description: "\(raceCase.name): side \(side) does not run its check") }
            boundaries.append(count)
        }
        while tally.stopped < tries, tally.missed <= tries {
            let side = Int.random(in: 0...1, using: &generator)
            let boundary = Int.random(in: 0..<boundaries[side], using: &generator)
            let (ending, _) = try await attempt(raceCase, stopping: side, at: boundary)
            if ending.ending.stopped == nil { tally.missed += 1 } else { tally.stopped += 1 }
            if ending.ending.hasWaited { tally.waited += 1 }
            if ending.isWon { tally.won += 1 }
        }
        return tally
    }

    private func attempt(
        _ raceCase: RaceCase, stopping side: Int, at boundary: Int
    ) async throws -> (ending: (ending: RaceEnding, isWon: Bool), boundaries: Int) {
        let race = try await raceCase.make(world)
        let (stopped, other) = (raceCase.sides[side], raceCase.sides[1 - side])
        let stop = try await sides[side].gate.arm(after: stopped.check, boundary: boundary)
        async let first = sides[side].run(race.transactions[side], as: stopped.role)
        let isReached = await stop.isReached()
        // What is not stopped has ended.
        let isDone = Atomic(false)
        async let second = {
            defer { isDone.store(true, ordering: .releasing) }
            return try await sides[1 - side].run(race.transactions[1 - side], as: other.role)
        }()
        var hasWaited = false
        if isReached {
            hasWaited = try await eventually("the other transaction ends or waits") {
                if isDone.load(ordering: .acquiring) { return false }
                return try await world.isAnyWaiting() ? true : nil
            }
            try await sides[side].gate.open()
        }
        let (own, others) = (try await first, try await second)
        let effects = side == 0 ? [own.isEffective, others.isEffective] : [others.isEffective, own.isEffective]
        let ending = RaceEnding(stopped: isReached ? side : nil, hasWaited: hasWaited, effects: effects)
        return ((ending, try await race.isWon(ending)), own.boundaries)
    }
}
