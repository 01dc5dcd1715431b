import Testing

@testable import MobileClient

/// Two pictures to try, whose downloads end before, at and after the limit, with the system's own end and an end of the process.
private enum ContentLoaderModel: CheckedModel {
    enum Download: Hashable {
        case running
        /// Its file is complete, and its task is about to say so.
        case written
        case failed
    }

    struct World: Hashable {
        var state = ContentLoaderReducer.State(candidates: 2)
        var effects: [ContentLoaderReducer.Effect] = []
        var isStarted = false
        var downloads: [Int: Download] = [:]
        var files: Set<Int> = []
        var hasTimer = false
        var expiriesLeft = 2
        var deliveries: [Int?] = []
        /// The picture that the system has taken.
        var taken: Int?
        var hasEnded = false
        /// Whether the limit or the system's end has been handled.
        var isTimeUp = false
        var wrong: String?
    }

    static var initial: [World] { [World()] }

    static func steps(from world: World) -> [(name: String, world: World)] {
        guard !world.hasEnded else {
            // The next extension sweeps the folder.
            guard !world.files.isEmpty else { return [] }
            var next = world
            next.files = []
            return [("sweep", next)]
        }
        var steps: [(name: String, world: World)] = []
        var ended = world
        ended.hasEnded = true
        steps.append(("the process ends", ended))
        for (number, download) in world.downloads.sorted(by: { $0.key < $1.key }) where download == .running {
            var written = world
            written.downloads[number] = .written
            written.files.insert(number)
            var failed = world
            failed.downloads[number] = .failed
            steps += [("\(number) is written", written), ("\(number) fails", failed)]
        }
        if let effect = world.effects.first {
            for isTaken in [true, false] {
                var next = world
                next.effects.removeFirst()
                perform(effect, &next, isTaken: isTaken)
                steps.append(("\(effect)\(isTaken ? "" : ", not taken")", next))
                guard case .deliver(_?) = effect else { break }
            }
            return steps
        }
        if !world.isStarted {
            var next = handled(world, .started)
            next.isStarted = true
            steps.append(("start", next))
        }
        for (number, download) in world.downloads.sorted(by: { $0.key < $1.key }) where download != .running {
            var next = world
            next.downloads[number] = nil
            steps.append(("\(number) reports", handled(next, download == .written ? .downloaded(number) : .failed(number))))
        }
        if world.hasTimer {
            var next = world
            next.hasTimer = false
            steps.append(("25 seconds", handled(next, .timeUp)))
        }
        if world.expiriesLeft > 0 {
            var next = world
            next.expiriesLeft -= 1
            next = handled(next, .timeUp)
            steps.append(("the system ends the extension", next))
        }
        return steps
    }

    private static func handled(_ world: World, _ event: ContentLoaderReducer.Event) -> World {
        var next = world
        if event == .timeUp { next.isTimeUp = true }
        next.effects = ContentLoaderReducer.reduce(&next.state, event) + next.effects
        return next
    }

    private static func perform(_ effect: ContentLoaderReducer.Effect, _ world: inout World, isTaken: Bool) {
        switch effect {
        case .startTimer: world.hasTimer = true
        case .stopTimer: world.hasTimer = false
        case .download(let number): world.downloads[number] = .running
        // It may have ended already, and reports in either case.
        case .cancel: break
        case .deliver(let number):
            world.deliveries.append(number)
            guard let number else { return }
            if !world.files.contains(number) { world.wrong = "a picture is delivered without its file" }
            guard isTaken else {
                world = handled(world, .rejected(number))
                return
            }
            world.taken = number
            world.files.remove(number)
        case .removeFile(let number):
            if world.taken == number { world.wrong = "a file is removed that the system has" }
            world.files.remove(number)
        }
    }

    static func violation(of world: World) -> String? {
        if world.isTimeUp, world.effects.isEmpty, world.deliveries.isEmpty { return "the time is up, and nothing is handed back" }
        return world.deliveries.count > 1 ? "the notification is handed back \(world.deliveries.count) times" : world.wrong
    }

    static func violationAtEnd(of world: World) -> String? {
        world.files.isEmpty ? nil : "files \(world.files.sorted()) are left"
    }
}

/// The same without an end of the process: the notification must come back, and its files must go.
private enum LivingContentLoaderModel: CheckedModel {
    static var initial: [ContentLoaderModel.World] { ContentLoaderModel.initial }

    static func steps(from world: ContentLoaderModel.World) -> [(name: String, world: ContentLoaderModel.World)] {
        ContentLoaderModel.steps(from: world).filter { !$0.world.hasEnded }
    }

    static func violation(of world: ContentLoaderModel.World) -> String? { ContentLoaderModel.violation(of: world) }

    static func violationAtEnd(of world: ContentLoaderModel.World) -> String? {
        if world.deliveries.count != 1 { return "the notification is handed back \(world.deliveries.count) times" }
        if world.hasTimer { return "the timer runs on" }
        return ContentLoaderModel.violationAtEnd(of: world)
    }
}

@Suite struct ContentLoaderModelTests {
    @Test func `the notification is handed back once at most, and no file is left, also when the process ends`() {
        expectHolds(ContentLoaderModel.self, atLeast: 200)
    }

    @Test func `the notification is handed back exactly once in a process that lives`() {
        expectHolds(LivingContentLoaderModel.self, atLeast: 100)
    }
}
