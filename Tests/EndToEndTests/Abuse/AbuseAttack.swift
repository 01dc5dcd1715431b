import Foundation
import HTTPClient
import Logging
import Synchronization
import TestSupport

/// Strangers who send requests from many addresses, each over and over again, as fast as they are answered.
struct AbuseAttack: Sendable {
    /// Sends one request from an address, and returns the status of the answer.
    typealias Request = @Sendable (_ phone: Phone) async throws -> Int

    let stack: Stack
    let addresses: [String]
    let connections: Int
    /// Makes the requests of one connection, by its phone.
    private let makeRequest: @Sendable (Phone) -> Request
    private let http: HTTPClient
    private let statuses = AnswerCounts()

    /// Describes an attack; its connections are not those of the owner.
    init(_ stack: Stack, number: Int, connections: Int = AbuseScale.current.connections, _ request: @escaping Request) {
        self.init(stack, number: number, connections: connections, makeRequest: { _ in request })
    }

    /// Describes an attack that sends a form to a path.
    init(_ stack: Stack, number: Int, to path: String, form makeForm: @escaping @Sendable (Phone) -> RepeatedForm) {
        self.init(stack, number: number, connections: AbuseScale.current.connections) { phone in
            let form = makeForm(phone)
            return { phone in try await phone.send(form, to: path) }
        }
    }

    private init(_ stack: Stack, number: Int, connections: Int, makeRequest: @escaping @Sendable (Phone) -> Request) {
        self.stack = stack
        self.connections = connections
        self.makeRequest = makeRequest
        addresses = AbuseScale.current.addresses(of: number)
        http = Self.client(maxConnections: addresses.count * connections)
    }

    static func client(maxConnections: Int) -> HTTPClient {
        var configuration = HTTPClientConfiguration()
        configuration.version = .http1
        configuration.allowedSchemes = ["http"]
        configuration.connectTimeout = .seconds(60)
        configuration.maxConnectionsPerHost = maxConnections
        return HTTPClient(configuration: configuration, logger: Logger(label: "strangers") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Attacks until `body` has ended, which begins once the attack has got an answer on each connection.
    func during<Result: Sendable>(_ body: () async throws -> Result) async throws -> (result: Result, statuses: String) {
        let result = try await withThrowingTaskGroup(of: Void.self) { group in
            let (answers, answered) = AsyncStream<Void>.makeStream()
            for address in addresses {
                for _ in 0..<connections { group.addTask { try await attack(from: address, answered) } }
            }
            var count = 0
            for await _ in answers {
                count += 1
                if count == addresses.count * connections { break }
            }
            let result = try await body()
            group.cancelAll()
            while (try? await group.next()) != nil {}
            return result
        }
        await http.shutdown()
        return (result, statuses.text)
    }

    /// Sends a number of requests from each address, one after the other.
    func send(each count: Int) async throws -> String {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for address in addresses {
                group.addTask {
                    let phone = try await stranger(at: address)
                    let request = makeRequest(phone)
                    for _ in 0..<count { await once(phone, request) }
                }
            }
            try await group.waitForAll()
        }
        await http.shutdown()
        return statuses.text
    }

    private func attack(from address: String, _ answered: AsyncStream<Void>.Continuation) async throws {
        let phone = try await stranger(at: address)
        let request = makeRequest(phone)
        var isFirst = true
        while !Task.isCancelled {
            let status = await once(phone, request)
            if isFirst { answered.yield() }
            isFirst = false
            // A refusal is cheap: without a pause the attack would be one on the parser of HTTP.
            if status != 200, status != 202 { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private func stranger(at address: String) async throws -> Phone {
        try await Phone.make(stack).at(address, through: http)
    }

    @discardableResult
    private func once(_ phone: Phone, _ request: Request) async -> Int {
        let status = (try? await request(phone)) ?? 0
        statuses.counts.withLock { $0[status, default: 0] += 1 }
        return status
    }
}

/// The number of requests by the status of their answer; 0 is no answer.
private final class AnswerCounts: Sendable {
    let counts = Mutex<[Int: Int]>([:])

    var text: String {
        counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}
