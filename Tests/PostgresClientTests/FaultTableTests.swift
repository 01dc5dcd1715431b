import Testing

@testable import PostgresClient

@Suite("Faults of SQLSTATEs and of the client's own errors")
struct FaultTableTests {
    /// Each row of the table, and one state of each class that has no row of its own.
    private static let expected: [(state: String, fault: PostgresFault, replacesConnection: Bool)] = [
        ("08000", .lostConnection, true), ("08006", .lostConnection, true), ("08P01", .lostConnection, true),
        ("0A000", .program, false),
        ("21000", .message, false), ("22001", .message, false), ("22P02", .message, false),
        ("23505", .message, false), ("23503", .message, false),
        ("25006", .outage, true), ("25P01", .program, false), ("25P02", .program, false),
        ("25P03", .lostConnection, true), ("25P04", .lostConnection, true),
        ("26000", .lostConnection, true), ("28000", .outage, false), ("28P01", .outage, false),
        ("3D000", .outage, false), ("3F000", .outage, false),
        ("40001", .conflict, false), ("40P01", .conflict, false), ("40002", .conflict, false), ("40003", .lostConnection, true),
        ("42601", .program, false), ("42804", .program, false),
        ("42P01", .outage, false), ("42703", .outage, false), ("42883", .outage, false), ("42704", .outage, false),
        ("42501", .outage, false), ("42P05", .lostConnection, true),
        ("44000", .message, false),
        ("53000", .outage, false), ("53100", .outage, false), ("53200", .outage, false), ("53300", .outage, false),
        ("54000", .message, false),
        ("55000", .program, false), ("55006", .conflict, false), ("55P03", .conflict, false),
        ("57014", .message, false), ("57P01", .lostConnection, true), ("57P02", .lostConnection, true),
        ("57P03", .lostConnection, true), ("57P04", .outage, false), ("57P05", .lostConnection, true),
        ("58030", .outage, false),
        ("P0001", .message, false), ("XX000", .program, false), ("XX001", .program, false), ("", .program, false), ("?", .program, false),
    ]

    @Test(arguments: expected) func `each SQLSTATE has its fault`(state: String, fault: PostgresFault, replacesConnection: Bool) {
        let error = PostgresError(code: .sqlState(state), message: "")
        #expect(error.fault == fault)
        #expect(error.replacesConnection == replacesConnection)
    }

    @Test func `every row of the table is tested`() {
        let tested = Set(Self.expected.map(\.state))
        #expect(Set(PostgresFault.states.keys).subtracting(tested).isEmpty)
        #expect(Set(PostgresFault.classes.keys).subtracting(tested.map { String($0.prefix(2)) }).isEmpty)
    }

    @Test(arguments: [
        (PostgresError.Code.connectionLost, PostgresFault.lostConnection, true),
        (.unavailable, .outage, true), (.queueFull, .outage, true), (.closed, .outage, false),
        (.timeout, .message, true),
        (.cancelled, .program, false), (.decoding, .program, false), (.configuration, .program, false), (.invalidQuery, .program, false),
        (.migration, .program, false),
    ])
    func `each error of the client has its fault`(code: PostgresError.Code, fault: PostgresFault, isRetryable: Bool) {
        let error = PostgresError(code: code, message: "")
        #expect(error.fault == fault)
        #expect(error.isRetryable == isRetryable)
    }

    @Test func `a conflict or an outage is worth a repetition, but not one that an operator has to mend`() {
        let retryable = ["40001", "55P03", "25006", "53300", "08006"]
        for state in retryable { #expect(PostgresError(code: .sqlState(state), message: "").isRetryable) }
        let final = ["42P01", "42501", "28P01", "3D000", "23505", "42601", "57014"]
        for state in final { #expect(!PostgresError(code: .sqlState(state), message: "").isRetryable) }
    }

    @Test func `only a lost connection and an outage say nothing about the work`() {
        #expect(PostgresFault.allCases.filter(\.isUnavailability) == [.lostConnection, .outage])
    }
}
