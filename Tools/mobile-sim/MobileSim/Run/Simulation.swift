internal import Foundation
internal import MobileClient
internal import Synchronization

/// A run: all phones live, then everything ends, then a day passes.
struct Simulation: Sendable {
    /// The number of phones whose day passes at the same time: each reads and writes its files then.
    private static let phonesAtOnce = 40

    let world: World
    /// The longest time in which open orders and sessions must end after the run, in seconds.
    let settleTime: Double
    let keepsFiles: Bool
    let console: SimConsole

    func run() async throws -> SimReport {
        let position = try await world.feed.position()
        let phones = (0..<world.scenario.phones).map { Phone($0, in: world) }
        let feed = Task { await world.feed.run(from: position) }
        let progress = Task { await SimProgress(world: world, phones: phones, console: console).run() }
        let end = world.scenario.duration
        await withDiscardingTaskGroup { group in
            for phone in phones { group.addTask { await phone.run(until: end) } }
        }
        console.note("\(phones.count) phones have lived for \(SimConsole.clock(end)). What is under way ends now.")
        await withDiscardingTaskGroup { group in
            for phone in phones { group.addTask { await phone.settle(within: settleTime) } }
        }
        tellOpen(phones)
        await inTurn(phones) { await $0.passDay() }
        progress.cancel()
        feed.cancel()
        await progress.value
        let report = SimReport(world, phones: phones)
        if !keepsFiles { try? FileManager.default.removeItem(at: world.folder) }
        return report
    }

    /// Reports the orders and sessions that have not ended although everything works again.
    private func tellOpen(_ phones: [Phone]) {
        let late = phones.filter { $0.ledger.withLock { $0.open } > 0 }
        let open = late.reduce(0) { $0 + $1.ledger.withLock { $0.open } }
        console.note("\(open) orders and sessions are open. A day passes on each phone.")
        for phone in late.prefix(3) {
            console.note("  phone \(phone.index):")
            for event in phone.log.last.suffix(15) { console.note("    \(event.at) process \(event.process) \(event.text)") }
        }
    }

    private func inTurn(_ phones: [Phone], _ body: @escaping @Sendable (Phone) async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, phone) in phones.enumerated() {
                if index >= Self.phonesAtOnce { await group.next() }
                group.addTask { await body(phone) }
            }
        }
    }
}

/// Shows how a run goes: as a line that is redrawn on a terminal, as a new line every ten seconds elsewhere.
struct SimProgress: Sendable {
    let world: World
    let phones: [Phone]
    let console: SimConsole

    func run() async {
        while (try? await Task.sleep(for: .seconds(console.isTerminal ? 2 : 10))) != nil { console.progress(line) }
        console.progress("")
    }

    var line: String {
        let contents = world.measurements.snapshot
        let running = phones.count { phone in phone.state.withLock { $0.app != nil } }
        let signedIn = phones.count { phone in phone.memory.withLock { $0.account != nil } }
        let open = phones.reduce(0) { $0 + $1.ledger.withLock { $0.open } }
        let ends = contents.orderEnds.values.reduce(0, +)
        func faults(_ kind: FaultCount.Kind) -> Int { contents.faults[kind] ?? 0 }
        let minutes = SimConsole.clock(min(world.elapsed, world.scenario.duration))
        return [
            "\(minutes)/\(SimConsole.clock(world.scenario.duration))", "apps \(running)", "signed in \(signedIn)",
            "orders \(contents.orders)", "ended \(ends)", "sessions \(contents.sessionEnds.values.reduce(0, +))", "open \(open)",
            "pushes \(contents.pushes["in the foreground"] ?? 0)", "ends of apps \(faults(.termination))",
            "requests \(contents.requests)", "violations \(world.violations.count)",
        ].joined(separator: " · ")
    }
}
