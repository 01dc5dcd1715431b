import Foundation
import HTTPClient
import Synchronization
import TestSupport

/// The whole system with two instances of each service, each of which has the keys of its service only. A proxy shares the connections
/// of clients between the instances of identity-api.
final class TwinStack: Sendable {
    /// The time that a service may take to complete its work; image-worker waits for its model.
    private static let stopLimit = Duration.seconds(240)
    private static let frontService = "identity-api"

    private struct Instance {
        let service: String
        let number: Int
        let port: Int
        let adminPort: Int
        var process: GuardedProcess?

        var name: String { "\(service)-\(number)" }
    }

    private struct State {
        var instances: [Instance]
        var keys: [String: String]
        var restarts = 0
        var slowestStop = Duration.zero
    }

    let stack: Stack
    private let proxy: FaultProxy
    private let state: Mutex<State>

    private init(stack: Stack, proxy: FaultProxy, instances: [Instance]) {
        self.stack = stack
        self.proxy = proxy
        let keys = stack.environment.filter { name, _ in KeySetting.all.contains { $0.name == name } }
        state = Mutex(State(instances: instances, keys: keys))
    }

    /// Starts the servers, with Redis as one server or as a cluster, and two instances of each service.
    static func start(isClustered: Bool) async throws -> TwinStack {
        var instances: [Instance] = []
        for service in Stack.services {
            for number in 1...2 {
                instances.append(
                    Instance(service: service, number: number, port: try FreePort.find(), adminPort: try FreePort.find()))
            }
        }
        let fronts = instances.filter { $0.service == frontService }.map { FaultProxy.Target.tcp(port: $0.port) }
        let proxy = try await FaultProxy.start(to: fronts[0])
        try await proxy.share(among: fronts)
        let stack = try await Stack.start(services: [], apiPort: proxy.port, isClustered: isClustered)
        let twins = TwinStack(stack: stack, proxy: proxy, instances: instances)
        for index in instances.indices { try twins.launch(index) }
        for index in instances.indices { try await twins.waitUntilReady(index) }
        return twins
    }

    /// The keys that the services are given at their next start.
    var keys: [String: String] { state.withLock { $0.keys } }

    /// The number of restarts so far, and the longest time that an instance took to end.
    var restarts: (count: Int, slowestStop: Duration) { state.withLock { ($0.restarts, $0.slowestStop) } }

    /// Changes a setting, and restarts the instances of its services one after another. While an instance of identity-api is restarted, new
    /// connections go to the other one.
    ///
    /// - Parameter pause: Waits after each restart, while the instances have different keys.
    func apply(_ value: String, of setting: KeySetting, pause: () async throws -> Void) async throws {
        state.withLock { $0.keys[setting.name] = value }
        let instances = state.withLock { $0.instances }
        for service in setting.services {
            for index in instances.indices where instances[index].service == service {
                try await restart(index)
                try await pause()
            }
        }
    }

    private func restart(_ index: Int) async throws {
        let instance = state.withLock { $0.instances[index] }
        let isFront = instance.service == Self.frontService
        if isFront { try await proxy.share(among: fronts(except: index)) }
        let start = ContinuousClock.now
        await instance.process?.stop(patience: Self.stopLimit)
        let time = ContinuousClock.now - start
        guard time < Self.stopLimit else { throw DeadlineExceeded(description: "\(instance.name) did not end and was killed") }
        try launch(index)
        try await waitUntilReady(index)
        if isFront { try await proxy.share(among: fronts(except: nil)) }
        state.withLock { state in
            state.restarts += 1
            state.slowestStop = max(state.slowestStop, time)
        }
    }

    private func fronts(except index: Int?) -> [FaultProxy.Target] {
        let instances = state.withLock { $0.instances }
        return instances.indices.filter { instances[$0].service == Self.frontService && $0 != index }.map { .tcp(port: instances[$0].port) }
    }

    private func launch(_ index: Int) throws {
        let (instance, keys) = state.withLock { ($0.instances[index], $0.keys) }
        var settings = stack.environment(of: instance.service)
        for setting in KeySetting.all { settings[setting.name] = nil }
        for setting in KeySetting.all where setting.services.contains(instance.service) { settings[setting.name] = keys[setting.name] }
        settings["ADMIN_PORT"] = "\(instance.adminPort)"
        if instance.service == Self.frontService { settings["HTTP_PORT"] = "\(instance.port)" }
        let executable = try PackageRoot.executable(instance.service)
        let process = try GuardedProcess([executable], log: stack.logFile(of: instance.name), environment: settings)
        state.withLock { $0.instances[index].process = process }
    }

    private func waitUntilReady(_ index: Int) async throws {
        let instance = state.withLock { $0.instances[index] }
        let url = "http://127.0.0.1:\(instance.adminPort)/readyz"
        try await instance.process?.waitUntil("\(instance.name) is ready") {
            (try? await stack.http.execute(HTTPClientRequest(url: url)))?.status == 200
        }
    }

    /// Runs a command of heliographctl with the keys of now, or others, and returns its output.
    func control(_ arguments: [String], keys others: [String: String] = [:]) async throws -> String {
        let environment = stack.environment.merging(keys) { $1 }.merging(others) { $1 }.merging(["NO_COLOR": "1"]) { $1 }
        return try await CommandLineTool.run([try PackageRoot.executable("heliographctl")] + arguments, environment: environment)
    }

    /// Returns the dead letters as text; empty without dead letters.
    func deadLetters() async throws -> String {
        let list = try await control(["dlq", "list"])
        return list.contains("There are no dead letters") ? "" : list
    }

    /// Returns the ends of all logs.
    func tails() -> String {
        state.withLock { $0.instances }.map { "\($0.name): \(stack.tail(of: $0.name, lines: 3))" }.joined(separator: "\n")
    }

    /// Kills all instances and stops the proxy.
    func stop() async {
        for instance in state.withLock({ $0.instances }) { await instance.process?.stop(signal: SIGKILL) }
        await proxy.stop()
    }
}
