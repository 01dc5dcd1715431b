import PostgresClient
import Schema

/// Two transactions that check and write the same. The scheduler stops one of them in between.
struct RaceCase: Sendable {
    /// The roles and checks of both transactions.
    struct Side: Sendable {
        let role: ServiceRole
        /// A part of the text of the statement by which the transaction checks what it then writes by.
        let check: String
    }

    let name: String
    let sides: [Side]
    /// Makes the state of a new try, which shares no row with the others.
    let make: @Sendable (RaceWorld) async throws -> Race

    /// Describes a case by its two sides.
    init(
        _ name: String, _ first: (role: ServiceRole, check: String), _ second: (role: ServiceRole, check: String),
        make: @escaping @Sendable (RaceWorld) async throws -> Race
    ) {
        self.name = name
        sides = [Side(role: first.role, check: first.check), Side(role: second.role, check: second.check)]
        self.make = make
    }
}

/// One try.
struct Race: Sendable {
    /// Runs one of the transactions with the client of its service, and returns whether it took effect.
    typealias Transaction = @Sendable (PostgresClient) async throws -> Bool

    let transactions: [Transaction]
    /// Returns whether what came out is what no order of the two gives.
    let isWon: @Sendable (RaceEnding) async throws -> Bool

    /// Describes a try by its two transactions.
    init(_ first: @escaping Transaction, _ second: @escaping Transaction, isWon: @escaping @Sendable (RaceEnding) async throws -> Bool) {
        transactions = [first, second]
        self.isWon = isWon
    }
}

/// How a try ended.
struct RaceEnding: Sendable {
    /// The side that was stopped; nil when its stop was not reached.
    let stopped: Int?
    /// Whether the other side had to wait for a lock until the stopped one went on.
    let hasWaited: Bool
    /// Whether each side took effect.
    let effects: [Bool]

    /// Whether a side was stopped after its check, took effect, and the other one took effect in between: what was checked was not true
    /// any more.
    func isOvertaken(_ side: Int) -> Bool { stopped == side && !hasWaited && effects == [true, true] }
}

/// The numbers of a case.
struct RaceTally: Sendable {
    let name: String
    /// The tries that were stopped between check and commit.
    var stopped = 0
    /// Those of them in which the other side waited for a lock.
    var waited = 0
    /// Those of all tries that broke the rule.
    var won = 0
    /// The tries whose stop was not reached, which do not count.
    var missed = 0

    /// The table of all cases.
    static func table(_ tallies: [RaceTally]) -> String {
        let width = tallies.map(\.name.count).max() ?? 0
        func line(_ name: String, _ values: [String]) -> String {
            let cells = values.map { String(repeating: " ", count: max(1, 22 - $0.count)) + $0 }
            return name + String(repeating: " ", count: max(0, width - name.count)) + cells.joined()
        }
        let head = line("case", ["stopped in between", "waited for a lock", "not reached", "won"])
        let rows = tallies.map { line($0.name, ["\($0.stopped)", "\($0.waited)", "\($0.missed)", "\($0.won)"]) }
        let sums = [\RaceTally.stopped, \.waited, \.missed, \.won].map { path in "\(tallies.map { $0[keyPath: path] }.reduce(0, +))" }
        return ([head] + rows + [line("all", sums)]).joined(separator: "\n")
    }
}
