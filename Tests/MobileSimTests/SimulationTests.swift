import Foundation
import MobileClient
import Testing

@testable import MobileSim

@Suite struct SimulationTests {
    /// A folder of photos that are none to a face engine, which nothing here has.
    static func photos(in folder: URL) throws -> PhotoBook {
        for name in ["person-a/left", "person-a/right", "person-a/front", "person-a/sign-in", "person-b/sign-in"] {
            for number in 1...3 {
                let file = folder.appending(path: "\(name)-\(number).jpg")
                try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(repeating: 0, count: 64)).write(to: file)
            }
        }
        for pose in ["left", "right", "front", "nearer"] {
            try Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(pose.utf8)).write(to: folder.appending(path: "person-a/challenge-\(pose).jpg"))
        }
        let cases = folder.appending(path: "cases")
        try FileManager.default.createDirectory(at: cases, withIntermediateDirectories: true)
        try Data([0xFF, 0xD8, 0xFF, 0xE0]).write(to: cases.appending(path: "no-face.jpg"))
        return try PhotoBook(folder.path)
    }

    private static func run(
        _ scenario: Scenario, _ stack: some HTTPTransport, in folder: URL = newFolder
    ) async throws -> SimReport {
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World(
            scenario, StackAddresses(api: FakeStack.api, emulator: FakeStack.emulator, inbox: ""),
            photos: try photos(in: folder.appending(path: "photos")), folder: folder.appending(path: "phones"), transports: [stack],
            control: stack)
        return try await Simulation(
            world: world, settleTime: 20, keepsFiles: false, console: SimConsole(isTerminal: false, hasColour: false)
        ).run()
    }

    private static var newFolder: URL {
        FileManager.default.temporaryDirectory.appending(path: "mobile-sim-tests-\(UUID().uuidString)")
    }

    private static var small: Scenario {
        var scenario = Scenario()
        scenario.phones = 12
        // A busy machine takes seconds to start the phones.
        scenario.minutes = 0.15
        scenario.seed = 7
        scenario.enrolling = 0
        scenario.orders = 2
        scenario.signOuts = 0
        return scenario
    }

    @Test func `phones without faults order pictures, and all of them end`() async throws {
        let report = try await Self.run(Self.small.faults(times: 0), FakeStack())
        #expect(report.violations.flatMap(\.lines).isEmpty)
        // How many they are depends on the machine.
        #expect(report.orders > 0)
        #expect(report.orderEnds == [SimReport.Count(name: "completed", count: report.orders)])
        #expect(report.eventsPerOrder == [SimReport.Count(name: "1", count: report.orders)])
        #expect(report.leakedFiles == 0)
        #expect(report.launches == 24)
    }

    @Test func `apps that end again and again lose no order and leave no file`() async throws {
        var scenario = Self.small
        scenario.kills = 6
        scenario.lossPeriods = 0
        scenario.backgrounds = 0
        scenario.slowAnswers = 0
        scenario.latePushes = 0
        scenario.lostAnswers = 0.1
        let report = try await Self.run(scenario, FakeStack())
        #expect(report.violations.flatMap(\.lines).isEmpty)
        #expect(report.launches > 24)
        #expect(report.faults.contains { $0.kind == .termination && $0.count > 0 })
    }

    @Test func `a file that is left is found, with the phone and what happened on it`() async throws {
        var scenario = Self.small.faults(times: 0)
        scenario.phones = 2
        scenario.minutes = 0.02
        let folder = Self.newFolder
        let report = try await Self.run(scenario, LitteringTransport(folder.appending(path: "phones/phone-1/process-1")), in: folder)
        let violation = try #require(report.violations.first)
        #expect(report.violations.count == 1)
        #expect(violation.rule == .leakedFile)
        #expect(violation.phone == 1)
        #expect(violation.text == "1 files were left: left.form")
        #expect(violation.events.contains { $0.text == "A day passes" })
        #expect(report.leakedFiles == 1)
    }
}

/// Leaves a file in the folder of a client, as a faulty client would.
private struct LitteringTransport: HTTPTransport {
    private let stack = FakeStack()
    private let folder: URL

    init(_ folder: URL) { self.folder = folder }

    func send(_ request: TransportRequest, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        if FileManager.default.fileExists(atPath: folder.path) {
            // Where no part of the client looks after files.
            try? Data("left".utf8).write(to: folder.appending(path: "left.form"))
        }
        return try await stack.send(request, maxBytes: maxBytes)
    }

    func download(_ request: TransportRequest, to file: URL, maxBytes: Int) async throws(TransportError) -> TransportResponse {
        try await stack.download(request, to: file, maxBytes: maxBytes)
    }

    func stream(
        _ request: TransportRequest, onLine: @Sendable (String) async -> Bool
    ) async throws(TransportError) -> TransportResponse { try await stack.stream(request, onLine: onLine) }
}
