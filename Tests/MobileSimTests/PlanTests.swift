import ArgumentParser
import Foundation
import MobileClient
import Testing

@testable import MobileSim

@Suite struct PlanTests {
    @Test func `the same seed makes the same plan, and another one another`() {
        var scenario = Scenario()
        let plan = PhonePlan(scenario, phone: 3)
        #expect(PhonePlan(scenario, phone: 3) == plan)
        #expect(PhonePlan(scenario, phone: 4) != plan)
        scenario.seed = 2
        #expect(PhonePlan(scenario, phone: 3) != plan)
    }

    @Test func `more phones change no plan`() {
        var scenario = Scenario()
        let plan = PhonePlan(scenario, phone: 3)
        scenario.phones = 5
        #expect(PhonePlan(scenario, phone: 3) == plan)
    }

    @Test func `the shares of phones are met, and the first enrols`() {
        var scenario = Scenario()
        scenario.enrolling = 0.05
        scenario.sharing = 0.1
        scenario.acceptsCopies = true
        let kinds = (0..<1_000).map { PhonePlan.kind(of: $0, scenario) }
        #expect(kinds[0] == .enrolling)
        #expect(kinds.count { $0 == .enrolling } == 50)
        #expect((95...105).contains(kinds.count { $0 == .sharing }))
        #expect(kinds.contains(.firebase))
    }

    @Test func `no phone shares an account where photos are accepted once`() {
        var scenario = Scenario()
        scenario.sharing = 0.5
        #expect(!(0..<100).contains { PhonePlan.kind(of: $0, scenario) == .sharing })
        let enrolling = (0..<100).map { PhonePlan(scenario, phone: $0) }.filter { $0.kind == .enrolling }
        #expect(!enrolling.isEmpty)
        #expect(!enrolling.flatMap(\.actions).contains { if case .signOut = $0.event { true } else { false } })
    }

    @Test func `means are met`() {
        let scenario = Scenario()
        let plans = (0..<1_000).map { PhonePlan(scenario, phone: $0) }
        let orders = plans.flatMap(\.actions).count { if case .order = $0.event { true } else { false } }
        let kills = plans.flatMap(\.incidents).count { if case .kill = $0.event { true } else { false } }
        #expect((1_350...1_650).contains(orders))
        #expect((1_850...2_150).contains(kills))
    }

    @Test func `events are in order, after the start and before the end`() {
        let scenario = Scenario()
        for plan in (0..<50).map({ PhonePlan(scenario, phone: $0) }) {
            let times = plan.actions.map(\.time)
            #expect(times == times.sorted())
            #expect((times + plan.incidents.map(\.time)).allSatisfy { $0 >= plan.start && $0 <= scenario.duration })
        }
    }

    @Test func `without faults nothing goes wrong`() {
        let scenario = Scenario().faults(times: 0)
        #expect((0..<50).allSatisfy { PhonePlan(scenario, phone: $0).incidents.isEmpty })
        #expect(scenario.lostAnswers == 0)
        #expect(Scenario().faults(times: 2).kills == Scenario().kills * 2)
    }

    // MARK: The stack

