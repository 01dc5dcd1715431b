internal import Foundation
internal import MobileClient
internal import Synchronization

/// A simulated phone: starts the app again and again, and has happen to it what its plan says.
final class Phone: Sendable {
    struct State {
        var random: SimRandom
        var processes = 0
        var app: AppProcess?
        /// The folder of the client, which has another name in each process.
        var folder: URL
        var isForeground = true
        /// The app is not started any more, and no further faults are injected.
        var isEnding = false
        /// The conversation on the screen.
        var visible: String?
        /// What made the app ask for a job the last time, by job.
        var triggers: [String: Measurements.Trigger] = [:]
    }

    let index: Int
    let plan: PhonePlan
    let world: World
    let root: URL
    let clock = PhoneClock()
    let hardware = PhoneHardware()
    let network: PhoneNetwork
    let log: EventLog
    let memory = Mutex(PhoneMemory())
    let ledger = Mutex(PhoneLedger())
    let state: Mutex<State>

    init(_ index: Int, in world: World) {
        self.index = index
        self.world = world
        plan = PhonePlan(world.scenario, phone: index)
        network = PhoneNetwork(world.scenario, phone: index)
        log = EventLog(start: world.start)
        root = world.folder.appending(path: "phone-\(index)")
        state = Mutex(
            State(
                random: SimRandom(seed: world.scenario.seed, stream: UInt64(index) << 8 | 2), folder: root.appending(path: "process-1")))
    }

    // MARK: What all parts use

    /// The group of phones that are in an event and a conversation together.
    var group: Int { index / Scenario.groupSize }
    var topic: String { "\(world.name)-\(group)" }
    var isOwner: Bool { index % Scenario.groupSize == 0 }
    var companions: [Int] {
        (0..<Scenario.groupSize).map { group * Scenario.groupSize + $0 }.filter { $0 != index && $0 < world.scenario.phones }
    }

    func draw<Answer>(_ body: (inout SimRandom) -> Answer) -> Answer { state.withLock { body(&$0.random) } }

    func note(_ text: String) { log.add(text, process: state.withLock { $0.processes }) }

    func violate(_ rule: Violation.Rule, _ text: String) {
        note("VIOLATION: \(text)")
        world.report(
            Violation(rule: rule, phone: index, seed: world.scenario.seed, text: text, events: log.last))
    }

    func violate(_ findings: [PhoneLedger.Finding]) { for finding in findings { violate(finding.rule, finding.text) } }

    // MARK: Processes

    /// Starts the app, and returns it. The app before it must have ended.
    func launch() throws -> AppProcess {
        let (number, folder) = state.withLock { state in
            state.processes += 1
            return (state.processes, state.folder)
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let incarnation = Incarnation(number: number, folder: folder) { [weak self] in self?.moveFolder(from: folder, number) }
        let app = try AppProcess(self, incarnation)
        state.withLock { state in
            state.app = app
            state.isForeground = true
        }
        world.measurements.change { $0.launches += 1 }
        note("The app starts")
        app.begin()
        return app
    }

    /// The end of a process: its remaining computations do not reach the files of the next one.
    private func moveFolder(from folder: URL, _ number: Int) {
        let next = root.appending(path: "process-\(number + 1)")
        rename(folder.path, next.path)
        state.withLock { state in
            state.folder = next
            state.app = nil
            state.visible = nil
        }
    }

    /// Lives until the run is over: starts the app, and starts it again when it has ended.
    func run(until end: Double) async {
        await wait(until: plan.start)
        await getToken()
        let incidents = Task { await self.happen(until: end) }
        while world.elapsed < end {
            guard let app = try? launch() else { return violate(.start, "The client cannot be made") }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await app.incarnation.ended() }
                group.addTask { await self.wait(until: end) }
                _ = await group.next()
                // The wait for the end of the app cannot be cancelled; at the end of the run the app lives on for `settle(within:)`.
                if self.world.elapsed >= end, app.incarnation.isAlive { app.incarnation.release() }
                group.cancelAll()
            }
            guard !app.incarnation.isAlive else { break }
            note("The app ended at: \(app.incarnation.endedAt ?? "an unknown place")")
            await wait(until: min(end, world.elapsed + app.downTime))
        }
        incidents.cancel()
        await incidents.value
    }

    func wait(until time: Double) async {
        let left = time - world.elapsed
        if left > 0 { try? await Task.sleep(for: .seconds(left)) }
    }

    /// Gets the phone's push token from Firebase, which takes as long as it takes.
    private func getToken() async {
        while memory.withLock({ $0.token }) == nil, !Task.isCancelled {
            do throws(EmulatorControl.Failure) { adopt(try await world.emulator.newToken()) } catch {
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    func adopt(_ token: String) {
        memory.withLock { $0.token = token }
        world.feed.register(token) { [weak self] push in self?.arrived(push) }
    }
}
