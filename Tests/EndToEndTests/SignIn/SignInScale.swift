import Foundation

/// How often each attack on sign-ins is made, and how many honest sign-ins are.
///
/// `SIGNIN_ATTEMPTS=200` makes so many attempts of each attack (`make verify-signin`). Without it the suite makes two of each.
struct SignInScale: Sendable {
    static let current = SignInScale(attempts: ProcessInfo.processInfo.environment["SIGNIN_ATTEMPTS"].flatMap { Int($0) })

    let attempts: Int
    /// The honest sign-ins on known devices while services are killed, and the phones that make them.
    let honest: (signIns: Int, phones: Int)

    private init(attempts: Int?) {
        self.attempts = attempts ?? 2
        honest = attempts.map { ($0 * 5 / 2, 4) } ?? (4, 2)
    }
}

/// The result of the attempts of one attack: how often each answer came.
struct AttackResult: Sendable {
    let attack: String
    private(set) var answers: [String: Int] = [:]
    private(set) var successes = 0

    init(_ attack: String) { self.attack = attack }

    mutating func add(_ answer: String, isSuccess: Bool) {
        answers[answer, default: 0] += 1
        if isSuccess { successes += 1 }
    }

    /// Prints a row of the table of `make verify-signin`.
    func report() {
        let counts = answers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) × \($0.key)" }
        ReportTable.signIn.append([attack, "\(answers.values.reduce(0, +))", "\(successes)", counts.joined(separator: ", ")])
    }
}