    @Test func `addresses come from the file of make up`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try StackAddresses.find(in: folder.path, environment: [:]) }
        let text = "# Written\nIDENTITY_API_URL=http://127.0.0.1:1/\nFCM_URL=\"http://127.0.0.1:2\"\nINBOX_URL=http://127.0.0.1:2/inbox\n"
        try Data(text.utf8).write(to: folder.appending(path: "stack.env"))
        let found = try StackAddresses.find(in: folder.path, environment: ["FCM_URL": "http://other"])
        #expect(found == StackAddresses(api: FakeStack.api, emulator: FakeStack.emulator, inbox: "http://127.0.0.1:2/inbox"))
        let named = try StackAddresses.find(in: "/none", environment: ["FCM_URL": "http://e:2", "IDENTITY_API_URL": "http://a:1"])
        #expect(named.inbox == "http://e:2/inbox")
    }

    @Test(arguments: [
        ("123456 is your code, with KFTM", "123456"), ("Order KFTM, 1234567 and 654321.", "654321"), ("no code 12345 KFTM", nil),
        ("BCDF   111111\nKFTM   222222", "222222"), ("BCDF   111111\nBCDG   222222", nil),
    ])
    func `a code is six digits, beside its reference`(text: String, code: String?) {
        #expect(EmulatorControl.code(in: text, for: "KFTM") == code)
    }

    @Test func `a push has FCM's id among its data, as on a phone`() throws {
        let message: [String: Any] = [
            "token": "t", "data": ["jobId": "j", "kind": "job_completed", "type": "job_completed"], "notification": ["title": "Ready"],
        ]
        let pushes = EmulatorControl.pushes(["messages": [["name": "projects/p/messages/17", "message": message]]])
        let push = try #require(pushes.first)
        #expect(push.title == "Ready")
        #expect(push.data["gcm.message_id"] == nil)
        let payload = try #require(PushPayload(json: push.json))
        #expect(payload.values["gcm.message_id"]?.string == "17")
        guard case .job(let job) = PushMessage(payload).kind else { throw CancellationError() }
        #expect(job.id == "j")
    }

    @Test func `a varied photo has other bytes and the same picture`() {
        let photo = Data([0xFF, 0xD8, 0xFF, 0xE0, 1, 2])
        let id = UUID()
        let copy = PhotoBook.varied(photo, by: id)
        #expect(copy.prefix(6) == Data([0xFF, 0xD8, 0xFF, 0xFE, 0, 18]))
        #expect(copy.suffix(4) == photo.suffix(4))
        #expect(copy != PhotoBook.varied(photo, by: UUID()))
    }

    @Test func `the photos of a challenge are in the order of its poses, and a pose without a photo has no answer`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let photos = try SimulationTests.photos(in: folder)
        let answer = try #require(photos.answer([.nearer, .left, .front], nil))
        let wanted = ["nearer", "left", "front"].map { EKYCClient.Photo.data(Data([0xFF, 0xD8, 0xFF, 0xE0] + Array($0.utf8))) }
        #expect(answer == wanted)
        #expect(photos.answer([.front, .init(rawValue: "blink"), .left], nil) == nil)
    }

    // MARK: Commands

    @Test func `options become a scenario`() throws {
        let command = try SimCommand.parseAsRoot([
            "run", "--phones", "20", "--minutes", "2", "--seed", "9", "--sharing", "0.2", "--copies", "--faults", "2",
            "--challenges", "1",
        ])
        let scenario = try #require(command as? RunCommand).options.scenario()
        #expect(scenario.phones == 20)
        #expect(scenario.seed == 9)
        #expect(scenario.sharing == 0.2)
        #expect(scenario.challenges == 1)
        #expect(scenario.kills == Scenario().kills * 2)
    }

    @Test(arguments: [
        ["run", "--phones", "0"], ["run", "--enrolling", "0.8", "--sharing", "0.5"], ["run", "--minutes", "0"],
        ["demo", "--patience", "0"],
        ["run", "--copies", "--enrolling", "0"], ["run", "--challenges", "1.5"],
    ])
    func `wrong options are refused`(arguments: [String]) {
        #expect(throws: (any Error).self) { try SimCommand.parseAsRoot(arguments) }
    }
}

@Suite struct SamplesTests {
    @Test func `quantiles are nearest ranks`() {
        let samples = Samples((1...100).shuffled().map(Double.init))
        #expect(samples.quantile(0.5) == 50)
        #expect(samples.quantile(0.99) == 99)
        #expect(samples.quantile(0) == 1)
        #expect(samples.quantile(1) == 100)
        #expect(samples.quantile(2) == 100)
    }

    @Test func `one value is each quantile, and none has none`() {
        #expect(Samples([7]).quantile(0.01) == 7)
        #expect(Samples([7]).quantile(0.99) == 7)
        #expect(Samples().quantile(0.5) == nil)
    }

    @Test func `a summary has the curve of the distribution`() {
        let summary = Samples([0.1234, 3, 2]).summary
        #expect(summary.count == 3)
        #expect(summary.p50 == 2)
        #expect(summary.max == 3)
        #expect(summary.curve.count == 101)
        #expect(summary.curve.first == 0.123)
        #expect(summary.curve == summary.curve.sorted())
        #expect(Samples().summary.curve.isEmpty)
    }
}

@Suite struct EventLogTests {
    @Test func `the last fifty events are kept in order`() {
        let log = EventLog()
        for number in 0..<123 { log.add(EventLog.Entry(at: Double(number), process: 1, text: "\(number)")) }
        #expect(log.last.map(\.text) == (73..<123).map(String.init))
    }

    @Test func `fewer events are all there`() {
        let log = EventLog()
        log.add("first", process: 1)
        log.add("second", process: 2)
        #expect(log.last.map(\.text) == ["first", "second"])
        #expect(log.last.map(\.process) == [1, 2])
    }

    @Test func `a violation is printed with phone, seed and events`() {
        let entry = EventLog.Entry(at: 65.25, process: 3, text: "The app starts")
        let violation = Violation(rule: .endedTwice, phone: 7, seed: 42, text: "Order ended again", events: [entry])
        #expect(
            violation.lines == [
                "VIOLATION on phone 7, seed 42: Order ended again", "  must hold: an order or a session ends once in a process",
                "  its last 1 events:", "    1:05.2  process 3  The app starts",
            ])
    }
}
