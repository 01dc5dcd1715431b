import Foundation
import TestSupport

/// Measures what a request with a bearer costs identity-api: `GET /v1/images/jobs` of an account without jobs with an access token and with
/// a Firebase ID token, beside a constant route of the same HTTP server in the same process.
///
/// identity-api runs on one core and `h2load` on the others. The rate is the rate of one core that only identity-api uses: the work of
/// other processes, above all Postgres, is not counted. The three measurements alternate, and the median ratio counts.
func benchmarkAuth() async throws -> [Figure] {
    let stack = try await Stack.start(fsync: true, settings: ["RATE_LIMIT_ADDRESS_PER_MINUTE": "0", "DATABASE_CONNECTIONS": "4"])
    let bench = try await AuthBench(stack)
    var rounds: [(constant: Double, access: Double, firebase: Double)] = []
    // The first round warms up.
    for _ in 0...measuredRounds {
        rounds.append((try await bench.rate(of: .constant), try await bench.rate(of: .access), try await bench.rate(of: .firebase)))
    }
    rounds.removeFirst()
    func figure(_ name: String, _ rate: (Round) -> Double, _ reference: String, _ other: (Round) -> Double, bar: Double) -> Figure {
        Figure(
            name, rounds.map(rate).median, unit: "GET /v1/images/jobs a second of one core", reference: reference,
            referenceValue: rounds.map(other).median, ratios: rounds.map { rate($0) / other($0) }, bar: bar)
    }
    return [
        figure("auth_access_token", \.access, "a constant route of Hummingbird in the same process", \.constant, bar: 0.13),
        figure("auth_firebase_token", \.firebase, "a constant route of Hummingbird in the same process", \.constant, bar: 0.11),
        figure("auth_firebase_against_access_token", \.firebase, "with an access token", \.access, bar: 0.8),
    ]
}

private typealias Round = (constant: Double, access: Double, firebase: Double)

private let measuredRounds = 5
private let requestsPerRound = 30_000
private let connections = 32

/// A stack whose identity-api runs on one core, with the addresses and bearers to measure.
private struct AuthBench {
    enum Kind { case constant, access, firebase }

    private let pid: Int32
    private let jobsURL: String
    private let constantURL: String
    private let accessToken: String
    private let idToken: String

    init(_ stack: Stack) async throws {
        let phone = try await Phone.make(stack)
        accessToken = try await phone.accessToken()
        idToken = try await phone.idToken(of: "bench")
        guard let pid = stack.pid(of: "identity-api") else { throw DeadlineExceeded(description: "identity-api does not run") }
        self.pid = pid
        jobsURL = stack.apiURL + "/v1/images/jobs"
        constantURL = stack.adminURL(of: "identity-api") + "/livez"
        // The other services would compete for the cores, and are not needed.
        for service in Stack.services where service != "identity-api" { stack.signal(service, SIGSTOP) }
        try await CommandLineTool.run(["taskset", "-acp", "0", "\(pid)"])
    }

    /// Returns the requests per second of processor time of identity-api.
    func rate(of kind: Kind) async throws -> Double {
        let before = ProcessTime(of: pid)
        let bearer: [String] =
            switch kind {
            case .constant: []
            case .access: ["-H", "authorization: Bearer \(accessToken)"]
            case .firebase: ["-H", "authorization: Bearer \(idToken)"]
            }
        let output = try await CommandLineTool.run(
            ["h2load", "--h1", "-t", "1", "-c", "\(connections)", "-n", "\(requestsPerRound)"] + bearer
                + [kind == .constant ? constantURL : jobsURL])
        guard output.contains("\(requestsPerRound) succeeded"), output.contains("status codes: \(requestsPerRound) 2xx") else {
            throw DeadlineExceeded(description: "h2load did not succeed: \(output)")
        }
        return Double(requestsPerRound) / (ProcessTime(of: pid).total - before.total)
    }
}
